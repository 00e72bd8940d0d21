#include "engine/gateway/in_flight_calls.hpp"

#include "base/waits.hpp"

namespace rowlock::inline v1::engine {

void in_flight_calls::wait_for_the_last(base::instant deadline) {
  is_awaited_ = true;
  auto state = state_.lock();
  base::wait_until(none_, state.lock(), deadline, {}, [this] { return count_ == 0; });
}

void in_flight_calls::leave() noexcept {
  if (--count_ > 0 || !is_awaited_) return;
  const auto state = state_.lock();  // not between the waiter's look and its sleep
  none_.notify_all();
}

}  // namespace rowlock::inline v1::engine
