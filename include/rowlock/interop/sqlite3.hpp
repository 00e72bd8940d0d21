#pragma once

/// \file
/// Locks in a transaction of yours, for SQLite.
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

/// Locks the name in the transaction that is open on this connection, which lets go of it when it ends: by commit or by
/// rollback. The client's file has to be the connection's own, or attached to it.
///
/// SQLite has one writer at a time. So from here on nobody else writes to the file, no lock of it can be renewed or
/// released, and other locks are lost if it takes long: begin, lock, write, commit, and give the locks a file of their
/// own where transactions are longer. For the same reason it waits for whoever has the name only while this transaction
/// has not written: call it first.
///
/// Adds two statements. Throws, with the transaction still of use: would_deadlock (this holder has the name by a lock
/// of the client's), wrong_transaction_state (no transaction is open, or not on the client's file), contention
/// (somebody has the name, and cannot let go of it before this transaction ends). Throws, and the transaction has to be
/// begun again: stale_snapshot (others have written since it first read; let lock_in come first).
///
/// Threads: the caller's, as for any use of the connection. Waiting asks the file again and again. If `stop` fires it
/// throws cancelled, and the transaction is still of use.
inline transaction_lock lock_in(sqlite3* tx, client& locks, const lock_name& name, const lock_in_options& options = {},
                                std::stop_token stop = {}) {
  return *detail::lock_in(tx, locks, name, std::nullopt, options, stop);
}

/// The same, tried once. nullopt: somebody has it, or the file's write lock (after the connection's own busy timeout).
[[nodiscard]] inline std::optional<transaction_lock> try_lock_in(sqlite3* tx, client& locks, const lock_name& name,
                                                                 const lock_in_options& options = {}) {
  return detail::lock_in(tx, locks, name, duration::zero(), options, {});
}

/// The same, waiting at most that long. nullopt also if `stop` fires.
template <class Rep, class Period>
[[nodiscard]] std::optional<transaction_lock> try_lock_in_for(sqlite3* tx, client& locks, const lock_name& name,
                                                              const std::chrono::duration<Rep, Period>& wait,
                                                              const lock_in_options& options = {},
                                                              std::stop_token stop = {}) {
  return detail::lock_in(tx, locks, name, detail::saturate(wait), options, stop);
}

/// Proves that the lock is still held, and keeps it from everybody else until your transaction ends, even if its lease
/// ends before: a holder that was paused for too long cannot commit. Call it before the commit, the later the better:
/// from then on nobody else writes to the file, renewals included. Adds one statement.
///
/// Throws lock_lost (roll back), not_held (an empty handle), wrong_transaction_state (see lock_in), stale_snapshot
/// (begin again: others have written since the transaction first read), call_timed_out (somebody else is writing).
ROWLOCK_EXPORT void confirm(sqlite3* tx, const held_lock& held);
/// Of the lock that the calling thread holds through it.
inline void confirm(sqlite3* tx, const mutex& m) { confirm(tx, m.held()); }

/// Optimistic concurrency control around `body(connection)` or `body(connection, attempt)`, in a transaction of its
/// own: the version of the name is read, the body run, the version changed, and all of it committed. Where somebody has
/// the name, it is rolled back and done again after a pause. Returns what the body returns.
///
/// The transaction begins as a writer, so that no statement of the body can find that somebody else has written.
/// The body may be run several times: what it does outside of the transaction is not undone. It must neither commit nor
/// roll back. Its exceptions roll back and pass through, but for those that report a conflict.
/// Throws contention when retry_options say so, would_deadlock, wrong_transaction_state (a transaction is open already)
/// and what the database says.
template <class Body>
requires detail::body_of<Body, sqlite3*>
auto optimistically(sqlite3* connection, client& locks, const lock_name& name, Body&& body,
                    const retry_options& options = {}) {
  return detail::run_optimistically<sqlite3*>(
      locks, name, options, [&] { return detail::sqlite_attempt{connection}; },
      [](const std::exception& /*e*/) { return false; }, body);
}

}  // namespace rowlock::inline v1
