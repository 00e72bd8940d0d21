#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "support/pulse.hpp"

namespace rowlock::test {

/// How late the machine is at present: by how much a thread beside the test, which sleeps, wakes too late. Measured for
/// as long as this object lives.
class late_machine {
 public:
  using duration = std::chrono::steady_clock::duration;

  /// The longest so far.
  duration by() const {
    const auto longest = beside_.longest_since(std::chrono::steady_clock::time_point::min());
    return std::max<duration>(longest - pause, duration::zero());
  }

 private:
  static constexpr std::chrono::milliseconds pause{5};
  pulse beside_{[] { std::this_thread::sleep_for(pause); }};
};

}  // namespace rowlock::test
