#pragma once

#include <rowlock/export.hpp>

#include <chrono>
#include <optional>

#include "base/time.hpp"

namespace rowlock::inline v1::core {

/// How long a ticket is valid after its last refresh, and how often it is refreshed.
inline constexpr duration ticket_life = std::chrono::seconds{6};
inline constexpr duration ticket_refresh = std::chrono::seconds{2};
/// How soon a refresh is repeated that failed.
inline constexpr duration ticket_retry = std::chrono::milliseconds{500};

/// How often an inconclusive attempt is repeated before it reads as busy, and with what pauses: of a call that waits,
/// and comes again; and of one that does not. Statements of other clients, such as one that marks the row, have it
/// until they are committed, which takes long on a busy disk: that is not to be taken for a holder.
inline constexpr int inconclusive_tries = 4;
inline constexpr int inconclusive_only_tries = 9;
duration inconclusive_pause(int tries_so_far) noexcept;

/// The pause between two looks by a call that waits for the end of a session of the server.
duration ending_pause(int looks_so_far) noexcept;

/// How long the first of a queue sleeps after a refusal where others tell of the release: to the end of the holder's
/// lease, and at most as long again as it has waited, but a second at least: what tells may have been lost.
/// `is_behind`: somebody else is to be faster. `jitter` in [0, 1) spreads those who wait for the same.
duration told_pause(duration waited, std::optional<duration> lease_left, bool is_behind, double jitter) noexcept;

/// The same where nobody tells: the longer it has waited, the more rarely it tries.
duration poll_pause(duration waited, std::optional<duration> lease_left, double jitter) noexcept;

/// The same for one look at all names that are waited for.
duration ask_pause(duration waited, bool is_behind, double jitter) noexcept;

/// For how long yet a caller that has `patience` yields a free name to those who wait for it: none of them has taken
/// it, so they are dead, or slow. `lease_left`: since when it is free, as what is left of the last lease. Absent: for
/// as long as they wait.
std::optional<duration> yields_for(std::optional<duration> lease_left, duration patience) noexcept;

/// Whether a waiter that sleeps until then would sleep past the end of a lease that was shortened since.
bool oversleeps(base::instant until, base::instant now, std::optional<duration> lease_left) noexcept;

/// How long to wait after the database could not be reached.
duration error_pause(int failures, double jitter) noexcept;

/// How long to wait before an optimistic transaction is tried again.
duration conflict_pause(int attempts_so_far, double jitter) noexcept;

/// How long the watcher sleeps between two looks at a database that does not push hints.
duration watch_pause(duration quiet_for) noexcept;

/// How long to sleep before asking again for a lock that the operating system does not queue for.
ROWLOCK_EXPORT duration lock_poll_pause(int polls_so_far) noexcept;

}  // namespace rowlock::inline v1::core
