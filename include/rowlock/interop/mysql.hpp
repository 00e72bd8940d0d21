#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

/// Locks in your own transactions, for MySQL Connector/C++ (its JDBC-style API, 1.1 to 9).
///
/// A program does not link if its connector differs in major or minor version from the one that the library was built
/// with.
#if __has_include(<mysql/jdbc.h>)
#include <mysql/jdbc.h>
#elif __has_include(<jdbc/cppconn/connection.h>)
#include <jdbc/cppconn/connection.h>
#include <jdbc/cppconn/version_info.h>
#else
#include <cppconn/connection.h>
#include <cppconn/version_info.h>
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

// Named after the connector that the library was built with: the classes of another one have other virtual functions,
// so a program that is built with that one would call the wrong ones.
#define ROWLOCK_CONNECTOR_TAG_OF(major, minor) built_with_mysql_connector_cpp_##major##_##minor
#define ROWLOCK_CONNECTOR_TAG_AS(major, minor) ROWLOCK_CONNECTOR_TAG_OF(major, minor)
#define ROWLOCK_CONNECTOR_TAG ROWLOCK_CONNECTOR_TAG_AS(MYCPPCONN_DM_MAJOR_VERSION, MYCPPCONN_DM_MINOR_VERSION)

namespace detail {

inline namespace ROWLOCK_CONNECTOR_TAG {

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

  /// Whether the exception is error 1213, or 1020 of MariaDB.
  static bool is_conflict(const std::exception& e) noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

ROWLOCK_EXPORT void confirm(sql::Connection& tx, const held_lock& held);

}  // namespace ROWLOCK_CONNECTOR_TAG

}  // namespace detail

/// Locks a name in your transaction until it commits or rolls back, waiting without a time limit.
///
/// The connection's autocommit must be off. The call waits for every holder of the name, whatever its strategy. Use
/// try_lock_in_for() to limit the wait. A transaction may lock a name again.
///
/// Guarantee: the lock does not expire. It ends with the transaction, so nothing is committed after it was lost.
///
/// The transaction: the call adds two statements and leaves the transaction's settings unchanged. If you roll back to a
/// savepoint from before the call, repeat the call, because its change is undone, and perhaps the lock.
///
/// \warning If the session is ended from outside, as client::force_release() does, the whole transaction is rolled
/// back. The next statement then throws, but sql::Connection::commit() of Connector/C++ 1.1 does not: commit with the
/// statement COMMIT.
///
/// Throws, and the transaction can still be used:
/// - errc::would_deadlock: this holder holds the lock through the client
/// - errc::wrong_transaction_state: autocommit is on, or the transaction is read-only
/// - errc::cancelled: `stop` was requested
/// - errc::permission_denied, errc::client_closed
///
/// Throws, and the transaction must be rolled back:
/// - errc::wrong_transaction_state: the connection is on another database than the client
///
/// Throws, and the transaction must be rolled back and begun again:
/// - errc::stale_snapshot: the transaction read data before it was granted the lock. At REPEATABLE READ, which is
///   MySQL's default, let lock_in() be the first statement of the transaction. Also thrown if the call had to wait for
///   more than two seconds for another transaction that has confirmed a lock of the same client.
/// - errc::serialization_failure: above READ COMMITTED only. Another client acquired a lease at that very moment, and
///   InnoDB keeps the row locked. This is frequent if leases and transactions contend for one name all the time; READ
///   COMMITTED is better there.
/// - errc::deadlock: each of two transactions waits for rows that the other has locked
/// - errc::connection_failed
///
/// Threads: the call runs in the caller's thread, as every use of the connection does. While a lease holds the name,
/// the call queues. While a transaction holds it and a second or more is left, the call waits in the database; but if
/// `stop` can be requested, it polls.
inline transaction_lock lock_in(sql::Connection& tx, client& locks, const lock_name& name,
                                const lock_in_options& options = {}, std::stop_token stop = {}) {
  return *detail::lock_in(tx, locks, name, std::nullopt, options, stop);
}

