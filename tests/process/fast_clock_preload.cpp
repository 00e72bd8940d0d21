// To be preloaded into a program: its clocks run ROWLOCK_FAST_CLOCK times as fast from its start on, and its waits that
// end at a time are that much shorter.

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace {

constexpr std::int64_t second = 1'000'000'000;

std::int64_t nanoseconds(const timespec& t) { return t.tv_sec * second + t.tv_nsec; }
timespec as_time(std::int64_t t) { return {.tv_sec = t / second, .tv_nsec = t % second}; }

std::int64_t really(clockid_t which) {
  timespec now{};
  ::syscall(SYS_clock_gettime, which, &now);
  return nanoseconds(now);
}

std::int64_t times_faster() {
  static const auto out = [] {
    const char* said = std::getenv("ROWLOCK_FAST_CLOCK");
    return std::max<std::int64_t>(said == nullptr ? 1 : std::atoi(said), 1);
  }();
  return out;
}

/// A clock at the start of the program.
struct origin {
  clockid_t of;
  std::int64_t time = really(of);

  std::int64_t ahead(std::int64_t real) const { return time + (real - time) * times_faster(); }
  std::int64_t real(std::int64_t ahead) const {
    return ahead <= time ? std::max<std::int64_t>(ahead, 1) : time + (ahead - time) / times_faster();
  }
};

const origin& origin_of(clockid_t which) {
  static const std::array all{origin{CLOCK_REALTIME}, origin{CLOCK_MONOTONIC}, origin{CLOCK_BOOTTIME}};
  if (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE) return all[0];
  return which == CLOCK_BOOTTIME ? all[2] : all[1];
}

bool runs_fast(clockid_t which) { return which != CLOCK_PROCESS_CPUTIME_ID && which != CLOCK_THREAD_CPUTIME_ID; }

timespec real_time(clockid_t which, const timespec& ahead) {
  return as_time(origin_of(which).real(nanoseconds(ahead)));
}

timespec shorter(const timespec& wait) {
  const auto out = nanoseconds(wait);
  return as_time(out <= 0 ? out : std::max<std::int64_t>(out / times_faster(), 1));
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

int clock_gettime(clockid_t which, timespec* to) noexcept {
  if (!runs_fast(which)) return static_cast<int>(::syscall(SYS_clock_gettime, which, to));
  const auto& from = origin_of(which);
  *to = as_time(from.ahead(really(from.of)));
  return 0;
}

int gettimeofday(timeval* to, void* /*zone*/) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  *to = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* to) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != nullptr) *to = now.tv_sec;
  return now.tv_sec;
}

int pthread_cond_clockwait(pthread_cond_t* on, pthread_mutex_t* with, clockid_t by, const timespec* until) {
  static const auto wait =
      reinterpret_cast<decltype(&pthread_cond_clockwait)>(::dlsym(RTLD_NEXT, "pthread_cond_clockwait"));
  const auto at = real_time(by, *until);
  return wait(on, with, by, &at);
}

int timerfd_settime(int descriptor, int flags, const itimerspec* to, itimerspec* before) noexcept {
  auto at = *to;
  const bool is_off = to->it_value.tv_sec == 0 && to->it_value.tv_nsec == 0;
  if (!is_off)
    at.it_value = (flags & TFD_TIMER_ABSTIME) != 0 ? real_time(CLOCK_BOOTTIME, to->it_value) : shorter(to->it_value);
  return static_cast<int>(::syscall(SYS_timerfd_settime, descriptor, flags, &at, before));
}

int nanosleep(const timespec* time, timespec* left) {
  const auto real = shorter(*time);
  return static_cast<int>(::syscall(SYS_nanosleep, &real, left));
}

int usleep(useconds_t time) {
  const auto whole = as_time(static_cast<std::int64_t>(time) * 1000);
  return nanosleep(&whole, nullptr);
}

int poll(pollfd* all, nfds_t number, int milliseconds) {
  const auto real = shorter(as_time(static_cast<std::int64_t>(milliseconds) * 1'000'000));
  return static_cast<int>(::syscall(SYS_ppoll, all, number, milliseconds < 0 ? nullptr : &real, nullptr, 0));
}

#pragma GCC visibility pop
}
