#pragma once

#include <rowlock/holder.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/options.hpp>

#include <optional>

#include "engine/events/counters.hpp"
#include "engine/queue/local_wait_queue.hpp"

namespace rowlock::inline v1::engine {

/// What a caller wants.
struct acquire_request {
  const lock_name& name;
  const lock_options& options;
  holder by;
  bool is_reentrant;
  counted_call* call = nullptr;                ///< nullptr: the client's own
  local_wait_queue::waiter* waiter = nullptr;  ///< once it waits
  bool gives_way = false;                      ///< to other clients that have waited longer, this time

  std::optional<holder> reentrant() const { return is_reentrant ? std::optional{by} : std::nullopt; }
  bool is_fair() const noexcept { return options.fairness == fairness::fifo; }
  bool asks_in_turn() const noexcept { return is_fair() || gives_way; }
  core::ticket_number ticket() const { return waiter == nullptr ? core::ticket_number::none : waiter->ticket_number(); }
  /// Those with an earlier ticket come first.
  core::ticket_number turn() const {
    const auto own = ticket();
    return own == core::ticket_number::none ? core::ticket_number::last : own;
  }
};

}  // namespace rowlock::inline v1::engine
