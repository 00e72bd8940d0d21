#pragma once

#include <optional>
#include <string>

#include <rowlock/duration.hpp>
#include <rowlock/fencing_token.hpp>
#include <rowlock/lock_name.hpp>

namespace rowlock::inline v1 {

/// A lock as the database has it; times are the database's.
struct lock_info {
  lock_name name;         ///< as it was asked for
  fencing_token token{};  ///< 0: not known, because a transaction has it and has committed nothing
  /// The client: application:host:pid:id. Of a transaction, as far as the server tells: how its session calls itself.
  std::string owner{};
  /// The holder inside the client. Of a transaction, as far as the server tells: "session" and its number there.
  std::string thread{};
  std::optional<duration> held_for{};    ///< since it was granted; absent: not known
  std::optional<duration> expires_in{};  ///< absent: held without a lease
  /// By for_update, or by a transaction of the caller's. On a server, a lock that is just being acquired looks so too.
  bool held_by_transaction = false;
  std::string note{};  ///< lock_options::note, as far as others can read it
};

}  // namespace rowlock::inline v1
