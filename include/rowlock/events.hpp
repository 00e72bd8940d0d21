#pragma once

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

/// What a client tells client_options::observer. Durations are by the host's clock. Locks that are taken in a
/// transaction of the caller's (lock_in) are not told of: the client does not learn how they end. Nor is the lock that
/// sweepers have among themselves.
namespace events {

/// A lock was lost while it was held. Reported after its lost() has fired.
struct lost {
  lock_name name;                          ///< of the lock
  fencing_token token;                     ///< that it had
  loss_reason reason = loss_reason::none;  ///< never none
  duration held{};                         ///< since it was asked for by the request that was granted
};

/// A lock could not be released where nobody could be told by an exception: unlock(), a destructor, close().
/// After a failure of the database the client goes on trying in the background until the lease has run out;
/// `cause` with errc::lock_lost or errc::not_held means that there was nothing to release.
struct release_failed {
  lock_name name;  ///< of the lock
  error cause;     ///< what release() would have thrown
};

/// A sweep was ended by an error; the next one goes on where it was.
struct sweep_failed {
  error cause;  ///< what the database said
};

/// Something about the database works, but worse than it could; the sentence says what to change.
struct warning {
  std::string sentence;  ///< for people
};

/// A lock was got. Not told of where a holder that has a name gets it once more.
struct acquired {
  lock_name name;                ///< of the lock
  fencing_token token;           ///< that it has
  rowlock::strategy strategy{};  ///< that it was taken by
  duration waited{};             ///< from the call to the grant
};

/// A lock was not got, since somebody had it, or came before, until the time to wait was over.
struct busy {
  lock_name name;                ///< of the lock
  rowlock::strategy strategy{};  ///< that it was asked for by
  duration waited{};             ///< from the call to its answer
};

/// A lock was let go of by its holder. Where the database could not be told, or somebody's transaction kept the row
/// locked, the client goes on trying in the background.
struct released {
  lock_name name;       ///< of the lock
  fencing_token token;  ///< that it had
  duration held{};      ///< since it was asked for by the request that was granted
};

/// A lease was renewed. Of a lock by for_update: the server has heard from its session.
struct renewed {
  lock_name name;       ///< of the lock
  fencing_token token;  ///< that it has
  duration left{};      ///< for which it may be believed in now
};

/// A lease could not be renewed for want of an answer. It is tried again; where that fails too, the lock is lost when
/// `left` is over.
struct renewal_failed {
  lock_name name;       ///< of the lock
  fencing_token token;  ///< that it has
  error cause;          ///< what the database said, or that it said nothing
  duration left{};      ///< for which it may be believed in still
};

/// A sweep has come to the end of the tables.
struct swept {
  std::uint64_t rows = 0;     ///< deleted
  std::uint64_t tickets = 0;  ///< deleted
  duration took{};            ///< from its beginning, rests included
};

/// A connection for statements, or for a lock by for_update, was opened after one had been lost.
struct reconnected {};

/// Those who wait are not told of releases any more, or not yet, and ask the database again and again. `cause` says
/// why.
struct polling {
  error cause;  ///< of the connection for LISTEN
};

/// A call to the database failed, or no connection for it could be had. Whoever made it is told, too, or the client
/// tries again.
struct failed {
  error cause;  ///< what the database said, or that it could not be reached
};

/// The observer fell so far behind that events were dropped.
struct dropped {
  std::uint64_t events = 0;  ///< since this was last told
};

}  // namespace events

/// What client_options::observer is told. Later versions add alternatives: end a std::visit with a generic case.
struct event {
  /// One of the structures in rowlock::events.
  std::variant<events::lost, events::release_failed, events::warning, events::sweep_failed, events::acquired,
               events::busy, events::released, events::renewed, events::renewal_failed, events::swept,
               events::reconnected, events::polling, events::failed, events::dropped>
      what;
};

}  // namespace rowlock::inline v1
