#include "engine/gateway/combined_call.hpp"

#include "base/boot_clock.hpp"
#include "base/waits.hpp"

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

combined_call::outcome combined_call::wait() {
  std::unique_lock lock{mutex_};
  const auto& stop = until_.until.stop;
  do {
    if (base::wait_until(ended_, lock, waits_until(), stop, [this] { return has_ended_; })) return outcome::ended;
  } while (!stop.stop_requested() && base::now() < waits_until());
  return batch_ends_ ? outcome::unknown : outcome::not_sent;
}

void combined_call::throw_if_failed() const {
  if (failure_) throw error{*failure_};
  if (other_failure_) std::rethrow_exception(other_failure_);
}

}  // namespace rowlock::inline v1::engine
