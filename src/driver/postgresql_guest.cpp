#include "driver/postgresql_guest.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <array>
#include <chrono>

#include "core/error_detail.hpp"

namespace rowlock::inline v1::driver {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view lock_not_available = "55P03";
constexpr std::string_view could_not_serialize = "40001";

// Names that nobody else gives to a savepoint: whoever rolls back to one of their own must not meet ours.
constexpr const char* savepoint_begin = "SAVEPOINT \"rowlock: had\"";
constexpr const char* savepoint_undo = "ROLLBACK TO SAVEPOINT \"rowlock: had\"; RELEASE SAVEPOINT \"rowlock: had\"";
constexpr const char* optimism_begin = "SAVEPOINT \"rowlock: optimistically\"";
constexpr const char* optimism_end = "RELEASE SAVEPOINT \"rowlock: optimistically\"";

// READ UNCOMMITTED is the same here.
bool has_one_snapshot(const cell& isolation) { return !text(isolation).starts_with("read"); }

constexpr const char* how_to_begin_again =
    "the name was let go after this transaction had read something: begin it again, and let lock_in be its first "
    "statement";

[[noreturn]] void throw_stale() { throw error{errc::stale_snapshot, how_to_begin_again}; }
[[noreturn]] void throw_stale(const error& e) {
  throw detail::error_access::make(
      errc::stale_snapshot, std::string{e.what()} + "; " + how_to_begin_again,
      {.retryable = true, .native_code = e.native_code(), .sqlstate = std::string{e.sqlstate()}});
}

}  // namespace

// Whatever was locked after it is let go when it is rolled back to. When all went well it stays open: to release it
// would be one more statement and free nothing, since its number counts until the transaction ends.
class postgresql_guest::savepoint {
 public:
  explicit savepoint(caller_transaction& in) : in_{in} { in_.execute(savepoint_begin, {}); }
  savepoint(const savepoint&) = delete;
  savepoint& operator=(const savepoint&) = delete;
  ~savepoint() {
    if (is_kept_) return;
    try {
      in_.execute(savepoint_undo, {});
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): then the transaction is over
    }
  }
  void keep() noexcept { is_kept_ = true; }

 private:
  caller_transaction& in_;
  bool is_kept_ = false;
};

// It does not need a snapshot itself.
bool postgresql_guest::takes_snapshot() {
  return has_one_snapshot(tx_.execute("SHOW transaction_isolation", {}).at(0).at(0));
}

// Within a savepoint: what is set here goes with it, unless all goes well.
class postgresql_guest::brief_waits {
 public:
  // Long enough for the server to find out that two wait for each other, and shorter than any statement may take.
  brief_waits(caller_transaction& in, duration wait) : in_{in} {
    const auto now = in_.execute(
        "SELECT current_setting('lock_timeout'), (SELECT setting FROM pg_settings WHERE name = 'deadlock_timeout'), "
        "(SELECT setting FROM pg_settings WHERE name = 'statement_timeout')",
        {});
    before_ = text(now.at(0).at(0));
    duration longest = std::chrono::milliseconds{number(now.at(0).at(1)).value_or(1000)} + 2s;
    const std::chrono::milliseconds statement{number(now.at(0).at(2)).value_or(0)};
    if (statement > 0ms) longest = std::min<duration>(longest, statement / 2);
    const auto ms =
        std::chrono::ceil<std::chrono::milliseconds>(std::clamp<duration>(wait, 1ms, std::max<duration>(longest, 1ms)));
    set(std::to_string(ms.count()) + "ms");
  }
  void restore() { set(before_); }

 private:
  void set(const std::string& to) {
    const std::array<argument, 1> arguments{std::string_view{to}};
    in_.execute("SELECT set_config('lock_timeout', $1::text, true)", arguments);
  }

  caller_transaction& in_;
  std::string before_;
};

// The first try waits for nobody. Why these are safe: docs/protocol.md, "In the caller's transaction".
sight postgresql_guest::take(const place_in& at, const wish_in& how) try {
  // A lock of the row leaves nothing in it when it goes: what others have done under theirs, the snapshot may not show.
  const bool may_be_stale = how.pins && !how.pins(session());
  if (may_be_stale && how.wait <= duration::zero()) return {};
  savepoint until_had{tx_};
  const auto out = how.wait <= duration::zero() ? take_by(texts_.take, at, how) : take_waiting(at, how);
  if (out.what != finding::had) return out;
  if (may_be_stale) throw_stale();
  until_had.keep();
  return out;
} catch (const error& e) {
  if (how.wait > duration::zero() && e.sqlstate() == lock_not_available) return {};
  if (e.sqlstate() == could_not_serialize) throw_stale(e);
  throw;
}

sight postgresql_guest::take_waiting(const place_in& at, const wish_in& how) {
  brief_waits limited{tx_, how.wait};
  const auto out = take_by(texts_.await, at, how);
  if (out.what == finding::had) limited.restore();
  return out;
}

sight postgresql_guest::take_by(const std::string& sql, const place_in& at, const wish_in& how) {
  const auto name = hex(at.name);
  const auto note = hex(how.note);
  const std::array<argument, 4> arguments{std::string_view{name}, at.home,
                                          how.note.empty() ? argument{} : argument{std::string_view{note}},
                                          how.released.empty() ? argument{} : argument{how.released}};
  const auto found = tx_.execute(sql, arguments).at(0);
  if (number(found.at(0)) != 1) return {.what = finding::elsewhere};
  const auto version = number(found.at(1));
  if (version) return {.what = finding::had, .version = *version};
  // What is not vacant in the only snapshot there is, or is not there, will never be had.
  if (has_one_snapshot(found.at(3)) && number(found.at(2)) != 1) throw_stale();
  return {};
}

// A snapshot shows when the lease would have ended at its time; the row that it shows is pinned all the same.
finding postgresql_guest::pin(const place_in& at, std::string_view acquisition, duration /*lease*/) {
  savepoint until_had{tx_};
  const auto name = hex(at.name);
  const std::array<argument, 3> arguments{std::string_view{name}, acquisition, at.home};
  const auto found = tx_.execute(texts_.pin, arguments).at(0);
  if (number(found.at(0)) != 1) return finding::elsewhere;
  const auto unexpired = number(found.at(1));
  const bool is_old = has_one_snapshot(found.at(2));
  if (!unexpired) return is_old ? finding::unseen : finding::not_ours;
  if (*unexpired == 0 && !is_old) return finding::expired;
  until_had.keep();
  return *unexpired == 0 ? finding::old_view : finding::had;
}

bool postgresql_guest::is_at(std::string_view home) {
  const std::array<argument, 1> arguments{home};
  return number(tx_.execute(texts_.home, arguments).at(0).at(0)) == 1;
}

// That the savepoint is there at the end tells that it is the same transaction still.
std::optional<sight> postgresql_guest::begin_optimistically(const place_in& /*at*/) {
  tx_.execute(optimism_begin, {});
  return std::nullopt;
}

finding postgresql_guest::set(const place_in& at, std::int64_t version) {
  tx_.execute(optimism_end, {});
  const auto name = hex(at.name);
  const std::array<argument, 3> arguments{std::string_view{name}, at.home, version};
  const auto found = tx_.execute(texts_.set, arguments).at(0);
  if (number(found.at(0)) != 1) return finding::elsewhere;
  return number(found.at(1)) ? finding::had : finding::busy;
}

}  // namespace rowlock::inline v1::driver
