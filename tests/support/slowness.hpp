#pragma once

#include <chrono>

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

/// The time that a busy machine may add to a promised limit. Tests assert the limit plus this.
inline constexpr std::chrono::milliseconds slack{2000 * slowness};

/// A lease that is short enough to see renewals, and long enough not to be lost on a busy machine.
inline constexpr std::chrono::milliseconds brisk_lease{is_sanitized ? 6000 : 1500};

}  // namespace rowlock::test
