#pragma once

#include <rowlock/holder.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/options.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/sharing.hpp"
#include "engine/events/telemetry.hpp"
#include "engine/queue/local_wait_queue.hpp"

namespace rowlock::inline v1::engine {

/// Names that are wanted together, all or none, and how far that has come.
struct wanted_set {
  std::vector<lock_name> names;                      ///< sorted, each once
  std::optional<holder> again{};                     ///< who gets again what it has of them
  std::vector<local_wait_queue::waiter*> waiters{};  ///< in the queues of all of them, once it waits
  std::vector<std::shared_ptr<lease_state>> got{};   ///< in the order of the names, once all of them are had
};

/// What a caller wants.
struct acquire_request {
  const lock_name& name;
  const lock_options& options;
  holder by;
  bool is_reentrant;
  core::sharing share{};                       ///< beside others
  counted_call* call = nullptr;                ///< nullptr: the client's own
  local_wait_queue::waiter* waiter = nullptr;  ///< once it waits
  bool gives_way = false;                      ///< to other clients that have waited longer, this time
  wanted_set* set = nullptr;                   ///< of which it is the first name
  bool comes_after_others = false;             ///< who wait already: its holder has had the name for long
  bool passes_the_slow = false;                ///< those who come before, and have left the name free, this time
  bool is_for_transaction = false;             ///< of the caller's, which itself waits for another transaction

  /// The same of another name, by itself.
  acquire_request of(const lock_name& other) const {
    return {.name = other, .options = options, .by = by, .is_reentrant = is_reentrant, .call = call};
  }
  std::optional<holder> reentrant() const { return is_reentrant ? std::optional{by} : std::nullopt; }
  bool is_fair() const noexcept {
    return (options.fairness == fairness::fifo || comes_after_others) && !passes_the_slow;
  }
  bool asks_in_turn() const noexcept { return is_fair() || gives_way; }
  /// Tickets that have waited less long are passed. Who wants the name alone, and not in turn, passes all but sets.
  duration patience() const noexcept {
    const bool is_in_turn = share.is_exclusive() ? asks_in_turn() : is_fair();
    return is_in_turn ? duration::zero() : core::sharing_patience;
  }
  /// When others come first: nobody tells when a set ceases to insist.
  std::optional<duration> comes_again_after(std::optional<duration> left) const noexcept {
    return left || patience() == duration::zero() ? left : core::insists_for;
  }
  /// What its tickets say of whom it can be beside.
  std::int64_t room() const noexcept {
    if (set == nullptr) return share.room;
    return options.fairness == fairness::fifo ? core::room_of_fair_set : core::room_of_set;
  }
  /// Of a set, the least of its tickets: that is its place in the queues of all its names. So of two sets one is before
  /// the other in each queue in which both are, in whichever order their tickets were taken. none: one is missing.
  core::ticket_number ticket() const {
    if (set == nullptr) return waiter == nullptr ? core::ticket_number::none : waiter->ticket_number();
    auto least = set->waiters.empty() ? core::ticket_number::none : core::ticket_number::last;
    for (const auto* each : set->waiters) least = std::min(least, each->ticket_number());
    return least;
  }
  /// Those with an earlier ticket come first.
  core::ticket_number turn() const {
    const auto own = ticket();
    return own == core::ticket_number::none ? core::ticket_number::last : own;
  }
};

}  // namespace rowlock::inline v1::engine
