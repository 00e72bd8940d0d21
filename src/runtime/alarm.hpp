#pragma once

#include <atomic>
#include <span>

#include "core/time.hpp"
#include "driver/boot_timer.hpp"
#include "runtime/guarded.hpp"

namespace rowlock::inline v1::runtime {

/// Wakes one thread at the earliest time that any thread asked for, by the clock of local deadlines, so that it is on
/// time after a suspend. The owner's loop is: disarm, look at everything, arm for the next, wait. Whoever makes
/// something to look at does so before it arms, so nothing is missed: either the look sees it, or the arming comes
/// after the disarming and stands.
class alarm {
 public:
  alarm();
  alarm(const alarm&) = delete;
  alarm& operator=(const alarm&) = delete;

  /// Wakes at `t` or earlier. Costs no system call unless `t` is earlier than what is set.
  void arm(core::instant t) noexcept;
  void disarm() noexcept;
  void wait() const noexcept { timer_.wait(); }
  /// Also when one of these has hung up.
  void wait(std::span<const int> lines) const { timer_.wait(lines); }
  /// Also when there is something to read from this one.
  void wait_or_read(int line) const { timer_.wait_or_read(line); }

 private:
  guarded<core::instant> set_;
  std::atomic<core::instant::rep> seen_;  // a copy of set_, for the quick way out
  driver::boot_timer timer_;
};

}  // namespace rowlock::inline v1::runtime
