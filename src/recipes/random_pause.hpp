#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "base/boot_clock.hpp"
#include "base/jitter.hpp"
#include "base/time.hpp"
#include "base/waits.hpp"

namespace rowlock::inline v1::recipes {

/// Rests for a random part of `most`, so that those who got into each other's way do not meet again; not beyond the
/// deadline, and not after a stop.
inline void pause_at_random(duration most, base::instant deadline, const std::stop_token& stop) {
  const auto part = std::chrono::duration_cast<duration>(most * base::jitter());
  std::mutex alone;
  std::condition_variable_any never;
  std::unique_lock lock{alone};
  base::wait_until(never, lock, std::min(deadline, base::later(base::now(), part)), stop, [] { return false; });
}

}  // namespace rowlock::inline v1::recipes
