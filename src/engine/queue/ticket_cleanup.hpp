#pragma once

#include <rowlock/lock_name.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "base/boot_clock.hpp"
#include "base/guarded.hpp"
#include "base/time.hpp"
#include "core/identity.hpp"
#include "engine/gateway/gateway.hpp"
#include "engine/identity.hpp"
#include "engine/maintenance.hpp"
#include "engine/queue/local_wait_queue.hpp"
#include "engine/queue/release_notices.hpp"
#include "store/leases.hpp"

namespace rowlock::inline v1::engine {

/// Tickets of this client whose waiters have left, from then until they have no effect any more, or until a time limit.
class orphaned_tickets {
 public:
  void add(const lock_name& name, const core::acquisition_id& attempt, base::instant until);
  void remove(const core::acquisition_id& attempt) noexcept;
  bool has(const lock_name& name, base::instant now);
  std::vector<core::acquisition_id> of(const lock_name& name, base::instant now);
  /// Returns when there is none of this name, at the deadline, or on `stop`.
  void wait(const lock_name& name, base::instant deadline, const std::stop_token& stop);

 private:
  struct ticket {
    lock_name name;
    core::acquisition_id attempt;
    base::instant until;
  };
  static bool has(const std::vector<ticket>& all, const lock_name& name);

  base::guarded<std::vector<ticket>> all_;
  std::condition_variable_any removed_;
  std::atomic<bool> is_empty_{true};
};

/// How long a run of ticket tasks takes at most: renewals wait for it.
inline constexpr duration longest_ticket_run = std::chrono::seconds{1};

/// How long an attempt, or a release, waits for tickets to be deleted.
inline constexpr duration longest_leaving = std::chrono::milliseconds{200};

/// Deletes the tickets of waiters that have left, in the background, and notifies the next waiter of releases by this
/// client.
class ticket_cleanup final : public maintenance::task, public release_notices {
 public:
  ticket_cleanup(gateway& db, identity& who, local_wait_queue& queue, maintenance& on)
      : db_{db}, who_{who}, queue_{queue}, maintenance_{on} {}

  enum class ticket_fate : std::uint8_t {
    by_another_grant,
    used,       ///< its waiter holds the lock by a release that granted it to this ticket, which gets no second grant
    abandoned,  ///< without the lock; if a release grants it nevertheless, the grant is released
  };
  /// Number none: not known, and perhaps there is no ticket yet. `lease`: the longest grant to an abandoned ticket.
  void leave_later(const lock_name& name, const core::acquisition_id& attempt, core::ticket_number number,
                   ticket_fate how = ticket_fate::by_another_grant, duration lease = {});
  /// Waits until no ticket must leave this name any more, and their grants are released.
  void await_departures(const lock_name& name, base::instant until) { late_.wait(name, until, {}); }
  /// Before an attempt for these names: returns when no ticket of an earlier wait by this client, and no grant to one,
  /// obstructs it; after a short time at the latest.
  void clear(std::span<const lock_name> names, duration wait, const std::stop_token& stop);
  /// Releases a grant to a ticket whose waiter has left, so that this client is not refused the name because of it.
  /// nullopt: the refusal had another reason.
  std::optional<store::release_outcome> take_back(const lock_name& name, const driver::limits& until);
  /// The same without a look at what else the reason may be.
  std::optional<store::release_outcome> release_grant(const lock_name& name, const store::access& db);
  /// A reader has left the queue, and shares the name: the next one, of another client, may share it, too. A database
  /// that notifies has done so when the ticket was deleted.
  void wake_next(const lock_name& name, const store::access& db) noexcept;
  /// Deletes all tickets that must leave: the client closes.
  void leave_all(const driver::limits& until);

  /// Whether a release has granted the lock to this ticket after its waiter has left.
  bool is_abandoned(const lock_name& name, std::string_view attempt);

  void releasing(const lock_name& name) override { leave_at_last(name, longest_leaving, {}); }
  bool released(const lock_name& name, bool is_unnotified) override;
  bool pass_on(const lock_name& name) override;

  base::instant next_due() override { return leaving_.next_due(); }
  void run(const driver::limits& until) noexcept override;

 private:
  struct departing {
    lock_name name;
    core::acquisition_id attempt;
    core::ticket_number number = core::ticket_number::none;
    base::instant until{};
    base::instant next{};
    int attempts = 0;
    ticket_fate how = ticket_fate::by_another_grant;
  };
  bool leave_at_last(const lock_name& name, duration longest, const std::stop_token& stop) noexcept;
  void leave(std::vector<departing> tickets, const driver::limits& until);
  /// A waiter of another client: the first of all, or one that may come after waiters of this client.
  enum class whom : std::uint8_t { first, any };
  /// Whether the releasing client must wake the next waiter, because the database does not.
  bool wakes() const noexcept;
  /// Wakes the waiters of these names. false: it did not find one for each.
  bool wake(std::span<const lock_name> names, whom which, const driver::limits& until) noexcept;
  void notify(std::vector<departing> names, const driver::limits& until);
  driver::limits soon() const;
  bool tells(const lock_name& name, whom which, const store::access& db);
  bool notify_or_clear(const lock_name& name, const store::access& db);
  bool release_grant(const departing& left, const driver::limits& until) noexcept;
  std::optional<store::release_outcome> release_grant(const lock_name& name, const core::acquisition_id& to,
                                                      const store::access& db);
  void withdraw(const std::vector<departing>& some, const driver::limits& until) noexcept;
  std::vector<bool> leave_at_once(const std::vector<departing>& some, const driver::limits& until);

  gateway& db_;
  identity& who_;
  local_wait_queue& queue_;
  maintenance& maintenance_;
  retry_list<departing> leaving_;
  orphaned_tickets late_;  // an attempt would be queued after them, or refused because of their grants, for no reason
  orphaned_tickets abandoned_;  // a release may grant them a lock after their waiters have left
};

}  // namespace rowlock::inline v1::engine
