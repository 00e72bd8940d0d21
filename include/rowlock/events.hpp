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

/// What a client reports to client_options::observer.
///
/// Durations are by the host's clock. Locks in a transaction of the caller's (lock_in) are not reported, because the
/// client does not learn how they end. Nor is the lock by which sweepers choose one of them ("rowlock:sweeper").
namespace events {

/// A lock was lost while it was held.
///
/// Reported after its lost() has fired.
struct lost {
  lock_name name;                          ///< The name of the lock.
  fencing_token token;                     ///< The token that the lock had.
  loss_reason reason = loss_reason::none;  ///< Why it was lost; never none.
  duration held{};                         ///< Time since the request that was granted was sent.
};

/// A release failed where no exception could report it: in unlock(), a destructor or close().
///
/// After a failure of the database the client goes on trying in the background until the lease has ended. If `cause` is
/// errc::lock_lost or errc::not_held, there was nothing to release.
struct release_failed {
  lock_name name;  ///< The name of the lock.
  error cause;     ///< What release() would have thrown.
};

/// An error ended a sweep; the next sweep continues where this one stopped.
struct sweep_failed {
  error cause;  ///< What the database reported.
};

/// Something about the database works, but worse than it could.
struct warning {
  std::string sentence;  ///< What was seen and what to change; for people.
};

/// A lock was granted.
///
/// Not reported if a holder that has the lock gets it once more.
struct acquired {
  lock_name name;                ///< The name of the lock.
  fencing_token token;           ///< The token of this grant.
  rowlock::strategy strategy{};  ///< The strategy that the call used.
  duration waited{};             ///< Time from the call to the grant.
};

/// A lock was not granted in time, because another holder had it or another waiter came before.
struct busy {
  lock_name name;                ///< The name of the lock.
  rowlock::strategy strategy{};  ///< The strategy that the call used.
  duration waited{};             ///< Time from the call to its return.
};

/// A holder released its lock.
///
/// Reported before the database is told. If the database cannot be told, or a transaction keeps the row locked, the
/// client goes on trying in the background.
struct released {
  lock_name name;       ///< The name of the lock.
  fencing_token token;  ///< The token that the lock had.
  duration held{};      ///< Time since the request that was granted was sent.
};

/// A lease was renewed; for a for_update lock: the server answered a heartbeat.
struct renewed {
  lock_name name;       ///< The name of the lock.
  fencing_token token;  ///< The token of the lock.
  duration left{};      ///< Time for which the lock is now held, by the client's reckoning.
};

/// A lease could not be renewed, because the database did not answer.
///
/// The client tries again. If that fails too, the lock is lost when `left` is over.
struct renewal_failed {
  lock_name name;       ///< The name of the lock.
  fencing_token token;  ///< The token of the lock.
  error cause;          ///< What the database reported, or that it did not answer.
  duration left{};      ///< Time for which the lock is still held, by the client's reckoning.
};

/// A sweep reached the end of the tables.
struct swept {
  std::uint64_t rows = 0;     ///< Deleted rows of unused names.
  std::uint64_t tickets = 0;  ///< Deleted tickets of dead waiters.
  duration took{};            ///< Time from its start, pauses included.
};

/// A connection was opened after one had been lost: for statements, or for a for_update lock.
struct reconnected {};

/// The client polls, because it is not, or not yet, notified of releases.
struct polling {
  /// Why the connection does not work that listens (PostgreSQL) or looks for changes (SQLite).
  error cause;
};

/// A call to the database failed, or no connection for it could be had.
///
/// The caller is told too, or the client tries again.
struct failed {
  error cause;  ///< What the database reported, or that it could not be reached.
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
               events::reconnected, events::polling, events::failed, events::dropped>
      what;
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
