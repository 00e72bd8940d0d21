#pragma once

#include <atomic>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/deadlock.hpp"
#include "engine/gateway/gateway.hpp"
#include "engine/lease/lock_registry.hpp"
#include "engine/maintenance.hpp"
#include "engine/queue/local_wait_queue.hpp"
#include "store/tickets.hpp"

namespace rowlock::inline v1::engine {

/// Finds waiters that wait for each other in a circle, over all clients of a database.
///
/// A thread that waits cannot release what it holds. When it has waited for a moment, and holds something, its client
/// declares that beside its ticket; a thread that holds nothing costs nothing. From the declarations each client finds
/// the circles of which one of its own waiters is the youngest; a circle that is found twice ends that wait.
///
///   waiting --for a moment, with a lock--> declared --in a circle--> suspected --still so--> the wait ends: deadlock
class deadlock_watch final : public maintenance::task {
 public:
  deadlock_watch(gateway& db, local_wait_queue& queue, lock_registry& held, maintenance& on)
      : db_{db}, queue_{queue}, held_{held}, maintenance_{on} {}

  /// May be called by any thread: it has a ticket, and is about to wait.
  void waits() noexcept;

  base::instant next_due() override { return due_; }
  void run(const driver::limits& until) noexcept override;

 private:
  struct watched {
    queue_ticket ticket;
    std::vector<store::held_name> has{};
    bool is_declared = false;
    std::vector<core::ticket_number> suspected{};  // the circle of the last look
  };
  std::vector<watched> waiting_holders();
  void declare(std::vector<watched> now, const store::access& db);
  void look(const store::access& db);

  gateway& db_;
  local_wait_queue& queue_;
  lock_registry& held_;
  maintenance& maintenance_;
  std::atomic<base::instant> due_{base::instant::max()};
  std::map<core::ticket_number, watched> watched_;  // of the maintenance thread
};

}  // namespace rowlock::inline v1::engine
