#pragma once

#include <rowlock/holder.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/options.hpp>

#include <memory>
#include <optional>
#include <stop_token>

#include "core/acquire_machine.hpp"
#include "engine/acquire/acquire_request.hpp"
#include "engine/gateway/gateway.hpp"
#include "engine/lease/held_locks.hpp"
#include "engine/queue/ticket_upkeep.hpp"
#include "engine/queue/wakeups.hpp"
#include "strategy/for_update.hpp"
#include "strategy/liveness_rows.hpp"
#include "strategy/unique_index.hpp"
#include "strategy/version_cas.hpp"

namespace rowlock::inline v1::engine {

/// Acquires locks: tries, waits, and resolves unknown outcomes.
class acquirer {
 public:
  acquirer(gateway& db, identity& who, held_locks& locks, local_wait_queue& queue, ticket_upkeep& tickets,
           ticket_cleanup& cleanup, wakeups& hints)
      : db_{db},
        who_{who},
        locks_{locks},
        handover_{locks.handing_over()},
        queue_{queue},
        tickets_{tickets},
        cleanup_{cleanup},
        wakeups_{hints} {}

  /// nullptr: busy until the time was over, or stopped. A wait of zero or less tries once. Without `by` the holder is a
  /// fresh one.
  lease_ptr acquire(const lock_name& name, const lock_options& options, const std::optional<holder>& by, duration wait,
                    const std::stop_token& stop);
  /// The same, once, for the client itself: it is not reported and not counted.
  lease_ptr try_for_client(const lock_name& name, const lock_options& options, const std::stop_token& stop);

 private:
  using combined_try = combined_verb<strategies::acquire_args, strategies::answer>;
  struct attempt_result;
  struct reply;

  lease_ptr acquire(const acquire_request& what, duration wait, const std::stop_token& stop);
  lease_ptr again(const acquire_request& what);
  lease_ptr try_only_once(const acquire_request& what, const std::stop_token& stop);
  lease_ptr wait_for(const acquire_request& what, base::instant deadline, const std::stop_token& stop);
  lease_ptr wait_in_queue(acquire_request what, core::acquire_machine& machine, const lease_ptr& offer,
                          const std::stop_token& stop);
  lease_ptr offer_of(const acquire_request& what) const;
  core::acquire_machine::position position_of(const acquire_request& what, const lease_ptr& offer);
  lease_ptr was_handed(const acquire_request& what, const lease_ptr& offer);
  lease_ptr try_while_waiting(const acquire_request& what, core::acquire_machine& machine, const std::stop_token& stop);
  void obtain_ticket(const acquire_request& what, core::acquire_machine& machine, const std::stop_token& stop);
  driver::limits limits_while_waiting(const core::acquire_machine& machine, const std::stop_token& stop);

  attempt_result try_once(const acquire_request& what, const driver::limits& until);
  reply send(const acquire_request& what, const core::acquisition_id& id, const driver::limits& until);
  reply hold(const acquire_request& what, const core::acquisition_id& id, const driver::limits& until);
  reply ask(const acquire_request& what, const core::acquisition_id& id, const driver::limits& until);
  std::optional<reply> granted_by_release(const acquire_request& what, base::instant sent,
                                          const strategies::answer& refused, const store::access& db);
  std::optional<strategies::answer> refused_by_queue(const acquire_request& what, const store::access& db) const;
  std::optional<strategies::answer> adopt(const acquire_request& what, const core::acquisition_id& id,
                                          const driver::limits& until) noexcept;
  void leave_unresolved(const acquire_request& what, const core::acquisition_id& id);
  lease_ptr admit(const acquire_request& what, const core::acquisition_id& id, reply granted);

  combined_try try_by(const strategies::algorithm& how);
  strategies::acquire_args args_of(const acquire_request& what, const core::acquisition_id& id) const;
  combined_try& try_of(strategy s) noexcept;
  bool tells_of_marks(const acquire_request& what) const noexcept;
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
  const strategies::for_update for_update_{};
  const strategies::unique_index unique_index_{};
  const strategies::version_cas version_cas_{};
  const strategies::liveness_rows liveness_rows_{};
  combined_try unique_index_try_{try_by(unique_index_)};
  combined_try version_cas_try_{try_by(version_cas_)};
  combined_try liveness_rows_try_{try_by(liveness_rows_)};
};

}  // namespace rowlock::inline v1::engine
