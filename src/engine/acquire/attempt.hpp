#pragma once

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

/// Of several names: those that the holder has already, and what is asked for.
struct acquirer::set_attempt {
  std::vector<lease_ptr> had{};
  std::vector<std::size_t> places{};  // of the others among the names
  std::vector<core::acquisition_id> ids{};
  std::vector<strategies::acquire_args> batch{};
};

}  // namespace rowlock::inline v1::engine
