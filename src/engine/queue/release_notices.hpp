#pragma once

#include <rowlock/lock_name.hpp>

namespace rowlock::inline v1::engine {

/// Told of every release by this client, so that the next waiter hears of it.
class release_notices {
 public:
  release_notices() = default;
  release_notices(const release_notices&) = delete;
  release_notices& operator=(const release_notices&) = delete;
  virtual ~release_notices() = default;
  /// Before a release: nothing is to be granted to a ticket of this client whose waiter has left.
  virtual void releasing(const lock_name& name) = 0;
  /// `is_untold`: the row says that somebody waits, and the release has told nobody.
  /// false: nobody was found who waits.
  virtual bool released(const lock_name& name, bool is_untold) = 0;
  /// Notifies the next waiter of a name that nobody else is told of.
  virtual bool pass_on(const lock_name& name) = 0;
};

}  // namespace rowlock::inline v1::engine
