#include "driver/mysql/enlisted_transaction.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "base/text.hpp"
#include "core/error_detail.hpp"
#include "driver/enlisted_transaction.hpp"
#include "driver/mysql/connector.hpp"
#include "driver/mysql/errors.hpp"
#include "driver/mysql/values.hpp"

namespace rowlock::inline v1::driver {

namespace {

constexpr int no_connection = 2006;
constexpr int only_reads = 1792;
constexpr int transaction_is_open = 1568;

}  // namespace

std::vector<row> mysql_caller::execute(const std::string& sql, std::span<const detail::value_in> arguments) {
  return send(with_literals(sql, arguments), "locking in the caller's transaction", false);
}

void mysql_caller::commit() { send("COMMIT", "committing", true); }
void mysql_caller::roll_back() { send("ROLLBACK", "rolling back", false); }

std::vector<row> mysql_caller::send(const std::string& sql, const char* doing, bool committing) {
  std::vector<row> out;
  try {
    send(sql, out);
  } catch (const std::exception& e) {
    raise(e, doing, committing);
  }
  return out;
}

// If its owner has closed the connection, the exception of Connector/C++ has no number.
void mysql_caller::raise(const std::exception& e, const char* doing, bool committing) const {
  const auto failure = sql_failure_of(e);
  if (!failure) throw;
  if (failure->code == only_reads)
    throw error{errc::wrong_transaction_state, "this transaction is read-only, and a lock writes; begin it READ WRITE"};
  const bool is_lost = is_about_mysql_connection(failure->code) || is_closed();
  throw mysql_error({.code = is_lost && failure->code == 0 ? no_connection : failure->code,
                     .sqlstate = failure->sqlstate,
                     .message = failure->message,
                     .connection_lost = is_lost,
                     .writing = committing},
                    "MySQL", doing);
}

// The mode of the next transaction can be set only outside of a transaction.
callers_own_transaction::callers_own_transaction(mysql_caller& on) : on_{on} {
  try {
    on_.execute("SET TRANSACTION READ WRITE", {});
  } catch (const error& e) {
    if (e.native_code() != transaction_is_open) throw;
    throw error{errc::wrong_transaction_state,
                "a transaction is open on this connection, and optimistically() begins its own; commit it or roll it "
                "back first"};
  }
  had_autocommit_ = number(on_.execute("SELECT @@autocommit", {}).at(0).at(0)) != 0;
  if (had_autocommit_) on_.set_autocommit(false);
}

// Switching autocommit on commits, so everything is rolled back before. If that fails, autocommit stays off.
callers_own_transaction::~callers_own_transaction() {
  try {
    if (!is_over_) on_.roll_back();
    if (had_autocommit_) on_.set_autocommit(true);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): then the session is over
  }
}

void callers_own_transaction::commit() {
  on_.commit();
  is_over_ = true;
}

bool is_conflict_of_transactions(int code) noexcept {
  return code == mysql_code::deadlock || code == mysql_code::overtaken;
}

namespace {

using namespace std::chrono_literals;

using mysql_code::lock_wait_timeout, mysql_code::overtaken;
constexpr int no_such_savepoint = 1305;

// No other program gives this name to a savepoint.
constexpr const char* optimism_begin = "SAVEPOINT `rowlock: optimistically`";
constexpr const char* optimism_end = "RELEASE SAVEPOINT `rowlock: optimistically`";

// The statement took longer than the session's own limits allow.
bool is_over_limit(int code) { return code == 1969 || code == 3024; }

constexpr duration least_wait = 1s;  // the shortest that both servers accept
constexpr duration longest_wait = 3s;

void refuse_autocommit(const cell& autocommit) {
  if (number(autocommit) == 0) return;
  throw error{errc::wrong_transaction_state,
              "autocommit is on, so the lock would end before the call returns; call setAutoCommit(false) first"};
}

[[noreturn]] void throw_stale() {
  throw error{
      errc::stale_snapshot,
      "the lock was released after this transaction took its snapshot, so what it has read may be out of date; roll it "
      "back, and begin again with lock_in as the first statement"};
}

// Some servers themselves refuse to lock a row that was changed since the snapshot.
[[noreturn]] void throw_stale(const error& e) {
  throw detail::error_access::make(
      errc::stale_snapshot, e.what(),
      {.retryable = true, .native_code = overtaken, .sqlstate = std::string{e.sqlstate()}});
}

}  // namespace

// Sets a variable of the session, which counts whole seconds, and restores it.
class mysql_enlisted::brief_waits {
 public:
  brief_waits(caller_transaction& in, duration wait) : in_{in} {
    const auto found = in_.execute("SELECT @@SESSION.innodb_lock_wait_timeout", {});
    before_ = number(found.at(0).at(0)).value_or(0);
    set(std::chrono::duration_cast<std::chrono::seconds>(std::min(wait, longest_wait)).count());
  }
  brief_waits(const brief_waits&) = delete;
  brief_waits& operator=(const brief_waits&) = delete;
  ~brief_waits() {
    try {
      set(before_);
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): then the session is over
    }
  }

 private:
  void set(std::int64_t seconds) {
    in_.execute("SET SESSION innodb_lock_wait_timeout = " + std::to_string(seconds), {});
  }

  caller_transaction& in_;
  std::int64_t before_ = 0;
};

// The server does not show the isolation level of a single transaction (SET TRANSACTION).
bool mysql_enlisted::keeps_snapshot() {
  const auto r = tx_.execute(texts_.isolation, {}).at(0);
  session_ = number(r.at(1)).value_or(0);
  return !text(r.at(0)).starts_with("READ-");
}

