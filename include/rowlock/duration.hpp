#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <chrono>
#include <cmath>

namespace rowlock::inline v1 {

/// The type of all durations in options and results, in microseconds.
///
/// duration::max() means "no limit".
using duration = std::chrono::microseconds;

namespace detail {

/// Converts to `duration`, rounding up and saturating: hours::max() means "no deadline" and does not overflow.
///
/// A NaN counts as zero.
template <class Rep, class Period>
duration saturate(const std::chrono::duration<Rep, Period>& wait) {
  // A long double holds every 64-bit number of microseconds.
  const long double asked = std::ceil(std::chrono::duration<long double, duration::period>{wait}.count());
  if (asked >= static_cast<long double>(duration::max().count())) return duration::max();
  if (asked <= static_cast<long double>(duration::min().count())) return duration::min();
  return std::isnan(asked) ? duration::zero() : duration{static_cast<duration::rep>(asked)};
}

/// Returns the time left until `t` by its own clock; zero if `t` has passed (time_point::min() included).
template <class Clock, class Duration>
duration until(const std::chrono::time_point<Clock, Duration>& t) {
  using exact = std::chrono::duration<long double, duration::period>;  // t - now, and even t < now, may overflow
  const exact left = exact{t.time_since_epoch()} - exact{Clock::now().time_since_epoch()};
  return left > exact::zero() ? saturate(left) : duration::zero();
}

}  // namespace detail
}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
