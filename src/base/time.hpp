#pragma once

#include <rowlock/duration.hpp>

#include <chrono>

namespace rowlock::inline v1::base {

/// The clock of local deadlines, which goes on while the machine is suspended. now() (boot_clock.hpp) reads it; this
/// type only has its arithmetic.
struct boot_clock {
  using duration = rowlock::duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<boot_clock>;
  static constexpr bool is_steady = true;
};
using instant = boot_clock::time_point;

/// t + d, or the last instant if that is later.
constexpr instant later(instant t, duration d) noexcept { return d >= instant::max() - t ? instant::max() : t + d; }

}  // namespace rowlock::inline v1::base
