#pragma once

#include "base/time.hpp"

namespace rowlock::inline v1::core {

inline constexpr duration shortest_lease = std::chrono::milliseconds{100};
inline constexpr duration longest_lease = std::chrono::days{30};

/// What the local deadline stays ahead of the database's.
duration margin(duration lease) noexcept;

/// For how long a release grants the name at most: in that time the waiter has to claim it. The statements have it,
/// too.
inline constexpr duration longest_grant = std::chrono::seconds{1};

/// When a client must stop believing in a lease: counted from before the request was sent, so that neither a slow reply
/// nor a paused process makes it believe for too long.
base::instant local_deadline(base::instant sent, duration left, duration lease) noexcept;

/// When to renew: every third of the lease, so that one failure leaves time for another try.
base::instant renewal_due(base::instant sent, duration lease) noexcept;

/// Whether a lease is renewed now, together with others: it is due, or will be within a sixth of its length.
bool joins_renewal(base::instant due, base::instant now, duration lease) noexcept;

/// When to try again after a renewal that failed or told nothing. `jitter` in [0, 1) keeps it out of step with what
/// disturbs it at regular times.
base::instant renewal_retry(base::instant now, duration lease, double jitter) noexcept;

/// A failed release is repeated: soon at first, then slower.
duration undo_pause(int attempt) noexcept;

}  // namespace rowlock::inline v1::core
