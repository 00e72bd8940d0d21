#include "driver/server_session.hpp"

#include <algorithm>
#include <chrono>
#include <random>

#include "base/boot_clock.hpp"

namespace rowlock::inline v1::driver {

std::uint64_t random_number() {
  std::random_device device;
  return (std::uint64_t{device()} << 32U) | device();
}

std::optional<duration> time_left(const limits& until) {
  if (until.deadline == base::instant::max()) return std::nullopt;
  return std::max<duration>(until.deadline - base::now(), std::chrono::milliseconds{2});
}

limits limits_of_script(const std::optional<limits>& around, duration call_timeout) {
  return around ? *around : limits{.deadline = base::later(base::now(), call_timeout)};
}

}  // namespace rowlock::inline v1::driver
