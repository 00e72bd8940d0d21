#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <cstdint>
#include <string>
#include <variant>

#include <rowlock/duration.hpp>
#include <rowlock/error.hpp>
#include <rowlock/fencing_token.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/loss_reason.hpp>
#include <rowlock/strategy.hpp>

namespace rowlock::inline v1 {

/// The events that a client reports to client_options::observer.
///
/// Durations are measured by the host's clock. Locks in the caller's transaction (lock_in) are not reported, because
/// the client does not learn how they end. The lock that elects the active sweeper ("rowlock:sweeper") is not reported
/// either.
namespace events {

/// A lock was lost while it was held.
///
/// The event is reported after its lost() has fired.
struct lost {
  lock_name name;                          ///< The name of the lock.
  fencing_token token;                     ///< The token that the lock had.
  loss_reason reason = loss_reason::none;  ///< Why it was lost; never none.
  duration held{};                         ///< Time since the request that was granted was sent.
};

/// A release failed, and no exception could report it: in unlock(), a destructor or close().
///
/// After a failure of the database the client goes on trying in the background until the lease has ended. If `cause` is
/// errc::lock_lost or errc::not_held, there was nothing to release.
struct release_failed {
  lock_name name;  ///< The name of the lock.
  error cause;     ///< The error that release() would have thrown.
};

/// An error ended a sweep; the next sweep continues where this one stopped.
struct sweep_failed {
  error cause;  ///< The error that the database reported.
};

/// Something about the database works, but worse than it could.
struct warning {
  std::string sentence;  ///< A sentence that says what was seen and what to change; for people to read.
};

/// A lock was granted.
///
/// The event is not reported if a holder acquires again a lock that it holds.
struct acquired {
  lock_name name;                ///< The name of the lock.
  fencing_token token;           ///< The token of this grant.
  rowlock::strategy strategy{};  ///< The strategy that the call used.
  duration waited{};             ///< Time from the call to the grant.
};

/// A lock was not granted in time, because another holder held it or another waiter came first.
struct busy {
  lock_name name;                ///< The name of the lock.
  rowlock::strategy strategy{};  ///< The strategy that the call used.
  duration waited{};             ///< Time from the call to its return.
};

/// A holder released its lock.
///
/// The event is reported before the release is sent to the database. If the database cannot be reached, or a
/// transaction keeps the row locked, the client goes on trying in the background.
struct released {
  lock_name name;       ///< The name of the lock.
  fencing_token token;  ///< The token that the lock had.
  duration held{};      ///< Time since the request that was granted was sent.
};

/// A lease was renewed, or the server answered the heartbeat of a for_update lock.
struct renewed {
  lock_name name;       ///< The name of the lock.
  fencing_token token;  ///< The token of the lock.
  duration left{};      ///< Time for which the lock is now held, as the client computes it.
};

/// A lease could not be renewed, because the database did not answer.
///
/// The client tries again. If that fails too, the lock is lost after the time `left`.
struct renewal_failed {
  lock_name name;       ///< The name of the lock.
  fencing_token token;  ///< The token of the lock.
  error cause;          ///< The error that the database reported, or the missing answer.
  duration left{};      ///< Time for which the lock is still held, as the client computes it.
};

/// A sweep reached the end of the tables.
struct swept {
  std::uint64_t rows = 0;     ///< Deleted rows of unused names.
  std::uint64_t tickets = 0;  ///< Deleted tickets of dead waiters.
  std::uint64_t runs = 0;     ///< Deleted runs of jobs.
  duration took{};            ///< Time from its start, pauses included.
};

/// A connection was opened after one was lost: for statements, or for a for_update lock.
struct reconnected {};

/// A quarantine has begun: the server continues another history of commits than before, or has crashed while the guard
/// was relaxed, so the last grants may have been lost; or the guard was switched on while leases were out that are
/// longer than it allows.
///
/// Nothing is granted until it is over; renewals and releases go on. See client::set_guard.
struct quarantine {
  duration left{};          ///< Time until it is over.
  std::string incarnation;  ///< The server's history of commits: on PostgreSQL its system identifier and timeline.
};

/// The client polls for releases, because it is not notified of them any more, or not yet.
struct polling {
  /// Why the connection failed that listens (PostgreSQL), sleeps until it is woken (MySQL and MariaDB), or looks for
  /// changes of the file (SQLite).
  error cause;
};

/// A call to the database failed, or no connection for it became free.
///
/// The caller receives the error too, or the client tries again.
struct failed {
  error cause;  ///< The error that the database reported, or the failure to reach it.
};

/// Events were dropped, because the observer fell too far behind.
struct dropped {
  std::uint64_t events = 0;  ///< The number of events dropped since the last report.
};

}  // namespace events

/// One event that client_options::observer is called with.
///
/// Later versions add alternatives: end a std::visit with a generic case.
struct event {
  /// One of the structures in rowlock::events.
  std::variant<events::lost, events::release_failed, events::warning, events::sweep_failed, events::acquired,
               events::busy, events::released, events::renewed, events::renewal_failed, events::swept,
               events::reconnected, events::quarantine, events::polling, events::failed, events::dropped>
      what;
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
