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
constexpr std::string_view isolation_differs = "25001";
constexpr std::string_view no_such_statement = "26000";
constexpr std::string_view statement_exists = "42P05";

// After a savepoint this changes nothing, or fails without taking a snapshot.
constexpr const char* fail_unless_read_committed = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; ";
constexpr const char* show_isolation = "SHOW transaction_isolation";

// Names that no other program gives to a savepoint: a program that rolls back to a savepoint of its own must not find
// one of these.
constexpr const char* savepoint_begin = "SAVEPOINT \"rowlock: had\"; ";
constexpr const char* savepoint_undo = "ROLLBACK TO SAVEPOINT \"rowlock: had\"; RELEASE SAVEPOINT \"rowlock: had\"";
constexpr const char* optimism_begin = "SAVEPOINT \"rowlock: optimistically\"; ";
constexpr const char* optimism_end = "RELEASE SAVEPOINT \"rowlock: optimistically\"; ";

// After SAVEPOINT and a statement in one message: whether it was certainly the statement that failed. If the savepoint
// was not made, a savepoint of the same name from an earlier call must not be rolled back to: that would undo what the
// transaction has done since, and release its later locks. (A syntax error precedes both.)
bool is_of_statement(std::string_view sqlstate) {
  constexpr std::string_view syntax_error = "42601";
  constexpr std::string_view read_only = "25006";
  constexpr std::string_view deadlock = "40P01";
  return (sqlstate.starts_with("42") && sqlstate != syntax_error) || sqlstate.starts_with("22") ||
         sqlstate == could_not_serialize || sqlstate == deadlock || sqlstate == lock_not_available ||
         sqlstate == isolation_differs || sqlstate == no_such_statement || sqlstate == read_only;
}

std::string literal(const argument& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return "'" + std::to_string(*integer) + "'";
  const auto* words = std::get_if<std::string_view>(&value);
  return words == nullptr ? "NULL" : "'" + hex(*words) + "'";
}

std::string literals(std::span<const argument> values) {
  std::string out;
  for (const argument& each : values) out.append(out.empty() ? "" : ", ").append(literal(each));
  return out;
}

// The text with the arguments in place of $1, $2, …
std::string with_literals(std::string_view text, std::span<const argument> values) {
  return sheets::with_literals(text, '$', '"', [&](std::size_t place) { return literal(values[place]); });
}

// The same text has the same name, so a statement of that name is the right one, whichever client prepared it.
std::string name_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return "\"rowlock: " + std::to_string(hash) + "\"";
}

bool is_read_committed(const cell& isolation) { return text(isolation) == "read committed"; }
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

