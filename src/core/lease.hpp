#pragma once

#include <rowlock/fencing_token.hpp>

#include <cstdint>

#include "base/time.hpp"

namespace rowlock::inline v1::core {

inline constexpr duration shortest_lease = std::chrono::milliseconds{100};
inline constexpr duration longest_lease = std::chrono::days{30};

/// By how much the local deadline is ahead of the database's.
duration margin(duration lease) noexcept;

/// How long a grant by a release is valid at most: in that time the waiter has to claim it. The statements contain it,
/// too.
inline constexpr duration longest_grant = std::chrono::seconds{1};

/// When a client must stop believing in a lease: counted from before the request was sent, so that neither a slow reply
/// nor a paused process makes it believe for too long.
base::instant local_deadline(base::instant sent, duration left, duration lease) noexcept;

/// When to renew: every third of the lease, so that time for another try remains after a failure.
base::instant renewal_due(base::instant sent, duration lease) noexcept;

/// Whether a lease is renewed now, together with others: it is due, or will be within a sixth of its length.
bool joins_renewal(base::instant due, base::instant now, duration lease) noexcept;

/// When to try again after a renewal that failed or had no answer. `jitter` in [0, 1) keeps it out of step with
/// periodic disturbances.
base::instant renewal_retry(base::instant now, duration lease, double jitter) noexcept;

/// A failed release is repeated: soon at first, then slower.
duration undo_pause(int attempt) noexcept;

/// One acquisition that is handed over from holder to holder inside a client. Its row keeps the same acquisition all
/// the time; each holder has a token of its own, from a block that was reserved in the row.
///
///   granted --a release, and a thread here waits--> tokens are reserved --handed over--> handed over ...
///   any --no thread waits here, other clients do and the block is used up, the limit, a failure--> released in the row
struct tenure {
  base::instant began{};        ///< when the acquisition was asked for
  fencing_token next{};         ///< the first reserved token that was not handed out
  std::int64_t tokens = 0;      ///< how many reserved tokens remain
  base::instant reserved_at{};  ///< when the reservation was answered
  bool others_wait = false;     ///< other clients, according to the reservation's answer
};

/// The fate of a lock that its holder releases while another thread of this client waits for it.
enum class succession : std::uint8_t {
  hand_over,  ///< with the next token
  reserve,    ///< more tokens, which also renews the lease; then hand over
  release     ///< in the database
};

/// `renewal_due`: from then on too little of the lease is left to hand it over as it is.
succession after_release(const tenure& t, base::instant now, base::instant renewal_due, duration limit) noexcept;

/// The time after which it is not handed over any more.
base::instant tenure_end(const tenure& t, duration limit) noexcept;

/// How many tokens to reserve: few at first, as the answer shows whether other clients wait. The number is at most that
/// of microseconds since the last block, so that versions do not overtake the database's clock.
std::int64_t block_size(const tenure& t, base::instant now) noexcept;

/// `number` tokens up to `last` were reserved.
void add_block(tenure& t, fencing_token last, std::int64_t number, bool others_wait, base::instant now) noexcept;

fencing_token take_token(tenure& t) noexcept;

/// For how long the waiters of this client ask in turn after a release in favour of other clients.
inline constexpr duration yielding = std::chrono::milliseconds{50};

}  // namespace rowlock::inline v1::core
