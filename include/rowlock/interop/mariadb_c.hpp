#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

/// \file
/// Locks in transactions of your own, for MariaDB Connector/C.
///
/// For libraries that were configured with ROWLOCK_MYSQL_DRIVER=mariadb-c. `st_mysql` is what the connector's `mysql.h`
/// names `MYSQL`; that of Oracle's client library is another type, and is refused.
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

struct st_mysql;

namespace rowlock::inline v1 {

namespace detail {

ROWLOCK_EXPORT std::optional<transaction_lock> lock_in(st_mysql* tx, client& locks, const lock_name& name,
                                                       std::optional<duration> wait, const lock_in_options& options,
                                                       const std::stop_token& stop);

/// One attempt of optimistically(). Records whether it was given up after error 1213, or 1020 of MariaDB.
class ROWLOCK_EXPORT mariadb_c_attempt {
 public:
  mariadb_c_attempt(st_mysql* connection, bool& was_in_conflict);
  mariadb_c_attempt(const mariadb_c_attempt&) = delete;
  mariadb_c_attempt& operator=(const mariadb_c_attempt&) = delete;
  ~mariadb_c_attempt();

  st_mysql* handle() const noexcept;
  caller_transaction& bridge() noexcept;
  void commit();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace detail

/// Locks a name in your transaction until it commits or rolls back, waiting without a time limit.
///
/// The connection's autocommit must be off, and no result of a statement may be left to be read. Waits for every holder
/// of the name, whatever its strategy. Use try_lock_in_for() to limit the wait. The transaction may lock a name again.
///
/// Guarantee: the lock does not expire. It ends with the transaction, so nothing is committed after it was lost.
///
/// The transaction: the call adds two statements and leaves the transaction's settings as they were. After rolling
/// back to an earlier savepoint of yours, call it again: the change is undone, and perhaps the lock.
///
/// \warning If the session is ended from outside, as by client::force_release(), the whole transaction is rolled back.
/// The next statement then fails; look at what mysql_commit() returns.
///
/// Throws, and the transaction can still be used:
/// - errc::would_deadlock: this holder has the lock through the client
/// - errc::wrong_transaction_state: the connection is null, autocommit is on, or the transaction is read-only
/// - errc::cancelled: `stop` was requested
/// - errc::permission_denied, errc::client_closed
///
/// Throws, and the transaction must be rolled back:
/// - errc::wrong_transaction_state: the connection is on another database than the client
///
/// Throws, and the transaction must be rolled back and begun again:
/// - errc::stale_snapshot: the transaction read data before it got the lock. At REPEATABLE READ, which is MySQL's
///   default, let lock_in() be its first statement. Also thrown if it had to wait for more than two seconds for another
///   transaction that has confirmed a lock of the same client.
/// - errc::serialization_failure: above READ COMMITTED only. Another client took a lease at that very moment, and
///   InnoDB keeps the row locked. If leases and transactions contend for one name all the time this is frequent; READ
///   COMMITTED is better there.
/// - errc::deadlock: each of two transactions waits for what the other has locked
/// - errc::connection_failed
///
/// Threads: the caller's, as for any use of the connection. While a lease has the name, the call queues. While a
/// transaction has it and a second or more is left, the call waits in the database, unless `stop` can be requested:
/// then it polls.
inline transaction_lock lock_in(st_mysql* tx, client& locks, const lock_name& name, const lock_in_options& options = {},
                                std::stop_token stop = {}) {
  return *detail::lock_in(tx, locks, name, std::nullopt, options, stop);
}

/// Tries once to lock a name in your transaction; nullopt: another holder has it.
///
/// The transaction is then as it was. Otherwise as lock_in().
[[nodiscard]] inline std::optional<transaction_lock> try_lock_in(st_mysql* tx, client& locks, const lock_name& name,
                                                                 const lock_in_options& options = {}) {
  return detail::lock_in(tx, locks, name, duration::zero(), options, {});
}

/// Locks a name in your transaction, waiting for at most `wait`; nullopt: not granted in time, or `stop` was requested.
///
/// Otherwise as lock_in().
template <class Rep, class Period>
[[nodiscard]] std::optional<transaction_lock> try_lock_in_for(st_mysql* tx, client& locks, const lock_name& name,
                                                              const std::chrono::duration<Rep, Period>& wait,
                                                              const lock_in_options& options = {},
                                                              std::stop_token stop = {}) {
  return detail::lock_in(tx, locks, name, detail::saturate(wait), options, stop);
}

/// Proves that a lock is still held, and keeps it from all others until your transaction ends.
///
/// Call it before the commit, as late as possible.
///
/// Guarantee: a holder that was paused for too long cannot commit; once confirmed, the lock is kept until the
/// transaction ends, even if its lease ends before.
///
/// The transaction: the call adds two statements. It keeps the row locked, so the lease cannot be renewed until the
/// transaction ends. For that reason it prolongs the lease, by its own length, from the commit on.
///
/// Throws:
/// - errc::lock_lost: roll back at once, because the row may stay locked until then
/// - errc::not_held: the handle is empty
/// - errc::unsupported: the lock is by for_update, and this transaction would wait for that lock's own. Do the work in
///   the same transaction, with lock_in().
/// - errc::wrong_transaction_state: see lock_in()
/// - errc::stale_snapshot, and the transaction must be begun again: it read data before the lock was granted
/// - errc::serialization_failure, errc::deadlock, and the transaction must be begun again
ROWLOCK_EXPORT void confirm(st_mysql* tx, const held_lock& held);
/// Confirms the lock that the calling thread holds through the mutex; see the other confirm().
inline void confirm(st_mysql* tx, const mutex& m) { confirm(tx, m.held()); }

/// Runs a function in a transaction and commits it only if no other holder had the name meanwhile; otherwise runs it
/// again.
///
/// Optimistic concurrency control around `body(connection)` or `body(connection, attempt)`. One transaction reads the
/// version of the name, runs the body, changes the version if it is still the same, and commits. If another holder had
/// the name meanwhile, with any strategy, or the server reports a conflict (1213, 1020), everything is rolled back and
/// done again after a pause. Returns what the body returns.
///
/// The body must throw if a statement fails, without another call on the connection before: what it throws is a
/// conflict if mysql_errno() then is 1213 or 1020.
///
/// No transaction may be open on the connection. Its autocommit is switched off meanwhile and restored afterwards.
///
/// \warning The body may run several times: what it does outside of the transaction is not undone. It must neither
/// commit nor roll back, nor use a statement that commits by itself (CREATE TABLE), nor acquire the name, through any
/// client: it would wait for itself.
///
/// Throws:
/// - errc::contention: gave up, as retry_options say
/// - errc::would_deadlock: the calling thread has the lock through the client, or the body acquires it there
/// - errc::wrong_transaction_state: a transaction is open, or see lock_in()
/// - errc::outcome_unknown: the connection was lost during the commit
/// - what the body throws, after a rollback, unless it reports a conflict
/// - what the database reports
template <class Body>
requires detail::body_of<Body, st_mysql*>
auto optimistically(st_mysql* connection, client& locks, const lock_name& name, Body&& body,
                    const retry_options& options = {}) {
  bool was_in_conflict = false;
  return detail::run_optimistically<st_mysql*>(
      locks, name, options,
      [&] {
        was_in_conflict = false;
        return detail::mariadb_c_attempt{connection, was_in_conflict};
      },
      [&](const std::exception& /*e*/) { return was_in_conflict; }, body);
}

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
