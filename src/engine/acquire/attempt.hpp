#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "engine/acquire/acquirer.hpp"

// What the parts of acquirer say to each other.

namespace rowlock::inline v1::engine {

struct acquirer::attempt_result {
  lease_ptr lease{};
  core::retry_backoff::refusal why{};
};

/// What was answered to an attempt that was sent at `sent`.
struct acquirer::reply {
  base::instant sent{};
  strategies::answer answer{};
  std::unique_ptr<held_transaction> transaction{};
  core::acquisition_id ticket{};  // by which a release has granted it; none: it was the attempt
};

struct acquirer::queue_look {
  std::optional<strategies::answer> refused{};
  fencing_token version{};  // of a row that looks free
  std::optional<bool> is_marked{};
  bool has_no_row = false;  // and so no version to go by, where that matters
};

/// Where a call waits: in the queue of a name, or of all names of a set.
struct acquirer::place {
  acquire_request what;
  core::acquire_machine machine;
  lease_ptr offer{};
  core::acquire_machine::step step{};
  std::vector<queued_waiter*> queued{};  // while it waits

  bool is_hinted() const {
    return std::any_of(queued.begin(), queued.end(), [](auto* each) { return each->waiter().is_hinted(); });
  }
  void leave_with_lock(const lease_state& lease) {
    for (auto* each : queued) {
      each->waiter().leave_with_lock();
      if (lease.id == each->waiter().ticket().attempt) each->how = ticket_cleanup::departure::spent;
    }
  }
  /// Without the lock.
  void leave() noexcept {
    for (auto* each : queued) each->leave();
  }
};

/// Of several names: those that the holder has already, and what is asked for.
struct acquirer::set_attempt {
  std::vector<lease_ptr> had{};
  std::vector<std::size_t> places{};  // of the others among the names
  std::vector<core::acquisition_id> ids{};
  std::vector<strategies::acquire_args> batch{};
};

}  // namespace rowlock::inline v1::engine
