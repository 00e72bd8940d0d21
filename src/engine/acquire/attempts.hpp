#pragma once

#include <rowlock/holder.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/options.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/sharing.hpp"
#include "core/wait.hpp"
#include "engine/events/telemetry.hpp"
#include "engine/flow/flow.hpp"
#include "engine/flow/task.hpp"
#include "engine/gateway/gateway.hpp"
#include "engine/lease/held_locks.hpp"
#include "engine/queue/local_wait_queue.hpp"
#include "engine/queue/ticket_upkeep.hpp"
#include "engine/queue/wakeups.hpp"
#include "strategy/strategy.hpp"

namespace rowlock::inline v1::engine {

/// A caller's request: one name, the first of several that can be acquired, or all of several.
struct acquire_request {
  flow& on;                          ///< how it waits
  std::span<const lock_name> names;  ///< without duplicates; those of a set in the order of their bytes
  const lock_options& options;
  holder by;
  bool is_reentrant;
  std::vector<lease_ptr>* set = nullptr;  ///< all of the names are wanted, or none: their leases are stored there
  core::sharing share{};                  ///< for one name: shared with others
  counted_call* call = nullptr;           ///< nullptr: for the client itself
  base::instant gives_up = base::instant::max();  ///< when a call that waits does
  bool is_for_transaction = false;                ///< the caller's own, which itself waits for another transaction
  bool comes_after_others = false;                ///< that wait already: its holder has held the name for long
  std::span<queued_waiter* const> queued{};       ///< while it waits: one for each name
  bool yields_to_other_clients = false;           ///< that have waited longer, this time
  bool expects_refusal = false;                   ///< this time: so it looks first, which costs less
  bool passes_the_slow = false;  ///< it passes waiters that come before and have left the name free, this time

  /// The same request for one of the names alone.
  acquire_request of(const lock_name& one) const {
    return {.on = on, .names = {&one, 1}, .options = options, .by = by, .is_reentrant = is_reentrant, .call = call};
  }
  bool is_set() const noexcept { return set != nullptr; }
  bool is_any() const noexcept { return !is_set() && names.size() > 1; }
  /// A request for one name, exclusively.
  bool is_plain() const noexcept { return !is_set() && names.size() == 1 && share.is_exclusive(); }
  std::optional<holder> reentrant() const { return is_reentrant ? std::optional{by} : std::nullopt; }
  bool is_fair() const noexcept {
    return (options.fairness == fairness::fifo || comes_after_others) && !passes_the_slow;
  }
  bool asks_in_turn() const noexcept { return is_fair() || yields_to_other_clients; }
  /// Younger tickets are passed. A request for an exclusive lock out of turn passes all tickets but those of sets.
  duration patience() const noexcept {
    const bool is_in_turn = share.is_exclusive() ? asks_in_turn() : is_fair();
    return is_in_turn ? duration::zero() : core::sharing_patience;
  }
  /// When others come first: no notification is sent when a set ceases to insist.
  std::optional<duration> comes_again_after(std::optional<duration> left) const noexcept {
    return left || patience() == duration::zero() ? left : core::insists_for;
  }
  /// How many permits others may have, in its tickets.
  std::int64_t max_other_permits() const noexcept {
    if (!is_set()) return share.max_other_permits;
    return options.fairness == fairness::fifo ? core::limit_of_fair_set : core::limit_of_set;
  }
  /// The least of its tickets: that is the place of a set in the queues of all its names. So of two sets the same one
  /// comes first in each queue that contains both, in whichever order their tickets were taken. none: one is missing.
  core::ticket_number ticket() const {
    auto least = queued.empty() ? core::ticket_number::none : core::ticket_number::last;
    for (auto* each : queued) least = std::min(least, each->waiter().ticket_number());
    return least;
  }
  /// Waiters with an earlier ticket come first.
  core::ticket_number queue_position() const {
    const auto own = ticket();
    return own == core::ticket_number::none ? core::ticket_number::last : own;
  }
};

struct attempt_result {
  lease_ptr lease{};  ///< the first one of a set
  core::retry_backoff::refusal why{};
};

/// Attempts to acquire: each is sent, its answer is read, and if there is no answer the outcome is resolved.
///
///   sent --granted--> admitted: its holder relies on it
///                 --the answer took too long--> undone
///        --refused, but a release grants it meanwhile--> claimed, and admitted
///        --refused--> the answer says why
///        --no answer--> found in the database: adopted, as if it had been answered
///                   --not found--> undone, whenever it may take effect; never doubled (law 6)
class attempts {
 public:
  attempts(gateway& db, identity& who, held_locks& locks, local_wait_queue& queue, ticket_upkeep& tickets,
           ticket_cleanup& cleanup, wakeups& hints)
      : db_{db}, who_{who}, locks_{locks}, queue_{queue}, tickets_{tickets}, cleanup_{cleanup}, wakeups_{hints} {}

  /// `tries`: how often at most, while other clients have the row locked just then.
  task<attempt_result> make(const acquire_request& what, const driver::limits& until,
                            int tries = core::inconclusive_tries);
  /// By a release, while it waits. If it need not wait in turn, it is granted the name only if it is notified of that
  /// at once.
  bool may_be_granted(const acquire_request& what) const noexcept;
  /// Whether a refusal says that the row is marked: the ticket was committed before, so it need not be marked before.
  bool reads_the_mark(const acquire_request& what) const noexcept;
  bool holds_by_transaction(strategy s) noexcept;

