#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

/// Locks in your own transactions, for SQLite.
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

struct sqlite3;

namespace rowlock::inline v1 {

namespace detail {

ROWLOCK_EXPORT std::optional<transaction_lock> lock_in(sqlite3* tx, client& locks, const lock_name& name,
                                                       std::optional<duration> wait, const lock_in_options& options,
                                                       const std::stop_token& stop);

/// One attempt of optimistically(): a transaction that holds the file's write lock from the beginning.
class ROWLOCK_EXPORT sqlite_attempt {
 public:
  explicit sqlite_attempt(sqlite3* connection);
  sqlite_attempt(const sqlite_attempt&) = delete;
  sqlite_attempt& operator=(const sqlite_attempt&) = delete;
  ~sqlite_attempt();

  sqlite3* handle() const noexcept;
  caller_transaction& bridge() noexcept;
  void commit();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace detail

/// Locks a name in your transaction until it commits or rolls back, waiting without a time limit.
///
/// A transaction must be open on the connection, by BEGIN. The client's file must be the connection's own, or attached
/// to it.
///
/// Guarantee: the lock does not expire. It ends with the transaction, so nothing is committed after it was lost.
///
/// \warning SQLite has one writer at a time. From this call until the transaction ends, no other connection can write
/// to the file: no lock in it can be renewed or released, and if that takes long, other locks are lost. Begin, lock,
/// write and commit without delay. If transactions are longer, give the locks a file of their own.
///
/// For the same reason, the call waits for a holder of the name only if this transaction has not written yet: make it
/// the first statement.
///
/// The transaction: the call adds one statement, or two if the transaction has not written yet. The first call on a
/// connection adds another one, and registers a function there, so that the library learns when the connection is
/// closed.
///
/// Throws, and the transaction can still be used:
/// - errc::would_deadlock: this holder holds the lock through the client
/// - errc::wrong_transaction_state: no transaction is open, or it is not on the client's file
/// - errc::contention: another client holds the name, and cannot release it before this transaction ends
/// - errc::cancelled: `stop` was requested
///
/// Throws, and the transaction must be begun again:
/// - errc::stale_snapshot: other connections have written since the transaction first read. Let lock_in() be its first
///   statement.
///
/// Threads: the call runs in the caller's thread, as every use of the connection does. While it waits, the call polls
/// the file.
inline transaction_lock lock_in(sqlite3* tx, client& locks, const lock_name& name, const lock_in_options& options = {},
                                std::stop_token stop = {}) {
  return *detail::lock_in(tx, locks, name, std::nullopt, options, stop);
}

/// Tries once to lock a name in your transaction; nullopt means that another holder holds it, or that another
/// connection writes to the file.
///
/// The connection's own busy timeout applies to the file's write lock. Otherwise as lock_in().
[[nodiscard]] inline std::optional<transaction_lock> try_lock_in(sqlite3* tx, client& locks, const lock_name& name,
                                                                 const lock_in_options& options = {}) {
  return detail::lock_in(tx, locks, name, duration::zero(), options, {});
}

/// Locks a name in your transaction, waiting for at most `wait`; nullopt means that it was not granted in time, or that
/// `stop` was requested.
///
/// Otherwise as lock_in().
template <class Rep, class Period>
[[nodiscard]] std::optional<transaction_lock> try_lock_in_for(sqlite3* tx, client& locks, const lock_name& name,
                                                              const std::chrono::duration<Rep, Period>& wait,
                                                              const lock_in_options& options = {},
                                                              std::stop_token stop = {}) {
  return detail::lock_in(tx, locks, name, detail::saturate(wait), options, stop);
}

/// Proves that a lock is still held, and keeps it from all other clients until your transaction ends.
///
/// Call it before the commit, as late as possible: from then on no other connection can write to the file, not even to
/// renew a lease.
///
/// Guarantee: a holder that was paused for too long cannot commit; once confirmed, the lock is kept until the
/// transaction ends, even if its lease ends before.
///
/// The transaction: the call adds one statement, or two if the transaction has not written yet. The first call on a
/// connection adds the same as that of lock_in().
///
/// Throws:
/// - errc::lock_lost: roll back
/// - errc::not_held: the handle is empty
/// - errc::wrong_transaction_state: see lock_in()
/// - errc::stale_snapshot: other connections have written since the transaction first read; begin the transaction again
/// - errc::call_timed_out: another connection writes to the file
ROWLOCK_EXPORT void confirm(sqlite3* tx, const held_lock& held);
/// Confirms the lock that the calling thread holds through the mutex; see the other confirm().
inline void confirm(sqlite3* tx, const mutex& m) { confirm(tx, m.held()); }

/// Runs a function in a transaction that commits only if no other client holds the name; otherwise runs it again.
///
/// The call is optimistic concurrency control around `body(connection)` or `body(connection, attempt)`. One transaction
/// reads the version of the name, runs the body, changes the version, and commits. If another client holds the name,
/// everything is rolled back and repeated after a pause. Returns the result of the body.
///
/// The transaction begins as a writer, so no statement of the body can fail because another connection has written.
///
/// \warning The body may run several times: its effects outside of the transaction are not undone. It must neither
/// commit nor roll back. It must not acquire the name through any client, because it would wait for itself.
///
/// Throws:
/// - errc::contention: all attempts that retry_options allow have failed
/// - errc::would_deadlock: the calling thread holds the lock through the client, or the body acquires it there
/// - errc::wrong_transaction_state: a transaction is open already
/// - exceptions of the body, after a rollback, unless they report a conflict
/// - errors that the database reports
template <class Body>
requires detail::body_of<Body, sqlite3*>
auto optimistically(sqlite3* connection, client& locks, const lock_name& name, Body&& body,
                    const retry_options& options = {}) {
  return detail::run_optimistically<sqlite3*>(
      locks, name, options, [&] { return detail::sqlite_attempt{connection}; },
      [](const std::exception& /*e*/) { return false; }, body);
}

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
