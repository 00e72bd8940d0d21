#pragma once

#include <rowlock/fencing_token.hpp>

#include <optional>
#include <string>

#include "core/identity.hpp"

namespace rowlock::inline v1::core {

/// Who has a name, as far as the database tells.
struct lock_owner {
  fencing_token token{};      ///< 0: not known, because a transaction has the name
  fencing_token committed{};  ///< the version of the row
  bool is_committed = false;  ///< held by a lease, or else by a transaction that is under way
  std::string acquisition{};  ///< of a lease, as its row has it
  /// The server's session that keeps the row locked, as far as it is known, and what it calls itself.
  std::optional<session_number> session{};
  std::string session_name{};

  /// Whether this, seen later, is the owner that was seen then. A lease that has ended since and is still pinned is;
  /// that it is pinned must have been seen before.
  bool is_still(const lock_owner& then) const noexcept {
    if (committed != then.committed) return false;
    if (is_committed) return then.is_committed;
    return session == then.session && (session || !then.is_committed);
  }
};

}  // namespace rowlock::inline v1::core
