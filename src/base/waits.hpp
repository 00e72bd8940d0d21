#pragma once

#include <rowlock/export.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "base/boot_clock.hpp"
#include "base/time.hpp"

namespace rowlock::inline v1::base {

/// How long to wait until that time, at most a day: the clocks of condition variables have smaller units and a shorter
/// range.
inline duration length_of_wait(base::instant t) { return std::min<duration>(t - now(), std::chrono::hours{24}); }

/// Waits until `ready()`, the deadline or `stop`; answers `ready()`.
template <class Ready>
bool wait_until(std::condition_variable_any& condition, std::unique_lock<std::mutex>& lock, base::instant deadline,
                const std::stop_token& stop, Ready ready) {
  if (deadline == base::instant::max()) return condition.wait(lock, stop, ready);
  for (;;) {
    if (deadline <= now() || stop.stop_requested()) return ready();
    if (condition.wait_for(lock, stop, length_of_wait(deadline), ready)) return true;
  }
}

/// Waits until that time, or for `stop`.
ROWLOCK_EXPORT void rest(base::instant until, const std::stop_token& stop);

/// A random number in [0, 1), to keep waiters out of step. Not for ids.
double jitter() noexcept;

/// Rests for a random part of `most`, so that two clients that conflicted do not conflict again; not beyond the
/// deadline, and not after a stop.
void pause_at_random(duration most, base::instant deadline, const std::stop_token& stop);

}  // namespace rowlock::inline v1::base