/// Tries once to lock a name in your transaction; nullopt means that another holder holds it.
///
/// If the result is nullopt, the transaction is as it was. Otherwise as lock_in().
[[nodiscard]] inline std::optional<transaction_lock> try_lock_in(sql::Connection& tx, client& locks,
                                                                 const lock_name& name,
                                                                 const lock_in_options& options = {}) {
  return detail::lock_in(tx, locks, name, duration::zero(), options, {});
}

/// Locks a name in your transaction, waiting for at most `wait`; nullopt means that it was not granted in time, or that
/// `stop` was requested.
///
/// Otherwise as lock_in().
template <class Rep, class Period>
[[nodiscard]] std::optional<transaction_lock> try_lock_in_for(sql::Connection& tx, client& locks, const lock_name& name,
                                                              const std::chrono::duration<Rep, Period>& wait,
                                                              const lock_in_options& options = {},
                                                              std::stop_token stop = {}) {
  return detail::lock_in(tx, locks, name, detail::saturate(wait), options, stop);
}

/// Proves that a lock is still held, and keeps it from all other clients until your transaction ends.
///
/// Call it before the commit, as late as possible.
///
/// Guarantee: a holder that was paused for too long cannot commit; once confirmed, the lock is kept until the
/// transaction ends, even if its lease ends before.
///
/// The transaction: the call adds two statements. It keeps the row locked, so the lease cannot be renewed until the
/// transaction ends. For that reason it extends the lease by the lease's own length, with effect from the commit.
///
/// Throws:
/// - errc::lock_lost: roll back at once, because the row may stay locked until then
/// - errc::not_held: the handle is empty
/// - errc::unsupported: the lock is held by for_update, and this transaction would wait for the lock's own transaction.
///   Do the work in the same transaction, with lock_in().
/// - errc::wrong_transaction_state: see lock_in()
/// - errc::stale_snapshot, and the transaction must be begun again: it read data before the lock was granted
/// - errc::serialization_failure, errc::deadlock, and the transaction must be begun again
inline void confirm(sql::Connection& tx, const held_lock& held) { detail::confirm(tx, held); }
/// Confirms the lock that the calling thread holds through the mutex; see the other confirm().
inline void confirm(sql::Connection& tx, const mutex& m) { confirm(tx, m.held()); }

/// Runs a function in a transaction and commits it only if no other client held the name meanwhile; otherwise runs it
/// again.
///
/// The call is optimistic concurrency control around `body(connection)` or `body(connection, attempt)`. One transaction
/// reads the version of the name, runs the body, changes the version if it is unchanged, and commits. If another client
/// held the name meanwhile, with any strategy, or the server reports a conflict (1213, 1020), everything is rolled back
/// and repeated after a pause. Returns the result of the body.
///
/// No transaction may be open on the connection. Its autocommit is switched off during the call and restored
/// afterwards.
///
/// \warning The body may run several times: its effects outside of the transaction are not undone. It must neither
/// commit nor roll back, nor execute a statement that commits implicitly (CREATE TABLE). It must not acquire the name
/// through any client, because it would wait for itself.
///
/// Throws:
/// - errc::contention: all attempts that retry_options allow have failed
/// - errc::would_deadlock: the calling thread holds the lock through the client, or the body acquires it there
/// - errc::wrong_transaction_state: a transaction is open, or see lock_in()
/// - errc::outcome_unknown: the connection was lost during the commit
/// - exceptions of the body, after a rollback, unless they report a conflict
/// - errors that the database reports
template <class Body>
requires detail::body_of<Body, sql::Connection&>
auto optimistically(sql::Connection& connection, client& locks, const lock_name& name, Body&& body,
                    const retry_options& options = {}) {
  return detail::run_optimistically<sql::Connection&>(
      locks, name, options, [&] { return detail::mysql_attempt{connection}; }, detail::mysql_attempt::is_conflict,
      body);
}

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
