#pragma once

#include <atomic>
#include <span>

#include "base/boot_timer.hpp"
#include "base/guarded.hpp"
#include "base/time.hpp"

namespace rowlock::inline v1::base {

/// Wakes one thread at the earliest time that any thread asked for, by the clock of local deadlines, so that it is on
/// time after a suspend. The owner's loop is: disarm, look at everything, arm for the next, wait. A thread that makes
/// something to look at does so before it arms, so nothing is missed: either the look sees it, or the arming comes
/// after the disarming and stands.
class alarm {
 public:
  alarm();
  alarm(const alarm&) = delete;
  alarm& operator=(const alarm&) = delete;

  /// Wakes at `t` or earlier. Costs no system call unless `t` is earlier than what is set.
  void arm(base::instant t) noexcept;
  void disarm() noexcept;
  void wait() const noexcept { timer_.wait(); }
  /// Also when one of these has hung up.
  void wait(std::span<const int> lines) const { timer_.wait(lines); }
  /// Also when there is something to read from this one.
  void wait_or_read(int line) const { timer_.wait_or_read(line); }

 private:
  guarded<base::instant> set_;
  std::atomic<base::instant::rep> seen_;  // a copy of set_, for the quick way out
  base::boot_timer timer_;
};

}  // namespace rowlock::inline v1::base
