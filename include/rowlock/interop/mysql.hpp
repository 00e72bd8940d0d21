#pragma once

/// \file
/// Locks in a transaction of yours, for MySQL Connector/C++ (its JDBC-style API, 1.1 to 9).
#if __has_include(<mysql/jdbc.h>)
#include <mysql/jdbc.h>
#elif __has_include(<jdbc/cppconn/connection.h>)
#include <jdbc/cppconn/connection.h>
#else
#include <cppconn/connection.h>
#endif

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>

#include <rowlock/client.hpp>
#include <rowlock/export.hpp>
#include <rowlock/held_lock.hpp>
#include <rowlock/mutex.hpp>
#include <rowlock/transaction.hpp>

namespace rowlock::inline v1 {

namespace detail {

ROWLOCK_EXPORT std::optional<transaction_lock> lock_in(sql::Connection& tx, client& locks, const lock_name& name,
                                                       std::optional<duration> wait, const lock_in_options& options,
                                                       const std::stop_token& stop);

/// One attempt of optimistically().
class ROWLOCK_EXPORT mysql_attempt {
 public:
  explicit mysql_attempt(sql::Connection& connection);
  mysql_attempt(const mysql_attempt&) = delete;
  mysql_attempt& operator=(const mysql_attempt&) = delete;
  ~mysql_attempt();

  sql::Connection& handle() const noexcept;
  caller_transaction& bridge() noexcept;
  void commit();

  /// 1213, and MariaDB's 1020.
  static bool is_conflict(const std::exception& e) noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace detail

/// Locks the name in the transaction of this connection, whose autocommit has to be off; it lets go when it ends: by
/// commit or by rollback. Whoever holds the name by whatever strategy is waited for, without limit; use try_lock_in_for
/// to say how long.
///
/// Adds three statements to the transaction, and leaves its settings as they were. After rolling back to an earlier
/// savepoint of yours call it again: the change is undone, and perhaps the lock. The transaction may lock a name again.
///
/// Where the session is ended from outside, as by client::force_release, all of the transaction is undone. The next
/// statement throws; sql::Connection::commit() of Connector/C++ 1.1 does not: commit by the statement COMMIT.
///
/// Throws, with the transaction still of use: would_deadlock (this holder has the name by a lock of the client's),
/// wrong_transaction_state (autocommit is on, or the transaction only reads), permission_denied, client_closed. Throws,
/// and the transaction has to be rolled back: wrong_transaction_state (the connection is on another database than the
/// client). Throws, and it has to be rolled back and begun again: stale_snapshot (what the transaction read before is
/// older than the lock: at REPEATABLE READ, which is MySQL's default, let lock_in be its first statement. Also where it
/// had to wait for more than two seconds for another transaction that has confirmed a lock of the same client's),
/// serialization_failure (above READ COMMITTED: somebody took a lease at that very moment, and InnoDB keeps the row
/// locked; where leases and transactions contend for one name all the time this happens often, and READ COMMITTED is
/// better), deadlock (each of two transactions waits for what the other has locked), connection_failed.
///
/// Threads: the caller's, as for any use of the connection. Waiting asks the database again and again; when a
/// transaction has the name and there is a second left it waits in the database, unless it may be stopped: if `stop`
/// fires it throws cancelled, and the transaction is still of use.
inline transaction_lock lock_in(sql::Connection& tx, client& locks, const lock_name& name,
                                const lock_in_options& options = {}, std::stop_token stop = {}) {
  return *detail::lock_in(tx, locks, name, std::nullopt, options, stop);
}

/// The same, tried once. nullopt: somebody has it, and the transaction is as it was.
[[nodiscard]] inline std::optional<transaction_lock> try_lock_in(sql::Connection& tx, client& locks,
                                                                 const lock_name& name,
                                                                 const lock_in_options& options = {}) {
  return detail::lock_in(tx, locks, name, duration::zero(), options, {});
}

/// The same, waiting at most that long. nullopt also if `stop` fires.
template <class Rep, class Period>
[[nodiscard]] std::optional<transaction_lock> try_lock_in_for(sql::Connection& tx, client& locks, const lock_name& name,
                                                              const std::chrono::duration<Rep, Period>& wait,
                                                              const lock_in_options& options = {},
                                                              std::stop_token stop = {}) {
  return detail::lock_in(tx, locks, name, detail::saturate(wait), options, stop);
}

/// Proves that the lock is still held, and keeps it from everybody else until your transaction ends, even if its lease
/// ends before: a holder that was paused for too long cannot commit. Call it before the commit, the later the better:
/// it keeps the row locked, so that the lease cannot be renewed meanwhile. For that it prolongs the lease, by its own
/// length, from the commit on. Adds two statements.
///
/// Throws lock_lost (roll back at once: the row may stay locked until then), not_held (an empty handle), unsupported (a
/// lock by for_update: its own transaction would be waited for in vain; do the work in the same transaction, by
/// lock_in), wrong_transaction_state (see lock_in), and with a retryable error where the transaction has to be begun
/// again: stale_snapshot (it has read something before the lock was had), serialization_failure, deadlock.
ROWLOCK_EXPORT void confirm(sql::Connection& tx, const held_lock& held);
/// Of the lock that the calling thread holds through it.
inline void confirm(sql::Connection& tx, const mutex& m) { confirm(tx, m.held()); }

/// Optimistic concurrency control around `body(connection)` or `body(connection, attempt)`: in one transaction the
/// version of the name is read, the body run, the version changed if it is still the same, and all of it committed. If
/// somebody had the name meanwhile, by whatever strategy, or the server reports a conflict (1213, 1020), everything is
/// rolled back and done again after a pause. Returns what the body returns.
///
/// No transaction may be open on the connection; autocommit is switched off meanwhile and put back afterwards. The body
/// may be run several times: what it does outside of the transaction is not undone. It must neither commit nor roll
/// back, nor use what commits by itself (CREATE TABLE). Its exceptions roll back and pass through, but for those that
/// report a conflict.
/// Throws contention when retry_options say so, would_deadlock, wrong_transaction_state, outcome_unknown (the
/// connection was lost while committing) and what the database says.
template <class Body>
requires detail::body_of<Body, sql::Connection&>
auto optimistically(sql::Connection& connection, client& locks, const lock_name& name, Body&& body,
                    const retry_options& options = {}) {
  return detail::run_optimistically<sql::Connection&>(
      locks, name, options, [&] { return detail::mysql_attempt{connection}; }, detail::mysql_attempt::is_conflict,
      body);
}

}  // namespace rowlock::inline v1
