#pragma once

#include <rowlock/holder.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/options.hpp>

#include <list>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/guarded.hpp"
#include "core/acquire_machine.hpp"
#include "core/wait.hpp"
#include "engine/acquire/acquire_request.hpp"
#include "engine/gateway/gateway.hpp"
#include "engine/lease/deadlock_watch.hpp"
#include "engine/lease/held_locks.hpp"
#include "engine/queue/ticket_upkeep.hpp"
#include "engine/queue/wakeups.hpp"
#include "strategy/strategy.hpp"

namespace rowlock::inline v1::engine {

/// Acquires locks: tries, waits, and resolves unknown outcomes.
class acquirer {
 public:
  acquirer(gateway& db, identity& who, held_locks& locks, local_wait_queue& queue, ticket_upkeep& tickets,
           ticket_cleanup& cleanup, wakeups& hints, deadlock_watch& deadlocks)
      : db_{db},
        who_{who},
        locks_{locks},
        handover_{locks.handing_over()},
        queue_{queue},
        tickets_{tickets},
        cleanup_{cleanup},
        wakeups_{hints},
        deadlocks_{deadlocks} {}

  /// nullptr: busy until the time was over, or stopped. A wait of zero or less tries once. Without `by` the holder is a
  /// fresh one.
  lease_ptr acquire(const lock_name& name, const lock_options& options, const std::optional<holder>& by, duration wait,
                    const std::stop_token& stop, core::sharing share = {});
  /// One of several names: whichever can be had first.
  lease_ptr acquire_any(std::span<const lock_name> names, const lock_options& options, const std::optional<holder>& by,
                        duration wait, const std::stop_token& stop);
  /// All of several names, in the order of their bytes. Empty: not.
  std::vector<lease_ptr> acquire_all(std::span<const lock_name> names, const lock_options& options,
                                     const std::optional<holder>& by, duration wait, const std::stop_token& stop);
  /// The same, once, for the client itself: it is not reported and not counted.
  lease_ptr try_for_client(const lock_name& name, const lock_options& options, const std::stop_token& stop);
  /// A lease of the client itself, by which it keeps the name for a transaction of the caller's. It is waited for in
  /// turn. nullptr: busy until then, stopped, or a transaction has the name.
  lease_ptr keep_for_transaction(const lock_name& name, const lock_options& options, const holder& by, duration wait,
                                 const std::stop_token& stop);

 private:
  using combined_try = combined_verb<strategies::acquire_args, strategies::answer>;
  struct attempt_result;
  struct place;
  struct reply;
  struct queue_look;

  lease_ptr acquire(const acquire_request& what, duration wait, const std::stop_token& stop);
  lease_ptr try_any(std::span<const lock_name> names, const acquire_request& like, const std::stop_token& stop);
  lease_ptr wait_for_any(std::span<const lock_name> names, const acquire_request& like, base::instant deadline,
                         const std::stop_token& stop);
  lease_ptr wait_for_first(std::span<const lock_name> names, const acquire_request& like, base::instant deadline,
                           const std::stop_token& stop);
  lease_ptr take_first_free(std::span<const lock_name> names, const acquire_request& like, const driver::limits& until,
                            bool& is_waited_for);
  lease_ptr adopt_any(std::span<const lock_name> names, const acquire_request& like, const core::acquisition_id& id,
                      base::instant sent, const driver::limits& until);

  // acquire_all.cpp
  struct set_attempt;
  attempt_result try_all(const acquire_request& what, const driver::limits& until, int tries);
  set_attempt prepare(const acquire_request& what);
  bool take_all(const acquire_request& what, set_attempt& attempt, const driver::limits& until, attempt_result& out);
  strategies::all_of_several ask_for_all(const acquire_request& what, set_attempt& attempt, const driver::limits& until,
                                         base::instant& sent);
  std::optional<strategies::all_of_several> refused_in_turn(const acquire_request& what, set_attempt& attempt,
                                                            const store::access& db);
  void displace_if_gone(const acquire_request& what, std::string_view name, const store::turn& seen);
  static bool is_marked(const wanted_set& set);
  strategies::all_of_several adopt_all(const set_attempt& attempt, const driver::limits& until) noexcept;
  bool admit_all(const acquire_request& what, const set_attempt& attempt, base::instant sent,
                 std::span<const strategies::answer> granted);
  void let_go(std::span<const lease_ptr> some) noexcept;

  void end(counted_call& call, bool is_granted, const lock_name& name, strategy by, const std::stop_token& stop);
  lease_ptr again(const acquire_request& what);
  bool comes_after_others(const acquire_request& what, base::instant deadline, const std::stop_token& stop);

