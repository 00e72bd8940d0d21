#include "driver/postgresql/enlisted_transaction.hpp"

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

// Names that no other program gives to a savepoint: a program that rolls back to a savepoint of its own must not find
// one of these.
constexpr const char* savepoint_begin = "SAVEPOINT \"rowlock: had\"";
constexpr const char* savepoint_undo = "ROLLBACK TO SAVEPOINT \"rowlock: had\"; RELEASE SAVEPOINT \"rowlock: had\"";
constexpr const char* optimism_begin = "SAVEPOINT \"rowlock: optimistically\"";
constexpr const char* optimism_end = "RELEASE SAVEPOINT \"rowlock: optimistically\"";

// READ UNCOMMITTED is the same as READ COMMITTED here.
bool has_one_snapshot(const cell& isolation) { return !text(isolation).starts_with("read"); }

constexpr const char* how_to_begin_again =
    "the lock was released after this transaction took its snapshot, so what it has read may be out of date; roll it "
    "back, and begin again with lock_in as the first statement";

[[noreturn]] void throw_stale() { throw error{errc::stale_snapshot, how_to_begin_again}; }
[[noreturn]] void throw_stale(const error& e) {
  throw detail::error_access::make(
      errc::stale_snapshot, std::string{how_to_begin_again} + " (" + e.what() + ")",
      {.retryable = true, .native_code = e.native_code(), .sqlstate = std::string{e.sqlstate()}});
}

}  // namespace

// Rolling back to it releases every lock that was taken after it. After a success it stays open: to release it would be
// one more statement and free nothing, since its number counts until the transaction ends.
class postgresql_enlisted::savepoint {
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

// Sets lock_timeout within a savepoint: rolling back to the savepoint restores it, and restore() does after a success.
class postgresql_enlisted::brief_waits {
 public:
  // Long enough for the server to detect a deadlock, and shorter than a statement may take.
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

// To ask takes no snapshot.
bool postgresql_enlisted::takes_snapshot() {
  return has_one_snapshot(tx_.execute("SHOW transaction_isolation", {}).at(0).at(0));
}

// The first attempt does not wait. Why this and the following are safe: docs/protocol.md, "In the caller's
// transaction".
lock_view postgresql_enlisted::take(const enlisted_target& at, const take_options& how) try {
  // A lock leaves no trace in the row when it is released, so the snapshot may not show what others have done under
  // their locks.
  const bool may_be_stale = how.pins && !how.pins(session());
  if (may_be_stale && how.wait <= duration::zero()) return {};
  savepoint unless_kept{tx_};
  const auto out = how.wait <= duration::zero() ? take_by(texts_.take, at, how) : take_waiting(at, how);
  if (out.what != enlisted_result::locked) return out;
  if (may_be_stale) throw_stale();
  unless_kept.keep();
  return out;
} catch (const error& e) {
  if (how.wait > duration::zero() && e.sqlstate() == lock_not_available) return {};
  if (e.sqlstate() == could_not_serialize) throw_stale(e);
  throw;
}

lock_view postgresql_enlisted::take_waiting(const enlisted_target& at, const take_options& how) {
  brief_waits limited{tx_, how.wait};
  const auto out = take_by(texts_.await, at, how);
  if (out.what == enlisted_result::locked) limited.restore();
  return out;
}

lock_view postgresql_enlisted::take_by(const std::string& sql, const enlisted_target& at, const take_options& how) {
  const auto name = hex(at.name);
  const auto note = hex(how.note);
  const std::array<argument, 4> arguments{std::string_view{name}, at.installation,
                                          how.note.empty() ? argument{} : argument{std::string_view{note}},
                                          how.released.empty() ? argument{} : argument{how.released}};
  const auto found = tx_.execute(sql, arguments).at(0);
  if (number(found.at(0)) != 1) return {.what = enlisted_result::elsewhere};
  const auto version = number(found.at(1));
  if (version) return {.what = enlisted_result::locked, .version = *version};
  // A row that is missing or not vacant in the transaction's only snapshot can never be taken.
  if (has_one_snapshot(found.at(3)) && number(found.at(2)) != 1) throw_stale();
  return {};
}

// A snapshot shows when the lease would have ended as of the snapshot; the row that it shows is pinned all the same.
enlisted_result postgresql_enlisted::pin(const enlisted_target& at, std::string_view acquisition, duration /*lease*/) {
  savepoint unless_kept{tx_};
  const auto name = hex(at.name);
  const std::array<argument, 3> arguments{std::string_view{name}, acquisition, at.installation};
  const auto found = tx_.execute(texts_.pin, arguments).at(0);
  if (number(found.at(0)) != 1) return enlisted_result::elsewhere;
  const auto unexpired = number(found.at(1));
  const bool is_old = has_one_snapshot(found.at(2));
  if (!unexpired) return is_old ? enlisted_result::unseen : enlisted_result::not_ours;
  if (*unexpired == 0 && !is_old) return enlisted_result::expired;
  unless_kept.keep();
  return *unexpired == 0 ? enlisted_result::old_view : enlisted_result::locked;
}

bool postgresql_enlisted::is_at(std::string_view installation) {
  const std::array<argument, 1> arguments{installation};
  return number(tx_.execute(texts_.installation, arguments).at(0).at(0)) == 1;
}

// If the savepoint still exists at the end, it is still the same transaction.
std::optional<lock_view> postgresql_enlisted::begin_optimistically(const enlisted_target& /*at*/) {
  tx_.execute(optimism_begin, {});
  return std::nullopt;
}

enlisted_result postgresql_enlisted::set(const enlisted_target& at, std::int64_t version) {
  tx_.execute(optimism_end, {});
  const auto name = hex(at.name);
  const std::array<argument, 3> arguments{std::string_view{name}, at.installation, version};
  const auto found = tx_.execute(texts_.set, arguments).at(0);
  if (number(found.at(0)) != 1) return enlisted_result::elsewhere;
  return number(found.at(1)) ? enlisted_result::locked : enlisted_result::busy;
}

}  // namespace rowlock::inline v1::driver
