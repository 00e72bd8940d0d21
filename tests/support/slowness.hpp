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

/// By how much a limit of time that is promised is exceeded where sanitizers watch every step.
inline constexpr int slowness = is_sanitized ? 10 : 1;

/// What a busy machine may add to a limit of time that is promised. A test asserts the limit and this, and no more.
inline constexpr std::chrono::milliseconds slack{2000 * slowness};

/// Of a lease that is renewed while a test looks on, and that is not to be lost where the machine does something else
/// for a while.
inline constexpr std::chrono::milliseconds brisk_lease{is_sanitized ? 6000 : 1500};

}  // namespace rowlock::test
