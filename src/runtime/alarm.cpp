#include "runtime/alarm.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>

namespace rowlock::inline v1::runtime {

namespace {

void set_timer(int timer, core::instant t) noexcept {
  // A time of zero would disarm; anything in the past fires at once.
  const auto since = std::max<duration>(t.time_since_epoch(), duration{1});
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  itimerspec spec{};
  spec.it_value.tv_sec = seconds.count();
  spec.it_value.tv_nsec = std::chrono::nanoseconds{since - seconds}.count();
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &spec, nullptr);
}

}  // namespace

alarm::alarm()
    : seen_{core::instant::max().time_since_epoch().count()}, timer_{timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC)} {
  if (timer_ < 0) throw std::system_error{errno, std::generic_category(), "rowlock: making a timer"};
  *set_.lock() = core::instant::max();
}

alarm::~alarm() { close(timer_); }

void alarm::arm(core::instant t) noexcept {
  if (t.time_since_epoch().count() >= seen_.load(std::memory_order_seq_cst)) return;
  const auto set = set_.lock();
  if (t >= *set) return;
  *set = t;
  seen_.store(t.time_since_epoch().count(), std::memory_order_seq_cst);
  set_timer(timer_, t);
}

void alarm::disarm() noexcept {
  const auto set = set_.lock();
  *set = core::instant::max();
  seen_.store(set->time_since_epoch().count(), std::memory_order_seq_cst);
}

void alarm::wait() const noexcept {
  std::uint64_t times = 0;
  while (read(timer_, &times, sizeof times) < 0 && errno == EINTR) {
  }
}

}  // namespace rowlock::inline v1::runtime
