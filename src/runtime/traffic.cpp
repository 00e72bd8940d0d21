#include "runtime/traffic.hpp"

#include "driver/waits.hpp"

namespace rowlock::inline v1::runtime {

void traffic::wait_for_the_last(core::instant deadline) {
  is_awaited_ = true;
  auto state = state_.lock();
  driver::wait_until(none_, state.lock(), deadline, {}, [this] { return count_ == 0; });
}

void traffic::leave() noexcept {
  if (--count_ > 0 || !is_awaited_) return;
  const auto state = state_.lock();  // not between the waiter's look and its sleep
  none_.notify_all();
}

}  // namespace rowlock::inline v1::runtime
