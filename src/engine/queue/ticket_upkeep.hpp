#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/gateway/gateway.hpp"
#include "engine/identity.hpp"
#include "engine/maintenance.hpp"
#include "engine/queue/local_wait_queue.hpp"
#include "engine/queue/ticket_cleanup.hpp"
#include "store/tickets.hpp"

namespace rowlock::inline v1::engine {

/// The tickets of this client's waiters in the database's queues: takes them and keeps them alive.
class ticket_upkeep final : public maintenance::task {
 public:
  ticket_upkeep(gateway& db, identity& who, local_wait_queue& queue, ticket_cleanup& cleanup, maintenance& on)
      : db_{db}, who_{who}, queue_{queue}, cleanup_{cleanup}, maintenance_{on} {}

  /// Takes a ticket. If the reply is lost the ticket may be there all the same, or come late: it is deleted again and
  /// again until it cannot come any more. Should it be in somebody's way, then for ticket_life at most.
  /// `lease`: a release may grant it the lock, for as long.
  void take(local_wait_queue::waiter& w, const lock_name& name, const holder& by, std::string_view note,
            std::optional<duration> lease, const driver::limits& until);
  /// Before each try, so that a release that comes after it tells the waiter; as far as the row can be changed.
  void mark(local_wait_queue::waiter& w, const lock_name& name, const driver::limits& until) noexcept;
  /// A waiter that has the lock leaves the queue at once: a release that comes soon must not find it to be the next.
  static void leave(local_wait_queue::waiter& w, const store::access& db) noexcept;
  void leave(local_wait_queue::waiter& w, const driver::limits& until) noexcept;
  /// Hints the waiters that may go, among those with these tickets. true: one of the names has changed hands.
  bool hint_those_who_may_go(const store::access& db, const std::vector<queue_ticket>& some);

  base::instant next_due() override { return queue_.refresh_due(); }
  void run(const driver::limits& until) noexcept override;

 private:
  gateway& db_;
  identity& who_;
  local_wait_queue& queue_;
  ticket_cleanup& cleanup_;
  maintenance& maintenance_;
};

/// A waiter of this client; its ticket goes with it, if it still has one.
class queued_waiter {
 public:
  queued_waiter(local_wait_queue& queue, ticket_cleanup& cleanup, const lock_name& name)
      : waiter{queue, name}, cleanup_{cleanup}, name_{name} {}
  queued_waiter(const queued_waiter&) = delete;
  queued_waiter& operator=(const queued_waiter&) = delete;
  ~queued_waiter();

  local_wait_queue::waiter waiter;
  ticket_cleanup::departure how = ticket_cleanup::departure::by_another_grant;

 private:
  ticket_cleanup& cleanup_;
  const lock_name& name_;
};

}  // namespace rowlock::inline v1::engine