  // acquire_waiting.cpp
  lease_ptr try_only_once(const acquire_request& what, const std::stop_token& stop);
  /// What releases have granted to tickets of earlier waits by this client. false: that is not why it was refused.
  bool take_back(std::span<const lock_name> names, const driver::limits& until);
  lease_ptr wait_for(acquire_request wanted, base::instant deadline, const std::stop_token& stop);
  lease_ptr wait_in_queues(std::span<place> places, const std::stop_token& stop);
  void enter_queues(place& at, local_wait_queue::purpose wants, std::pmr::list<queued_waiter>& all);
  lease_ptr go_on(place& at, std::optional<subscription>& hints, const std::stop_token& stop);
  bool holds_something();
  [[noreturn]] void end_deadlocked(std::span<local_wait_queue::waiter* const> waiters);
  lease_ptr offer_of(const acquire_request& what) const;
  core::acquire_machine::position position_of(const place& at);
  lease_ptr was_handed(const acquire_request& what, const lease_ptr& offer);
  lease_ptr try_while_waiting(const acquire_request& what, core::acquire_machine& machine, const std::stop_token& stop);
  void obtain_tickets(place& at, const std::stop_token& stop);
  driver::limits limits_while_waiting(const core::acquire_machine& machine, const std::stop_token& stop);

  /// `tries`: at most, while others have the row locked just then.
  attempt_result try_once(const acquire_request& what, const driver::limits& until,
                          int tries = core::inconclusive_tries);
  reply send(const acquire_request& what, const core::acquisition_id& id, const driver::limits& until);
  reply hold(const acquire_request& what, const core::acquisition_id& id, const driver::limits& until);
  reply ask(const acquire_request& what, const core::acquisition_id& id, const driver::limits& until,
            combined_call_ptr& left);
  std::optional<reply> granted_by_release(const acquire_request& what, base::instant sent,
                                          const strategies::answer& refused, const store::access& db);

  // acquire_shared.cpp
  struct readers_look;
  using readers = std::vector<local_wait_queue::reader>;
  static bool takes_share(const acquire_request& what) noexcept;
  reply ask_to_share(const acquire_request& what, const core::acquisition_id& id, const driver::limits& until);
  static readers_look look_for_readers(const acquire_request& what, const store::access& db);
  reply share_with(const acquire_request& what, const core::acquisition_id& id, const readers_look& seen,
                   const store::access& db);
  bool hand_share(const local_wait_queue::reader& to, const core::acquisition_id& id, base::instant sent,
                  const strategies::answer& granted);
  void undo_share(const local_wait_queue::reader& of, const core::acquisition_id& id, bool may_appear);
  static std::optional<strategies::answer> find_share(const store::access& db, std::string_view name,
                                                      std::string_view id);

  queue_look look_at_queue(const acquire_request& what, const store::access& db) const;
  static queue_look look(const acquire_request& what, const store::access& db);
  static queue_look look(const acquire_request& what, const store::ticket_ref& own, const store::access& db);
  static store::ticket_ref place_of(const acquire_request& what);
  static std::optional<strategies::answer> find_granted(const store::access& db, const acquire_request& what,
                                                        std::string_view id);
  std::optional<strategies::answer> adopt(const acquire_request& what, const core::acquisition_id& id,
                                          const driver::limits& until) noexcept;
  void leave_unresolved(const acquire_request& what, const core::acquisition_id& id,
                        const combined_call_ptr& left = {});
  lease_ptr admit(const acquire_request& what, const core::acquisition_id& id, reply granted);
  static void begin(lease_state& lease, base::instant sent, const strategies::answer& granted);

  combined_try try_by(const strategies::algorithm& how);
  strategies::acquire_args args_of(const acquire_request& what, const core::acquisition_id& id) const;
  combined_try& try_of(strategy s) noexcept;
  bool may_be_granted(const acquire_request& what) const noexcept;
  bool asks_the_queue_too(const acquire_request& what) const noexcept;
  bool is_marked(const acquire_request& what, const strategies::answer& refused, const driver::limits& until);
  bool holds_by_transaction(strategy s) noexcept;

  gateway& db_;
  identity& who_;
  held_locks& locks_;
  handover& handover_;
  local_wait_queue& queue_;
  ticket_upkeep& tickets_;
  ticket_cleanup& cleanup_;
  wakeups& wakeups_;
  deadlock_watch& deadlocks_;
  base::guarded<std::unordered_map<std::string, lock_name>> last_of_several_;  // by the first of them
  const strategies::for_update for_update_{};
  const strategies::algorithm unique_index_{strategies::unique_index};
  const strategies::algorithm version_cas_{strategies::version_cas};
  const strategies::algorithm liveness_rows_{strategies::liveness_rows};
  combined_try unique_index_try_{try_by(unique_index_)};
  combined_try version_cas_try_{try_by(version_cas_)};
  combined_try liveness_rows_try_{try_by(liveness_rows_)};
};

}  // namespace rowlock::inline v1::engine
