#pragma once

#include <rowlock/lock_name.hpp>

namespace rowlock::inline v1::engine {

/// Notified of every release by this client, so that the next waiter hears of it.
class release_notices {
 public:
  release_notices() = default;
  release_notices(const release_notices&) = delete;
  release_notices& operator=(const release_notices&) = delete;
  virtual ~release_notices() = default;
  /// Before a release: nothing may be granted to a ticket of this client whose waiter has left.
  virtual void releasing(const lock_name& name) = 0;
  /// `is_unnotified`: the row says that a client waits, and the release has notified none. false: no waiter was found.
  virtual bool released(const lock_name& name, bool is_unnotified) = 0;
  /// Notifies the next waiter of a name of which no other client is notified.
  virtual bool pass_on(const lock_name& name) = 0;
};

}  // namespace rowlock::inline v1::engine
