#pragma once

#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <thread>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define ROWLOCK_IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define ROWLOCK_IS_SANITIZED 1
#endif
#endif

namespace rowlock::test {

#ifdef ROWLOCK_IS_SANITIZED
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

/// The factor by which sanitizers slow a program down.
inline constexpr int slowness = is_sanitized ? 10 : 1;

/// The time that this machine may take for what takes a quiet one `quiet`. Sanitizers slow it down, and so do other
/// programs: by as much as it had more to run than cores in the last minute.
inline std::chrono::milliseconds on_this_machine(std::chrono::milliseconds quiet) {
  double load{};
  if (::getloadavg(&load, 1) != 1) load = 0;
  const auto cores = std::max(1U, std::thread::hardware_concurrency());
  return std::chrono::milliseconds{static_cast<std::chrono::milliseconds::rep>(static_cast<double>(quiet.count()) *
                                                                               slowness * std::max(1.0, load / cores))};
}

/// The time that the machine may add to a promised limit. Tests assert the limit plus this.
inline std::chrono::milliseconds slack() { return on_this_machine(std::chrono::milliseconds{2000}); }

/// A lease that is short enough to see renewals, and long enough not to be lost on a busy machine.
inline constexpr std::chrono::milliseconds brisk_lease{is_sanitized ? 6000 : 1500};

}  // namespace rowlock::test
