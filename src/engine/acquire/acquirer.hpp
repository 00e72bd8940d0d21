#pragma once

#include <rowlock/holder.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/options.hpp>

#include <list>
#include <memory_resource>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/guarded.hpp"
#include "base/recent_names.hpp"
#include "core/acquire_machine.hpp"
#include "engine/acquire/attempts.hpp"
#include "engine/lease/deadlock_watch.hpp"

namespace rowlock::inline v1::engine {

/// Acquires locks: tries, and waits between attempts.
class acquirer {
 public:
  acquirer(gateway& db, identity& who, held_locks& locks, local_wait_queue& queue, ticket_upkeep& tickets,
           ticket_cleanup& cleanup, wakeups& hints, deadlock_watch& deadlocks)
      : db_{db},
        locks_{locks},
        handover_{locks.handing_over()},
        queue_{queue},
        tickets_{tickets},
        cleanup_{cleanup},
        wakeups_{hints},
        deadlocks_{deadlocks},
        attempts_{db, who, locks, queue, tickets, cleanup, hints} {}

  /// nullptr: busy until the time was over, or stopped. A wait of zero or less tries once. Without `by` the holder is a
  /// fresh one.
  task<lease_ptr> acquire(flow& on, const lock_name& name, const lock_options& options, const std::optional<holder>& by,
                          duration wait, const std::stop_token& stop, core::sharing share = {});
  /// One of several names: the first that can be acquired.
  task<lease_ptr> acquire_any(flow& on, std::span<const lock_name> names, const lock_options& options,
                              const std::optional<holder>& by, duration wait, const std::stop_token& stop);
  /// All of several names, in the order of their bytes. Empty: none was acquired.
  task<std::vector<lease_ptr>> acquire_all(flow& on, std::span<const lock_name> names, const lock_options& options,
                                           const std::optional<holder>& by, duration wait, const std::stop_token& stop);
  /// The calling thread waits.
  lease_ptr acquire(const lock_name& name, const lock_options& options, const std::optional<holder>& by, duration wait,
                    const std::stop_token& stop, core::sharing share = {}) {
    thread_flow here;
    return acquire(here, name, options, by, wait, stop, share).get();
  }
  /// The same, once, for the client itself: it is not reported and not counted.
  lease_ptr try_for_client(const lock_name& name, const lock_options& options, const std::stop_token& stop);
  /// A lease of the client itself, by which it keeps the name for the caller's own transaction. The call waits in turn.
  /// nullptr: busy until then, stopped, or a transaction holds the name.
  lease_ptr keep_for_transaction(const lock_name& name, const lock_options& options, const holder& by, duration wait,
                                 const std::stop_token& stop);

 private:
  struct place;

  task<lease_ptr> acquire(acquire_request what, const lock_name* called, duration wait, const std::stop_token& stop);
  lease_ptr reenter(const acquire_request& what);
  lock_options own(lock_options how) const;
  task<lease_ptr> try_only_once(const acquire_request& what, const std::stop_token& stop);
  bool take_back(std::span<const lock_name> names, const driver::limits& until);

  // waiting.cpp
  task<lease_ptr> wait_for(acquire_request& what, const std::stop_token& stop);
  task<lease_ptr> wait_for_any(const acquire_request& what, const std::stop_token& stop);
  task<lease_ptr> wait_in_queues(std::span<place> places, const std::stop_token& stop);
  void enter_queues(place& at, local_wait_queue::purpose wants, std::pmr::list<queued_waiter>& all);
  task<lease_ptr> go_on(place& at, std::optional<subscription>& hints, const std::stop_token& stop);
  task<lease_ptr> try_while_waiting(const acquire_request& what, core::acquire_machine& machine,
                                    const std::stop_token& stop);
  void obtain_tickets(place& at, const std::stop_token& stop);
  core::acquire_machine::position position_of(const place& at);
  lease_ptr offer_of(const acquire_request& what) const;
  bool holds_something();
  [[noreturn]] void end_deadlocked(std::span<local_wait_queue::waiter* const> waiters);

  gateway& db_;
  held_locks& locks_;
  handover& handover_;
  local_wait_queue& queue_;
  ticket_upkeep& tickets_;
  ticket_cleanup& cleanup_;
  wakeups& wakeups_;
  deadlock_watch& deadlocks_;
  attempts attempts_;
  base::brief_names brief_;
  base::guarded<std::unordered_map<std::string, lock_name>> last_of_several_;  // by the first name of them
};

}  // namespace rowlock::inline v1::engine
