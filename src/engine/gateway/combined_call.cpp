#include "engine/gateway/combined_call.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/boot_clock.hpp"

namespace rowlock::inline v1::engine {

void combined_call::was_sent(base::instant batch_ends) noexcept {
  const std::lock_guard alone{mutex_};
  batch_ends_ = batch_ends;
}

// A batch has the time of that of its requests which has most. One that ends while this thread may still wait is waited
// for to its end: its outcome is known then.
base::instant combined_call::waits_until() const noexcept {
  return batch_ends_ && *batch_ends_ <= until_.last ? until_.last : until_.until.deadline;
}

bool combined_call::is_over() const { return has_ended_ || stop().stop_requested() || base::now() >= waits_until(); }

combined_call::outcome combined_call::wait() {
  const std::stop_callback wake{stop(), [this] {
                                  { const std::lock_guard not_between_look_and_sleep{mutex_}; }
                                  ended_.notify_one();
                                }};
  std::unique_lock lock{mutex_};
  // The clock that it waits by counts in smaller units, and not so far.
  constexpr duration far = std::chrono::hours{24};
  while (!is_over()) ended_.wait_for(lock, std::min<duration>(waits_until() - base::now(), far));
  if (has_ended_) return outcome::ended;
  return batch_ends_ ? outcome::unknown : outcome::not_sent;
}

// The mutex decides which of the two tells it: this thread, or the worker that ends it.
void combined_call::give_up(heir then) {
  {
    const std::lock_guard alone{mutex_};
    if (!has_ended_) {
      heir_ = std::move(then);
      return;
    }
  }
  then(fate_of());
}

combined_call::fate combined_call::fate_of() const {
  if (other_failure_) return fate::unknown;
  if (failure_) return failure_->outcome_is_unknown() ? fate::unknown : fate::nothing;
  return has_effect() ? fate::done : fate::nothing;
}

void combined_call::throw_if_failed() const {
  if (failure_) throw error{*failure_};
  if (other_failure_) std::rethrow_exception(other_failure_);
}

}  // namespace rowlock::inline v1::engine
