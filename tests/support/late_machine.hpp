#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace rowlock::test {

/// How late the machine is at present: by how much a thread beside the test, which sleeps, wakes too late. Measured for
/// as long as this object lives.
class late_machine {
 public:
  using duration = std::chrono::steady_clock::duration;

  /// The longest so far.
  duration by() const noexcept { return longest_.load(); }

 private:
  std::atomic<duration> longest_{duration::zero()};
  std::jthread beside_{[this](const std::stop_token& enough) {
    constexpr std::chrono::milliseconds pause{5};
    while (!enough.stop_requested()) {
      const auto due = std::chrono::steady_clock::now() + pause;
      std::this_thread::sleep_until(due);
      longest_ = std::max(longest_.load(), std::chrono::steady_clock::now() - due);
    }
  }};
};

}  // namespace rowlock::test
