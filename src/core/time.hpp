#pragma once

#include <rowlock/duration.hpp>

#include <chrono>

namespace rowlock::inline v1::core {

/// Names the time line of local deadlines: one that goes on while the machine is suspended. It is read elsewhere
/// (runtime/boot_clock.hpp); this room only reckons with it.
struct boot_clock {
  using duration = rowlock::duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<boot_clock>;
  static constexpr bool is_steady = true;
};
using instant = boot_clock::time_point;

/// t + d, or the last instant there is.
constexpr instant later(instant t, duration d) noexcept { return d >= instant::max() - t ? instant::max() : t + d; }

}  // namespace rowlock::inline v1::core
