#include "driver/server_session.hpp"

#include <algorithm>
#include <chrono>
#include <random>

#include "base/boot_clock.hpp"
#include "base/waits.hpp"

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

namespace {

// false: there is no time for another try.
bool rest_before_next_try(const limits& until) {
  constexpr duration least_rest = 2 * change_wait;
  const auto rest = least_rest + std::chrono::duration_cast<duration>(least_rest * base::jitter());
  const auto next = base::later(base::now(), rest);
  if (base::later(next, 4 * change_wait) >= until.deadline) return false;
  base::rest(next, until.stop);
  return true;
}

}  // namespace

void insist_on_change(const limits& until, const std::function<void()>& change,
                      const std::function<bool(const error&)>& is_in_its_way) {
  for (;;) {
    try {
      return change();
    } catch (const error& e) {
      if (e.connection_is_unusable() || !is_in_its_way(e) || !rest_before_next_try(until)) throw;
    }
    if (until.stop.stop_requested()) throw error{errc::cancelled, "stopped while migrating"};
  }
}

}  // namespace rowlock::inline v1::driver