// Rolling back to it releases every lock that was taken after it. After a success it remains open: releasing it would
// cost one more statement and free nothing, since its number counts until the transaction ends.
class postgresql_enlisted::savepoint {
 public:
  /// For a savepoint that was begun.
  explicit savepoint(caller_transaction& in) : in_{in} {}
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
        "SELECT current_setting('lock_timeout'), (SELECT setting FROM pg_catalog.pg_settings WHERE name = "
        "'deadlock_timeout'), "
        "(SELECT setting FROM pg_catalog.pg_settings WHERE name = 'statement_timeout')",
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

// The question takes no snapshot.
bool postgresql_enlisted::takes_snapshot() { return has_one_snapshot(tx_.execute(show_isolation, {}).at(0).at(0)); }

// The first attempt does not wait. For why this and the following are safe, see docs/protocol.md, "In the caller's
// transaction".
lock_view postgresql_enlisted::take(const enlisted_target& at, const take_options& how) try {
  // A lock leaves no trace in the row when it is released, so the snapshot may not show the work of other clients under
  // their locks.
  const bool may_be_stale = how.pins && !how.pins(session());
  const bool waits = how.wait > duration::zero();
  if (may_be_stale && !waits) return {};
  const take_arguments asked{at.name, at.installation, or_null(how.note), or_null(how.released)};
  if (waits) tx_.execute(savepoint_begin, {});
  const auto found = waits ? std::vector<row>{} : begin_with(enlisted_statement::take, asked);
  savepoint unless_kept{tx_};
  const auto out = waits ? take_waiting(asked, how.wait) : taken(found.at(0));
  if (out.what != enlisted_result::locked) return out;
  if (may_be_stale) throw_stale();
  unless_kept.keep();
  return out;
} catch (const error& e) {
  if (how.wait > duration::zero() && e.sqlstate() == lock_not_available) return {};
  if (e.sqlstate() == could_not_serialize) throw_stale(e);
  throw;
}

lock_view postgresql_enlisted::take_waiting(const take_arguments& asked, duration wait) {
  brief_waits limited{tx_, wait};
  const auto out = taken(tx_.execute(with_literals(texts_->await, asked), {}).at(0));
  if (out.what == enlisted_result::locked) limited.restore();
  return out;
}

lock_view postgresql_enlisted::taken(const row& found) {
  note_isolation(found.at(3));
  if (number(found.at(0)) != 1) return {.what = enlisted_result::elsewhere};
  const auto version = number(found.at(1));
  if (version) return {.what = enlisted_result::locked, .version = *version};
  // A row that is missing or not vacant in the transaction's only snapshot can never be taken.
  if (has_one_snapshot(found.at(3)) && number(found.at(2)) != 1) throw_stale();
  return {};
}

// Above READ COMMITTED the statement would take the snapshot, and if the row is not vacant, the transaction could not
// lock it later either.
std::optional<std::int64_t> postgresql_enlisted::take_vacant(const enlisted_target& at, std::string_view note) try {
  const auto known = sessions_.find(session());
  if (!known.reads_committed || known.keeps_snapshots) return std::nullopt;
  const std::array<argument, 3> asked{at.name, at.installation, or_null(note)};
  const auto found = begin_with(enlisted_statement::take_vacant, asked);
  savepoint unless_kept{tx_};
  if (found.empty()) return std::nullopt;
  unless_kept.keep();
  return number(found[0].at(0));
} catch (const error& e) {
  if (e.sqlstate() != isolation_differs) throw;
  sessions_.note(session(), [](caller_session& s) { s.keeps_snapshots = true; });
  return std::nullopt;
}

void postgresql_enlisted::note_isolation(const cell& isolation) {
  sessions_.note(session(), [&](caller_session& s) {
    s.keeps_snapshots |= has_one_snapshot(isolation);
    s.reads_committed |= is_read_committed(isolation);
  });
}

// A savepoint and the statement. If the statement fails, the transaction is as before.
std::vector<row> postgresql_enlisted::begin_with(enlisted_statement which, std::span<const argument> asked) {
  for (;;) {
    const auto how = sending_of(which);
    try {
      auto found = tx_.takes_several() ? send_together(which, asked, how) : send_apart(which, asked, how);
      note_sent(which, how);
      return found;
    } catch (const error& e) {
      if (!note_failed(which, how, e.sqlstate())) throw;
    }
  }
}

std::vector<row> postgresql_enlisted::send_together(enlisted_statement which, std::span<const argument> asked,
                                                    sending how) try {
  std::string all{savepoint_begin};
  if (which == enlisted_statement::take_vacant) all.append(fail_unless_read_committed);
  if (how == sending::preparing) all.append(preparation(which)).append("; ");
  return tx_.execute(all + execution(which, asked, how), {});
} catch (const error& e) {
  if (is_of_statement(e.sqlstate())) const savepoint undone{tx_};
  throw;
}

// For a libpqxx that rolls everything back if one of several statements fails.
std::vector<row> postgresql_enlisted::send_apart(enlisted_statement which, std::span<const argument> asked,
                                                 sending how) {
  const bool asks = which == enlisted_statement::take_vacant;
  const auto isolation = tx_.execute(asks ? std::string{savepoint_begin} + show_isolation : savepoint_begin, {});
  savepoint unless_done{tx_};
  if (asks && !is_read_committed(isolation.at(0).at(0)))
    throw detail::error_access::make(errc::wrong_transaction_state, "the transaction is not READ COMMITTED",
                                     {.sqlstate = std::string{isolation_differs}});
  if (how == sending::preparing) tx_.execute(preparation(which), {});
  auto found = tx_.execute(execution(which, asked, how), {});
  unless_done.keep();
  return found;
}

// A prepared statement remains in the session, so it must be used more than once, and be found again: behind a pooler
// the next transaction may be in another session of the server.
postgresql_enlisted::sending postgresql_enlisted::sending_of(enlisted_statement which) {
  const auto known = sessions_.find(session());
  if (!may_prepare_ || !known.was_used || known.forgets) return sending::whole;
  return known.prepared[static_cast<std::size_t>(which)] ? sending::by_name : sending::preparing;
}

const std::string& postgresql_enlisted::text_of(enlisted_statement which) const {
  return which == enlisted_statement::take_vacant ? texts_->take_vacant
         : which == enlisted_statement::take      ? texts_->take
                                                  : texts_->pin;
}

std::string postgresql_enlisted::preparation(enlisted_statement which) const {
  return "PREPARE " + name_of(text_of(which)) + " AS " + text_of(which);
}

std::string postgresql_enlisted::execution(enlisted_statement which, std::span<const argument> asked,
                                           sending how) const {
  if (how == sending::whole) return with_literals(text_of(which), asked);
  return "EXECUTE " + name_of(text_of(which)) + "(" + literals(asked) + ")";
}

void postgresql_enlisted::note_sent(enlisted_statement which, sending how) {
  sessions_.note(session(), [&](caller_session& s) {
    s.was_used = true;
    if (how == sending::preparing) s.prepared.set(static_cast<std::size_t>(which));
  });
}

// true: it must be sent again, in another way.
bool postgresql_enlisted::note_failed(enlisted_statement which, sending how, std::string_view sqlstate) {
  const bool is_gone = how == sending::by_name && sqlstate == no_such_statement;
  const bool is_there = how == sending::preparing && sqlstate == statement_exists;
  sessions_.note(session(), [&](caller_session& s) {
    if (is_gone) s.forgets = true;
    if (is_there) s.prepared.set(static_cast<std::size_t>(which));
  });
  return is_gone || is_there;
}

// A snapshot shows the end of the lease as of the snapshot; the row is pinned nevertheless.
enlisted_result postgresql_enlisted::pin(const enlisted_target& at, std::string_view acquisition, duration /*lease*/) {
  const std::array<argument, 3> asked{at.name, acquisition, at.installation};
  const auto rows = begin_with(enlisted_statement::pin, asked);
  savepoint unless_kept{tx_};
  const auto& found = rows.at(0);
  note_isolation(found.at(2));
  if (number(found.at(0)) != 1) return enlisted_result::elsewhere;
  const auto unexpired = number(found.at(1));
  const bool is_old = has_one_snapshot(found.at(2));
  if (!unexpired) return is_old ? enlisted_result::unseen : enlisted_result::not_ours;
  if (*unexpired == 0 && !is_old) return enlisted_result::expired;
  unless_kept.keep();
  return *unexpired == 0 ? enlisted_result::old_view : enlisted_result::locked;
}

// If the savepoint still exists at the end, it is still the same transaction.
bool postgresql_enlisted::begin_optimistically(std::string_view installation) {
  const std::array<argument, 1> asked{installation};
  return number(tx_.execute(optimism_begin + with_literals(texts_->installation, asked), {}).at(0).at(0)) == 1;
}

void postgresql_enlisted::end_optimistically() { tx_.execute(optimism_end, {}); }

enlisted_result postgresql_enlisted::set(const enlisted_target& at, std::int64_t version) {
  const std::array<argument, 3> asked{at.name, at.installation, version};
  const auto found = tx_.execute(optimism_end + with_literals(texts_->set, asked), {}).at(0);
  if (number(found.at(0)) != 1) return enlisted_result::elsewhere;
  return number(found.at(1)) ? enlisted_result::locked : enlisted_result::busy;
}

}  // namespace rowlock::inline v1::driver
