#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

/// \file
/// Locks in transactions of your own, for SQLite.
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

/// One attempt of optimistically(): a transaction that has the file's write lock from the beginning.
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
/// \warning SQLite has one writer at a time. From this call until the transaction ends nobody else writes to the file:
/// no lock in it can be renewed or released, and other locks are lost if it takes long. Begin, lock, write, commit.
/// Give the locks a file of their own if transactions are longer.
///
/// For the same reason the call waits for a holder of the name only while this transaction has not written: call it
/// first.
///
/// The transaction: the call adds one statement; two if it has not written yet. The first call on a connection adds
/// another, and registers a function there, by which the library learns that the connection was closed.
///
/// Throws, and the transaction can still be used:
/// - errc::would_deadlock: this holder has the lock through the client
/// - errc::wrong_transaction_state: no transaction is open, or it is not on the client's file
/// - errc::contention: somebody has the name, and cannot release it before this transaction ends
/// - errc::cancelled: `stop` was requested
///
/// Throws, and the transaction must be begun again:
/// - errc::stale_snapshot: others have written since the transaction first read. Let lock_in() come first.
///
/// Threads: the caller's, as for any use of the connection. While it waits, the call polls the file.
inline transaction_lock lock_in(sqlite3* tx, client& locks, const lock_name& name, const lock_in_options& options = {},
                                std::stop_token stop = {}) {
  return *detail::lock_in(tx, locks, name, std::nullopt, options, stop);
}

/// Tries once to lock a name in your transaction; nullopt: another holder has it, or somebody else writes to the file.
///
/// The connection's own busy timeout applies to the file's write lock. Otherwise as lock_in().
[[nodiscard]] inline std::optional<transaction_lock> try_lock_in(sqlite3* tx, client& locks, const lock_name& name,
                                                                 const lock_in_options& options = {}) {
  return detail::lock_in(tx, locks, name, duration::zero(), options, {});
}

/// Locks a name in your transaction, waiting for at most `wait`; nullopt: not granted in time, or `stop` was requested.
///
/// Otherwise as lock_in().
template <class Rep, class Period>
[[nodiscard]] std::optional<transaction_lock> try_lock_in_for(sqlite3* tx, client& locks, const lock_name& name,
                                                              const std::chrono::duration<Rep, Period>& wait,
                                                              const lock_in_options& options = {},
                                                              std::stop_token stop = {}) {
  return detail::lock_in(tx, locks, name, detail::saturate(wait), options, stop);
}

/// Proves that a lock is still held, and keeps it from all others until your transaction ends.
///
/// Call it before the commit, as late as possible: from then on nobody else writes to the file, renewals included.
///
/// Guarantee: a holder that was paused for too long cannot commit; once confirmed, the lock is kept until the
/// transaction ends, even if its lease ends before.
///
/// The transaction: the call adds one statement; two if it has not written yet. The first call on a connection: see
/// lock_in().
///
/// Throws:
/// - errc::lock_lost: roll back
/// - errc::not_held: the handle is empty
/// - errc::wrong_transaction_state: see lock_in()
/// - errc::stale_snapshot: begin again, because others have written since the transaction first read
/// - errc::call_timed_out: somebody else writes to the file
ROWLOCK_EXPORT void confirm(sqlite3* tx, const held_lock& held);
/// Confirms the lock that the calling thread holds through the mutex; see the other confirm().
inline void confirm(sqlite3* tx, const mutex& m) { confirm(tx, m.held()); }

/// Runs a function in a transaction that commits only if nobody has the name; otherwise runs it again.
///
/// Optimistic concurrency control around `body(connection)` or `body(connection, attempt)`. One transaction reads the
/// version of the name, runs the body, changes the version, and commits. If somebody has the name, everything is rolled
/// back and done again after a pause. Returns what the body returns.
///
/// The transaction begins as a writer, so no statement of the body can find that somebody else has written.
///
/// \warning The body may run several times: what it does outside of the transaction is not undone. It must neither
/// commit nor roll back, nor acquire the name, through any client: it would wait for itself.
///
/// Throws:
/// - errc::contention: gave up, as retry_options say
/// - errc::would_deadlock: the calling thread has the lock through the client, or the body acquires it there
/// - errc::wrong_transaction_state: a transaction is open already
/// - what the body throws, after a rollback, unless it reports a conflict
/// - what the database reports
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
