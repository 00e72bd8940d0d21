#pragma once

#include <rowlock/export.hpp>

#include <optional>

#include "core/time.hpp"

namespace rowlock::inline v1::core {

/// How often a try that told nothing is made again before it reads as busy, and with what pauses.
inline constexpr int inconclusive_tries = 4;
duration inconclusive_pause(int tries_so_far) noexcept;

/// How long the head of a queue sleeps after "busy" if no hint comes: to the end of the holder's lease, at most to the
/// fallback poll. `jitter` in [0, 1) spreads heads that wait for the same lease.
duration busy_pause(std::optional<duration> lease_left, double jitter) noexcept;

/// The same where nobody tells of other processes' releases: the longer it has waited, the more rarely it asks.
duration poll_pause(duration waited, std::optional<duration> lease_left, double jitter) noexcept;

/// How long to wait after the database could not be reached.
duration error_pause(int failures, double jitter) noexcept;

/// How long to wait before an optimistic transaction is tried again.
duration conflict_pause(int attempts_so_far, double jitter) noexcept;

/// How long the watcher sleeps between two looks at a database that does not push hints.
duration watch_pause(duration quiet_for) noexcept;

/// How long to sleep before asking again for a lock that the operating system does not queue for.
ROWLOCK_EXPORT duration lock_poll_pause(int polls_so_far) noexcept;

}  // namespace rowlock::inline v1::core
