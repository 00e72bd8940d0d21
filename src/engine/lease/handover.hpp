#pragma once

#include <rowlock/lock_name.hpp>
#include <rowlock/options.hpp>

#include <optional>

#include "engine/gateway/gateway.hpp"
#include "engine/lease/lock_registry.hpp"
#include "engine/queue/local_wait_queue.hpp"
#include "store/leases.hpp"

namespace rowlock::inline v1::engine {

/// Hands leases over from a thread of this client to the next waiter of the name: the row keeps its acquisition, and
/// nothing is sent except a request for tokens now and then. core::tenure decides.
///
///   released by its holder --the first waiter offers to take it--> registered for that waiter, which wakes with it
///   released by its holder --any doubt--> not handed over: released in the database, as if no waiter had offered
///
/// From its release until it is registered again no holder relies on the lock, as while a release is under way. The
/// laws: docs/protocol.md, "Handing over inside a client".
class handover {
 public:
  handover(gateway& db, local_wait_queue& queue, lock_registry& held) : db_{db}, queue_{queue}, held_{held} {}

  /// Whether a lock with these options may be taken from another holder of this client.
  bool takes(const lock_options& options) const noexcept;
  /// Until when a lock of this name may be handed over to a waiter with these options; min(): none will.
  base::instant held_until(const lock_name& name, const lock_options& options);

  /// After its holder has released it, and before its row is released. nullptr: it is not handed over.
  lease_ptr pass_on(lease_state& released, const driver::limits& until) noexcept;

  /// A waiter for a hand-over must look itself: no holder of this client will hand the lock over.
  void not_here(const lock_name& name) { queue_.hint(name.view()); }

  /// From now on nothing is handed over.
  void stop() noexcept { is_stopped_ = true; }

 private:
  static bool may_pass(const lease_state& a) noexcept;
  static bool fits(const lease_state& offer, const lease_state& a) noexcept;
  core::tenure plan_of(const lease_state& a) const noexcept;
  bool is_to_pass(lease_state& released, core::tenure& plan, const driver::limits& until);
  bool reserve(lease_state& released, core::tenure& plan, const driver::limits& until);
  lease_ptr give(const lease_state& released, const core::tenure& plan);
  bool add(const lease_ptr& next, const lease_state& before, const core::tenure& plan);

  gateway& db_;
  local_wait_queue& queue_;
  lock_registry& held_;
  std::atomic<bool> is_stopped_{false};
};

}  // namespace rowlock::inline v1::engine
