#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <cstdint>
#include <optional>
#include <string>

#include <rowlock/duration.hpp>
#include <rowlock/fencing_token.hpp>
#include <rowlock/lock_name.hpp>

namespace rowlock::inline v1 {

/// A lock that is held, as the database records it.
///
/// Times are by the database's clock.
struct lock_info {
  lock_name name;         ///< The name of the lock.
  fencing_token token{};  ///< The holder's token; 0: unknown, because a transaction holds the lock uncommitted.
  /// The client that holds the lock, as application:host:pid:id.
  ///
  /// For a transaction: the name that its session has set, if the server reports it.
  std::string owner{};
  /// The holder inside the client; see `holder`.
  ///
  /// "(released)": the holder has released the lock, and lock_options::at_least keeps the name taken for the time of
  /// `expires_in`. For a transaction: "session" and the number of the session on the server, if the server reports it.
  std::string thread{};
  std::optional<duration> held_for{};    ///< Time since the grant; absent: unknown.
  std::optional<duration> expires_in{};  ///< Time until the lease ends; absent: held without a lease.
  /// Whether a transaction holds the lock: by for_update, or the caller's own.
  ///
  /// On a server, a lock that is just being acquired looks the same.
  bool held_by_transaction = false;
  std::string note{};  ///< lock_options::note, as far as other clients can read it.
  /// The number of permits that are given out, if the name is shared; 0: it is held exclusively.
  ///
  /// client::find() and client::list() then show "(shared)" as the owner; client::sharers() lists the holders, each
  /// with its own permits here.
  std::int64_t sharers = 0;
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
