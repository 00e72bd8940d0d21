#pragma once

#include <list>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/gateway/gateway.hpp"
#include "engine/identity.hpp"
#include "engine/maintenance.hpp"
#include "engine/queue/local_wait_queue.hpp"
#include "engine/queue/ticket_cleanup.hpp"
#include "store/tickets.hpp"

namespace rowlock::inline v1::engine {

class queued_waiter;

/// The tickets of this client's waiters in the database's queues: takes them and keeps them alive.
class ticket_upkeep final : public maintenance::task {
 public:
  ticket_upkeep(gateway& db, identity& who, local_wait_queue& queue, ticket_cleanup& cleanup, maintenance& on)
      : db_{db}, who_{who}, queue_{queue}, cleanup_{cleanup}, maintenance_{on} {}

  /// Its ticket does not count any more, or was deleted: the waiter needs another.
  void displace(local_wait_queue::waiter& w, const lock_name& name);
  struct terms {
    std::optional<duration> lease{};  ///< a release may grant it the lock, for so long
    std::int64_t max_other_permits = core::sharing{}.max_other_permits;  ///< of a waiter that shares the name
  };
  /// Takes a ticket. If the reply is lost the ticket may exist, or be committed late: it is deleted repeatedly until it
  /// cannot appear any more, and a grant to it is released.
  void take(local_wait_queue::waiter& w, const lock_name& name, const holder& by, std::string_view note,
            const terms& by_terms, const driver::limits& until);
  /// Before each try, so that a later release notifies the waiter; if the row can be changed.
  void mark(local_wait_queue::waiter& w, const lock_name& name, const driver::limits& until) noexcept;
  /// A call that holds the lock leaves its queues at once: a release that comes soon must not find it to be the next.
  static void leave(std::span<queued_waiter* const> all, const store::access& db) noexcept;
  void leave(std::span<queued_waiter* const> all, const driver::limits& until) noexcept;
  /// The same for a waiter, and for tickets of others of its name to which the lock was handed over.
  void leave(queued_waiter& w, std::vector<queue_ticket> handed, const store::access& db);
  /// Hints the waiters that may go, among those with these tickets. Answers the greatest change for one of them.
  local_wait_queue::change hint_those_who_may_go(const store::access& db, std::span<const queue_ticket> some);

  base::instant next_due() override { return queue_.refresh_due(); }
  void run(const driver::limits& until) noexcept override;

 private:
  gateway& db_;
  identity& who_;
  local_wait_queue& queue_;
  ticket_cleanup& cleanup_;
  maintenance& maintenance_;
};

/// A waiter of this client; its ticket is deleted with it, if it still has one: later, unless it leaves at once.
class queued_waiter {
 public:
  queued_waiter(local_wait_queue& queue, ticket_cleanup& cleanup, const lock_name& name,
                local_wait_queue::purpose wants = local_wait_queue::purpose::one, queued_waiter* beside = nullptr,
                waker* by = nullptr)
      : cleanup_{cleanup}, name_{name} {
    waiter_.emplace(queue, name, wants, beside == nullptr ? nullptr : &*beside->waiter_, by);
  }
  queued_waiter(const queued_waiter&) = delete;
  queued_waiter& operator=(const queued_waiter&) = delete;
  ~queued_waiter();

  const lock_name& name() const noexcept { return name_; }
  local_wait_queue::waiter& waiter() { return *waiter_; }
  /// The waiters of a call leave without the lock. When this returns their tickets are deleted, and locks that a
  /// release has granted to them are released; it returns after a short time at the latest.
  static void leave(std::pmr::list<queued_waiter>& all) noexcept;
  /// It is about to take another ticket: a lock that its last one may hold is released.
  void leave_last_ticket() { leave_behind(waiter_->ticket()); }
  ticket_cleanup::ticket_fate how = ticket_cleanup::ticket_fate::by_another_grant;
  duration lease{};  ///< that a release may have granted, if `how` says that it is abandoned

 private:
  /// No hint reaches it any more. false: it has no ticket to leave behind.
  bool end();
  bool leave_behind(const queue_ticket& t);

  ticket_cleanup& cleanup_;
  const lock_name& name_;
  std::optional<local_wait_queue::waiter> waiter_;
};

}  // namespace rowlock::inline v1::engine