// For why this and the following are safe, see docs/protocol.md, "In the caller's transaction".
lock_view mysql_enlisted::take(const enlisted_target& at, const take_options& how) try {
  const auto found = lock(at, how);
  if (found.empty()) {
    require_transaction();
    return {};
  }
  const auto& r = found[0];
  refuse_autocommit(r.at(3));
  if (number(r.at(1)) != 1)
    throw error{errc::serialization_failure, base::quoted(at.name) +
                                                 " was acquired by another client at the same moment, and this "
                                                 "transaction has its row locked until it ends; "
                                                 "roll it back, and begin again"};
  if (text(r.at(7)) != at.installation) return {.what = enlisted_result::elsewhere};
  // If another transaction has confirmed the lock and committed since the snapshot, the version does not show it, but
  // the end of the lease does.
  if (number(r.at(6)) != 1) throw_stale();
  // Under the released lock other clients may have made changes that the snapshot does not show, and the row does not
  // show either.
  if (how.pins && number(r.at(5)) != 1 && !how.pins(number(r.at(4)).value_or(0))) throw_stale();
  const auto version = number(r.at(2)).value_or(0);
  change(at, version, how.note);
  return {.what = enlisted_result::locked, .version = version};
} catch (const error& e) {
  if (e.native_code() == overtaken) throw_stale(e);
  throw;
}

std::vector<row> mysql_enlisted::lock(const enlisted_target& at, const take_options& how) {
  const std::array<argument, 2> arguments{at.name, or_null(how.released)};
  if (how.wait <= duration::zero() || !can_wait() || how.wait < least_wait) return tx_.execute(texts_.take, arguments);
  const brief_waits limited{tx_, how.wait};
  try {
    return tx_.execute(texts_.await, arguments);
  } catch (const error& e) {
    if (e.native_code() == lock_wait_timeout || is_over_limit(e.native_code())) return {};
    throw;
  }
}

// false: a wait that is too long would roll back the whole transaction. If the server does not detect deadlocks, the
// session's own limit ends the wait, as in any other statement.
bool mysql_enlisted::can_wait() {
  const auto r = tx_.execute(
                        "SELECT @@innodb_rollback_on_timeout, @@innodb_deadlock_detect, "
                        "@@SESSION.innodb_lock_wait_timeout",
                        {})
                     .at(0);
  const bool rolls_back = number(r.at(0)) != 0;
  const bool finds_deadlocks = !rolls_back && number(r.at(1)) != 0;
  const std::chrono::seconds limit{number(r.at(2)).value_or(0)};
  if (!finds_deadlocks && base::now() - begin_ >= limit)
    throw error{errc::deadlock,
                "another transaction has held the lock for longer than innodb_lock_wait_timeout, and this server does "
                "not detect deadlocks, so it may wait for this one; roll back, and begin again"};
  return !rolls_back;
}

void mysql_enlisted::change(const enlisted_target& at, std::int64_t version, std::string_view note) {
  const std::array<argument, 3> arguments{at.name, version, or_null(note)};
  tx_.execute(texts_.change, arguments);
}

void mysql_enlisted::require_transaction() { refuse_autocommit(tx_.execute("SELECT @@autocommit", {}).at(0).at(0)); }

// A renewal has to wait for the row's lock. So this also prolongs the lease, which begins anew with the commit.
enlisted_result mysql_enlisted::pin(const enlisted_target& at, std::string_view acquisition, duration lease) try {
  const std::array<argument, 2> asked{at.name, acquisition};
  const auto found = tx_.execute(texts_.pin, asked);
  if (found.empty()) {
    require_transaction();
    return enlisted_result::not_ours;
  }
  const auto& r = found[0];
  refuse_autocommit(r.at(4));
  if (text(r.at(3)) != at.installation) return enlisted_result::elsewhere;
  if (number(r.at(0)) != 1) return enlisted_result::not_ours;
  if (number(r.at(1)) != 1) return enlisted_result::expired;
  if (number(r.at(2)) != 1) return enlisted_result::unseen;
  const std::array<argument, 2> prolonged{at.name, lease.count()};
  tx_.execute(texts_.prolong, prolonged);
  session_ = number(r.at(5)).value_or(0);
  return enlisted_result::locked;
} catch (const error& e) {
  if (e.native_code() == overtaken) return enlisted_result::unseen;
  throw;
}

// The savepoint shows at the end whether it is still the same transaction: the server rolls back the whole transaction
// to end a deadlock, and the body may not have reported that.
bool mysql_enlisted::begin_optimistically(std::string_view installation) {
  tx_.execute(optimism_begin, {});
  const auto found = tx_.execute(texts_.installation, {});
  if (found.empty()) return false;
  if (number(found[0].at(1)) != 0)
    throw error{errc::database_error,
                "the server did not switch autocommit off, so each statement would commit at once; call again"};
  return text(found[0].at(0)) == installation;
}

void mysql_enlisted::end_optimistically() try { tx_.execute(optimism_end, {}); } catch (const error& e) {
  if (e.native_code() != no_such_savepoint) throw;
  throw error{errc::wrong_transaction_state,
              "the transaction was ended while the body ran: by the body, or by the server after a deadlock whose "
              "error the body caught; let such errors leave the body"};
}

enlisted_result mysql_enlisted::set(const enlisted_target& at, std::int64_t version) {
  end_optimistically();
  const std::array<argument, 2> asked{at.name, version};
  const auto found = tx_.execute(texts_.set, asked);
  if (found.empty()) return enlisted_result::busy;
  refuse_autocommit(found[0].at(2));
  if (text(found[0].at(1)) != at.installation) return enlisted_result::elsewhere;
  change(at, number(found[0].at(0)).value_or(0), {});
  return enlisted_result::locked;
}

}  // namespace rowlock::inline v1::driver
