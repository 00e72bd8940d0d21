#pragma once

#include <rowlock/error.hpp>
#include <rowlock/lock_name.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/guarded.hpp"
#include "base/recent_names.hpp"
#include "base/text.hpp"
#include "engine/gateway/gateway.hpp"
#include "engine/identity.hpp"
#include "engine/lease/handover.hpp"
#include "engine/lease/lease_state.hpp"
#include "engine/lease/lock_registry.hpp"
#include "engine/lease/reconciler.hpp"
#include "engine/lease/reentry_turns.hpp"
#include "engine/lease/renewer.hpp"
#include "engine/lease/transaction_heartbeat.hpp"
#include "engine/lease/watchdog.hpp"
#include "engine/maintenance.hpp"
#include "engine/queue/release_notices.hpp"
#include "store/leases.hpp"

namespace rowlock::inline v1::engine {

/// The names for which threads run optimistically(). A lock of the same name that such a thread acquires by this client
/// is a conflict with itself, and from the fourth attempt on a wait for itself.
class optimistic_runs {
 public:
  void begin(const lock_name& name) {
    all_.lock()->emplace_back(calling_thread(), name);
    ++number_;
  }
  void end(const lock_name& name) noexcept {
    const auto all = all_.lock();
    const auto found = std::find(all->begin(), all->end(), run{calling_thread(), name});
    if (found == all->end()) return;
    all->erase(found);
    --number_;
  }
  /// Throws would_deadlock if this thread runs it for that name.
  void refuse(const lock_name& name) const {
    if (number_ == 0) return;  // a thread sees its own run
    const auto all = all_.lock();
    if (std::find(all->begin(), all->end(), run{calling_thread(), name}) == all->end()) return;
    throw error{errc::would_deadlock, "this thread runs optimistically() for " + base::quoted(name.view()) +
                                          ", and would wait for itself; acquire no lock of that name in its body"};
  }

 private:
  using run = std::pair<std::thread::id, lock_name>;
  std::atomic<std::size_t> number_{0};
  mutable base::guarded<std::vector<run>> all_;
};

/// The locks of a client, from their grant until they are released or lost.
class held_locks final : private lease_listener, private watchdog::listener, private store::release_observer {
 public:
  held_locks(gateway& db, local_wait_queue& queue, release_notices& notices, maintenance& on);

  /// Before the maintenance thread starts.
  void start();
  lock_registry& registry() noexcept { return registry_; }
  reconciler& unresolved_ones() noexcept { return reconciler_; }
  handover& handing_over() noexcept { return handover_; }
  reentry_turns& turns() noexcept { return turns_; }
  optimistic_runs& optimists() noexcept { return optimists_; }
  /// Before a lock is asked for that a transaction holds. Throws if no thread can be started.
  void prepare_transactions() { heartbeat_.start(); }

  /// From now on it is kept. `first` as in lock_registry::add. Throws client_closed: then it is released.
  void admit(const lease_ptr& a, const std::function<void()>& first);
  /// The same, for a lock that is registered already.
  void keep(const lease_state& a);
  /// Its release looks for tickets at once, and deletes the ticket to which it was granted.
  void is_waited_for(const lock_name& name) noexcept { waited_for.add(name.view()); }
  /// Whether its last release found a waiter; a guess.
  bool was_waited_for(const lock_name& name) const noexcept { return waited_for.may_contain(name.view()); }
  /// Releases one of its handles. Throws as held_lock::release() does.
  task<void> release(flow& on, const lease_ptr& a);
  /// Its two parts. The first does not call the database: from then on the lock is released for its client, which may
  /// close. true: the second part must follow, and a call to release must be under way (gateway::enter_to_release).
  bool begin_release(const lease_ptr& a);
  task<void> end_release(flow& on, const lease_ptr& a);
  /// The calling thread waits.
  void release(const lease_ptr& a) {
    thread_flow here;
    release(here, a).get();
  }
  /// Without waiting for the database.
  void release_soon(const lease_ptr& a) noexcept;
  /// A lock that the client has kept for the caller's own transaction, which has its row locked now or does not need
  /// it. It is released after that time. The end of the transaction is looked for, so that waiters are notified.
  void leave_to_transaction(const lease_ptr& a, duration after) noexcept;
  void extend(const lease_ptr& a, duration ttl);
  /// Takes off the permits of dead sharers of the names. true: permits became free. If it fails, the names are as taken
  /// as they were.
  bool reap_shares(std::span<const lock_name> names, const driver::limits& until) noexcept;
  /// The remaining time of a shared name whose row says `left`. The row may outlive its sharers, and permits become
  /// free as soon as the first of their leases ends.
  std::optional<duration> left_of_shares(const lock_name& name, std::optional<duration> left,
                                         const driver::limits& until) noexcept;
  /// The change of a share was cut: its session may keep the row locked until it is ended, which is done in the
  /// background.
  void settle_later(const lock_name& name);
  /// From a share to an exclusive lock. false: others share it.
  bool upgrade(const lease_ptr& a, identity& by);
  /// From an exclusive lock to a share.
  void downgrade(const lease_ptr& a, identity& by);
  /// Releases everything: each handle is then lost (forced).
  void release_all() noexcept;
  /// If it is still held, it is lost, for the reason that its row shows.
  void gone(const lease_ptr& a, loss_reason why) override;
  /// A lock was freed, which may be one of this client's.
  void was_freed(std::string_view acquisition, const driver::limits& until);
  /// Throws if a transaction must not rely on it.
  void require_held(lease_state& a) const;

