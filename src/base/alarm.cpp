#include "base/alarm.hpp"

#include <rowlock/error.hpp>

#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <vector>

namespace rowlock::inline v1::base {

boot_timer::boot_timer() : descriptor_{timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC)} {
  if (descriptor_ < 0)
    throw error{errc::connection_failed, "a timer cannot be created: " + std::generic_category().message(errno)};
}

boot_timer::~boot_timer() { close(descriptor_); }

void boot_timer::set(base::instant t) const noexcept {
  // A time of zero would disarm; anything in the past fires at once.
  const auto since = std::max<duration>(t.time_since_epoch(), duration{1});
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  itimerspec spec{};
  spec.it_value.tv_sec = seconds.count();
  spec.it_value.tv_nsec = std::chrono::nanoseconds{since - seconds}.count();
  if (timerfd_settime(descriptor_, TFD_TIMER_ABSTIME, &spec, nullptr) == 0) return;
  // libfaketime makes a time that is long past a negative one, which is refused.
  spec.it_value = {.tv_sec = 0, .tv_nsec = 1};
  timerfd_settime(descriptor_, 0, &spec, nullptr);
}

void boot_timer::wait() const noexcept {
  std::uint64_t times = 0;
  while (read(descriptor_, &times, sizeof times) < 0 && errno == EINTR) {
  }
}

void boot_timer::wait(std::span<const int> sockets) const { wait(sockets, POLLRDHUP); }

void boot_timer::wait_or_read(int socket) const { wait({&socket, 1}, POLLIN | POLLRDHUP); }

void boot_timer::wait(std::span<const int> sockets, short for_what) const {
  std::vector<pollfd> all{{.fd = descriptor_, .events = POLLIN, .revents = 0}};
  for (const int each : sockets) all.push_back({.fd = each, .events = for_what, .revents = 0});
  while (poll(all.data(), all.size(), -1) < 0 && errno == EINTR) {
  }
  if (all[0].revents != 0) wait();
}

alarm::alarm() : seen_{base::instant::max().time_since_epoch().count()} { *set_.lock() = base::instant::max(); }

void alarm::arm(base::instant t) noexcept {
  if (t.time_since_epoch().count() >= seen_.load(std::memory_order_seq_cst)) return;
  const auto set = set_.lock();
  if (t >= *set) return;
  *set = t;
  seen_.store(t.time_since_epoch().count(), std::memory_order_seq_cst);
  timer_.set(t);
}

void alarm::disarm() noexcept {
  const auto set = set_.lock();
  *set = base::instant::max();
  seen_.store(set->time_since_epoch().count(), std::memory_order_seq_cst);
}

}  // namespace rowlock::inline v1::base
