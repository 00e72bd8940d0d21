#pragma once

#include <rowlock/fencing_token.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

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
  /// Others that keep it locked as well: a renewal does so beside a pin for a moment, and several may pin one lease.
  std::vector<session_number> other_sessions{};

  bool is_kept_by(session_number one) const noexcept {
    return session == one || std::find(other_sessions.begin(), other_sessions.end(), one) != other_sessions.end();
  }

  /// Whether this, seen later, is the owner that was seen then. A lease that has ended since and is still pinned is;
  /// that it is pinned must have been seen before, by any of those that keep it now.
  bool is_still(const lock_owner& then) const noexcept {
    if (committed != then.committed) return false;
    if (is_committed) return then.is_committed;
    if (!session) return !then.session && !then.is_committed;
    return then.is_kept_by(*session) || std::any_of(other_sessions.begin(), other_sessions.end(),
                                                    [&](session_number each) { return then.is_kept_by(each); });
  }
};

}  // namespace rowlock::inline v1::core