  // The order of closing: nothing is admitted any more, and everything is lost; then the threads end; then what was
  // held is released.
  std::vector<unresolved> give_up_all(const driver::limits& until);
  void stop_watching() noexcept { watchdog_.stop(); }
  void release_given_up(std::vector<unresolved> given_up, const driver::limits& until);
  void end_callbacks(base::instant until) noexcept { watchdog_.end_callbacks(until); }

 private:
  void renewed(const lease_state& a) noexcept override;
  void renewal_failed(const lease_state& a, const error& why) noexcept override;
  std::function<void()> report_of(const lease_state& a) override;
  void lost(const lease_ptr& a) override;
  void granted_to(const store::access& db, std::string_view owner) noexcept override;

  task<void> end(flow& on, lease_state& a, const driver::limits& until);
  task<void> end_lease(flow& on, const lease_state& a, const driver::limits& until);
  void release_later(const lease_state& a);
  void release_later(const lease_state& a, const error& why, const combined_call_ptr& left);
  task<store::release_outcome> try_release(flow& on, const lease_state& a, const driver::limits& until,
                                           combined_call_ptr& left);
  void was_extended_late(const lease_state& a, combined_call::fate now) noexcept;
  void end_transaction(lease_state& a, const driver::limits& until);
  void end_given_up_transaction(lease_state& a, const driver::limits& until) noexcept;
  using conversion = std::optional<store::converted> (*)(const store::access&, const store::conversion&);
  /// For a call that changes the row of a lock: closing waits for it, and releases what it has made.
  gateway::call begin_call(lease_state& a);
  bool convert(const lease_ptr& a, conversion how, bool is_shared, identity& by);
  [[noreturn]] void lost_while_converted(const lease_ptr& a);
  store::renewal extend_alone(const lease_ptr& a, const store::lease_ref& one, const driver::limits& until);
  bool try_extend(const lease_ptr& a, duration ttl, const driver::limits& until);
  std::vector<unresolved> give_up(const std::vector<lease_ptr>& all, loss_reason why, const driver::limits& until);

  gateway& db_;
  combined_verb<store::lease_ref, store::release_outcome> release_{
      purpose::releasing,
      [this](const store::access& db, std::span<const store::lease_ref> batch) {
        return store::release(db, batch, this);
      },
      [](const store::release_outcome& o) { return o != store::release_outcome::pinned; }};
  combined_verb<store::lease_ref, store::release_outcome> end_shares_skipping_{
      purpose::releasing, store::end_shares_skipping,
      [](const store::release_outcome& o) { return o != store::release_outcome::pinned; }};
  combined_verb<store::lease_ref, store::renewal> extend_{
      purpose::renewing, store::extend, [](const store::renewal& r) { return r.what == store::standing::kept; }};
  release_notices& notices_;
  maintenance& maintenance_;
  lock_registry registry_;
  handover handover_;
  watchdog watchdog_;
  renewer renewer_;
  reconciler reconciler_;
  reentry_turns turns_;
  optimistic_runs optimists_;
  transaction_heartbeat heartbeat_;
};

}  // namespace rowlock::inline v1::engine