 private:
  using combined_try = combined_verb<strategies::acquire_args, strategies::answer>;
  using readers = std::vector<local_wait_queue::reader>;
  struct attempt;
  /// The answer to an attempt that was sent at `sent`.
  struct reply {
    base::instant sent{};
    strategies::answer answer{};
    std::size_t which = 0;                      // the index of the name that it is about
    std::vector<strategies::answer> granted{};  // of all names of a set
    std::unique_ptr<held_transaction> transaction{};
    core::acquisition_id ticket{};  // the ticket that a release has granted it to; none: the attempt itself was granted
  };

  task<bool> try_once(const acquire_request& what, const driver::limits& until, attempt_result& out);
  task<bool> try_any(const acquire_request& what, const driver::limits& until, attempt_result& out);
  task<reply> send(attempt& a, const driver::limits& until);
  reply hold(attempt& a, const driver::limits& until);
  task<reply> ask(attempt& a, const driver::limits& until, combined_call_ptr& left);
  bool is_queued(const acquire_request& what) const noexcept;
  bool is_marked_for_sure() const noexcept;
  static bool comes_as_a_reader(const acquire_request& what) noexcept;
  /// nullopt: it is the turn of a request with that patience.
  static std::optional<strategies::answer> refusal_of(store::queue_position& seen, duration patience, bool has_ticket);
  reply take(const attempt& a, const store::access& db);
  reply take_in_turn(attempt& a, const store::access& db);
  /// Whether the statement of the attempt asks the queue.
  bool asks_the_queue_too(const acquire_request& what) const noexcept;
  bool must_look(const acquire_request& what) const noexcept;
  static bool look(attempt& a, const store::ticket_ref& own, const store::access& db, reply& out);
  bool claim_grant(const attempt& a, reply& r, const store::access& db);
  bool read(attempt& a, reply r, const driver::limits& until, attempt_result& out);
  bool is_marked(queued_waiter& by, bool says_so, const driver::limits& until);
  std::optional<reply> adopt(const attempt& a, base::instant sent, const driver::limits& until) noexcept;
  void leave_unresolved(const acquire_request& what, const lock_name& name, const core::acquisition_id& id,
                        const combined_call_ptr& left = {});
  lease_ptr admit(attempt& a, reply& r);
  lease_ptr admit(const acquire_request& what, const lock_name& name, const core::acquisition_id& id, reply& r,
                  const strategies::answer& granted);
  static void begin(lease_state& lease, base::instant sent, const strategies::answer& granted);

  // attempts_to_share.cpp
  using how_to_share = std::vector<strategies::answer> (*)(const store::access&,
                                                           std::span<const strategies::acquire_args>);
  std::vector<strategies::answer> share_at_once(how_to_share share, const store::access& db,
                                                std::span<const strategies::acquire_args> readers);
  reply share_in_turn(attempt& a, const store::access& db);
  static std::optional<readers> look_for_readers(attempt& a, const store::access& db, reply& out);
  bool hand_share(const local_wait_queue::reader& to, const core::acquisition_id& id, base::instant sent,
                  const strategies::answer& granted);
  void undo_share(const local_wait_queue::reader& of, const core::acquisition_id& id, bool may_appear);

  combined_try try_by(combined_try::function how);
  combined_try& try_of(strategy s) noexcept;

  gateway& db_;
  identity& who_;
  held_locks& locks_;
  local_wait_queue& queue_;
  ticket_upkeep& tickets_;
  ticket_cleanup& cleanup_;
  wakeups& wakeups_;
  const strategies::for_update for_update_{};
  const strategies::algorithm unique_index_{strategies::unique_index};
  const strategies::algorithm version_cas_{strategies::version_cas};
  const strategies::algorithm liveness_rows_{strategies::liveness_rows};
  combined_try unique_index_try_{try_by(std::bind_front(&strategies::algorithm::acquire, &unique_index_))};
  combined_try version_cas_try_{try_by(std::bind_front(&strategies::algorithm::acquire, &version_cas_))};
  combined_try liveness_rows_try_{try_by(std::bind_front(&strategies::algorithm::acquire, &liveness_rows_))};
  combined_try share_try_{try_by(std::bind_front(&attempts::share_at_once, this, strategies::share))};
  combined_try share_skipping_try_{try_by(std::bind_front(&attempts::share_at_once, this, strategies::share_skipping))};
};

/// The names that one attempt asks for, and what it owns until it has succeeded. If it fails, the names of a set that
/// it has acquired are released at the end, and grants that were not admitted are undone.
struct attempts::attempt {
  struct wanted {
    const lock_name& name;
    queued_waiter* queued;
    core::acquisition_id id;  // the same for all of several
    std::optional<bool> is_marked{};
  };

  attempt(attempts& by, const acquire_request& what);
  attempt(const attempt&) = delete;
  attempt& operator=(const attempt&) = delete;
  ~attempt();

  store::ticket_ref place() const {
    return {.name = {},
            .attempt = {},
            .number = what.queue_position(),
            .max_other_permits = what.share.max_other_permits,
            .patience = what.patience()};
  }

  attempts& by;
  const acquire_request& what;
  const std::string liveness;
  alignas(std::max_align_t) std::array<std::byte, 512> for_one_name;
  std::pmr::monotonic_buffer_resource memory{for_one_name.data(), for_one_name.size()};
  std::pmr::vector<wanted> names{&memory};  // without those that its holder already holds
  std::pmr::vector<strategies::acquire_args> batch{&memory};
  std::vector<lease_ptr> got{};  // of a set: the leases that its holder already holds, and the admitted ones
  std::size_t granted = 0;       // how many of the names of a set,
  std::size_t admitted = 0;      // and how many of these
};

}  // namespace rowlock::inline v1::engine
