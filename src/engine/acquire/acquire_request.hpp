#pragma once

#include <rowlock/holder.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/options.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "core/sharing.hpp"
#include "engine/events/counters.hpp"
#include "engine/queue/local_wait_queue.hpp"

namespace rowlock::inline v1::engine {

/// Names that are wanted together, all or none, and how far that has come.
struct wanted_set {
  std::vector<lock_name> names;   ///< sorted, each once
  std::optional<holder> again{};  ///< who gets again what it has of them
  std::size_t busy = 0;           ///< the first that was not free at the last try
  bool was_refused = false;
  std::vector<std::shared_ptr<lease_state>> got{};  ///< in the order of the names, once all of them are had
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
  wanted_set* set = nullptr;                   ///< of which it is the name to wait for
  bool comes_after_others = false;             ///< who wait already: its holder has had the name for long
  bool is_for_transaction = false;             ///< of the caller's, which itself waits for another transaction

  /// The same of another name, by itself.
  acquire_request of(const lock_name& other) const {
    return {.name = other, .options = options, .by = by, .is_reentrant = is_reentrant, .call = call};
  }
  /// What it waits for is another name by now.
  bool has_moved() const noexcept { return set != nullptr && set->names[set->busy] != name; }
  std::optional<holder> reentrant() const { return is_reentrant ? std::optional{by} : std::nullopt; }
  bool is_fair() const noexcept { return options.fairness == fairness::fifo || comes_after_others; }
  bool asks_in_turn() const noexcept { return is_fair() || gives_way; }
  /// Tickets that have waited less long are passed.
  duration patience() const noexcept {
    return share.is_exclusive() || is_fair() ? duration::zero() : core::sharing_patience;
  }
  core::ticket_number ticket() const { return waiter == nullptr ? core::ticket_number::none : waiter->ticket_number(); }
  /// Those with an earlier ticket come first.
  core::ticket_number turn() const {
    const auto own = ticket();
    return own == core::ticket_number::none ? core::ticket_number::last : own;
  }
};

}  // namespace rowlock::inline v1::engine
