#include "base/waits.hpp"

#include <cstdint>
#include <random>

namespace rowlock::inline v1::base {

void rest(base::instant until, const std::stop_token& stop) {
  std::mutex alone;
  std::condition_variable_any never;
  std::unique_lock lock{alone};
  wait_until(never, lock, until, stop, [] { return false; });
}

double jitter() noexcept {
  thread_local std::minstd_rand random = [] {
    static thread_local char here{};  // another address in every thread
    const auto now = static_cast<std::uint64_t>(base::now().time_since_epoch().count());
    return std::minstd_rand{static_cast<std::uint_fast32_t>(now ^ reinterpret_cast<std::uintptr_t>(&here))};
  }();
  return std::uniform_real_distribution<double>{0.0, 1.0}(random);
}

void pause_at_random(duration most, base::instant deadline, const std::stop_token& stop) {
  const auto part = std::chrono::duration_cast<duration>(most * jitter());
  rest(std::min(deadline, later(now(), part)), stop);
}

}  // namespace rowlock::inline v1::base
