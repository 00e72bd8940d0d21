#pragma once

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "support/pulse.hpp"

namespace rowlock::test {

/// How late the machine is at present: by how much a thread beside the test, which sleeps, wakes too late. Measured for
/// as long as this object lives.
class late_machine {
 public:
  using duration = std::chrono::steady_clock::duration;

  late_machine() : late_machine{[] {}} {}
  /// The same with what the thread does after each sleep, for instance asks a server, which may be late as well.
  template <class Call>
  explicit late_machine(Call call)
      : beside_{[call = std::move(call)] {
          std::this_thread::sleep_for(pause);
          call();
        }} {}

  /// The longest so far.
  duration by() const {
    const auto longest = beside_.longest_since(std::chrono::steady_clock::time_point::min());
    return std::max<duration>(longest - pause, duration::zero());
  }

 private:
  static constexpr std::chrono::milliseconds pause{5};
  pulse beside_;
};

}  // namespace rowlock::test
