#include "base/boot_clock.hpp"

#include <chrono>
#include <ctime>

namespace rowlock::inline v1::base {

base::instant now() noexcept {
  timespec t{};
  clock_gettime(CLOCK_BOOTTIME, &t);
  const auto since = std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec};
  return base::instant{std::chrono::floor<duration>(since)};
}

}  // namespace rowlock::inline v1::base
