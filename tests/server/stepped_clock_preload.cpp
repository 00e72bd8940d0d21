// To be preloaded into a server: the time of day is as far off as the file says that ROWLOCK_STEPPED_CLOCK names.
// Clocks that only run, by which a server measures how long to wait, are left alone.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace {

const std::atomic<std::int64_t>* shared_seconds() {
  const char* file = std::getenv("ROWLOCK_STEPPED_CLOCK");
  const int descriptor = file == nullptr ? -1 : ::open(file, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) std::abort();
  void* mapped = ::mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  if (mapped == MAP_FAILED) std::abort();
  return static_cast<const std::atomic<std::int64_t>*>(mapped);
}

time_t offset() {
  static const auto* const seconds = shared_seconds();
  return static_cast<time_t>(seconds->load());
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int clock_gettime(clockid_t which, timespec* to) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_clock_gettime, which, to));
  if (result == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) to->tv_sec += offset();
  return result;
}

[[gnu::visibility("default")]] int gettimeofday(timeval* to, void* /*zone*/) noexcept {
  timespec now{};
  const int result = clock_gettime(CLOCK_REALTIME, &now);
  *to = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return result;
}

[[gnu::visibility("default")]] time_t time(time_t* to) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != nullptr) *to = now.tv_sec;
  return now.tv_sec;
}
}
