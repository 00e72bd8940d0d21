#include "core/sweep.hpp"

#include <algorithm>
#include <chrono>

namespace rowlock::inline v1::core {

using namespace std::chrono_literals;

namespace {

// What a step is to cost: little enough that programs that lock at the same time do not notice. Beside many others most
// of it is waiting for its turn, which fewer rows would not make shorter.
constexpr duration short_step = 15ms;
constexpr duration long_step = 45ms;
constexpr std::size_t fewest_rows = 250;

duration part(duration whole, double share) noexcept { return std::chrono::duration_cast<duration>(whole * share); }

}  // namespace

std::size_t first_rows(std::size_t most) noexcept { return std::min<std::size_t>(most, 100); }

std::size_t next_rows(std::size_t rows, duration cost, std::size_t most) noexcept {
  if (cost < short_step) return std::min(rows * 2, most);
  if (cost > long_step) return std::min(std::max(rows / 2, fewest_rows), most);
  return rows;
}

duration sweep_pause(duration cost) noexcept { return std::clamp<duration>(cost * 2, 1ms, 1s); }

duration sweep_interval(duration every, double jitter) noexcept { return part(every, 0.75 + jitter / 2); }

duration first_sweep(duration every, double jitter) noexcept { return part(every, jitter); }

}  // namespace rowlock::inline v1::core
