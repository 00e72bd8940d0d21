#pragma once

#include <rowlock/export.hpp>

#include <atomic>
#include <span>

#include "base/guarded.hpp"
#include "base/time.hpp"

namespace rowlock::inline v1::base {

/// Wakes one thread at a time of the clock that base::now() reads. Any thread may set it, one at a time; the last
/// setting counts.
class ROWLOCK_EXPORT boot_timer {
 public:
  /// Throws error{errc::connection_failed}.
  boot_timer();
  boot_timer(const boot_timer&) = delete;
  boot_timer& operator=(const boot_timer&) = delete;
  ~boot_timer();

  /// A time in the past fires at once.
  void set(base::instant t) const noexcept;
  /// Returns when it has fired since the last wait.
  void wait() const noexcept;
  /// The same, or when the other side of one of these sockets has hung up.
  void wait(std::span<const int> sockets) const;
  /// The same, or when this socket can be read.
  void wait_or_read(int socket) const;

 private:
  void wait(std::span<const int> sockets, short for_what) const;

  int descriptor_;
};

/// Wakes one thread at the earliest time that any thread asked for, by the clock of local deadlines, so that it is on
/// time after a suspend. The owner's loop is: disarm, look at everything, arm for the next time, wait. Another thread
/// first adds its work and then arms. So nothing is missed: either the look sees the work, or the arming comes after
/// the disarming and remains.
class ROWLOCK_EXPORT alarm {
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
  /// Also when this one can be read.
  void wait_or_read(int line) const { timer_.wait_or_read(line); }

 private:
  guarded<base::instant> set_;
  std::atomic<base::instant::rep> seen_;  // a copy of set_, for the quick way out
  base::boot_timer timer_;
};

}  // namespace rowlock::inline v1::base
