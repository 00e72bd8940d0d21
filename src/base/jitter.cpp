#include "base/jitter.hpp"

#include <cstdint>
#include <random>

#include "base/boot_clock.hpp"

namespace rowlock::inline v1::base {

double jitter() noexcept {
  thread_local std::minstd_rand random = [] {
    static thread_local char here{};  // another address in every thread
    const auto now = static_cast<std::uint64_t>(base::now().time_since_epoch().count());
    return std::minstd_rand{static_cast<std::uint_fast32_t>(now ^ reinterpret_cast<std::uintptr_t>(&here))};
  }();
  return std::uniform_real_distribution<double>{0.0, 1.0}(random);
}

}  // namespace rowlock::inline v1::base
