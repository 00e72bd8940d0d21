#pragma once

#include <rowlock/error.hpp>
#include <rowlock/export.hpp>

#include <chrono>
#include <cstddef>
#include <optional>

#include "base/time.hpp"

namespace rowlock::inline v1::core {

/// How long a ticket is valid after its last refresh, and how often it is refreshed.
inline constexpr duration ticket_life = std::chrono::seconds{6};
inline constexpr duration ticket_refresh = std::chrono::seconds{2};
/// How soon a refresh is repeated that failed.
inline constexpr duration ticket_retry = std::chrono::milliseconds{500};

/// How often an inconclusive attempt is repeated before it reads as busy, and with what pauses: first of a call that
/// waits, and will try again; then of a call that does not wait. Statements of other clients, such as one that marks
/// the row, lock it until they are committed, which takes long on a busy disk. A lock of that kind must not be mistaken
/// for a holder.
inline constexpr int inconclusive_tries = 4;
inline constexpr int inconclusive_only_tries = 9;
duration inconclusive_pause(int tries_so_far) noexcept;

/// The pause between two looks by a call that waits for the end of a session of the server.
duration ending_pause(int looks_so_far) noexcept;

/// How long the first waiter of a queue sleeps after a refusal if it is notified of releases: to the end of the
/// holder's lease, and at most as long again as it has waited, but at least a second, because a notification may be
/// lost. `is_behind`: another waiter should be faster. `jitter` in [0, 1) spreads the waiters of one name.
duration notified_pause(duration waited, std::optional<duration> lease_left, bool is_behind, double jitter) noexcept;

/// The same without notifications: the longer it has waited, the more rarely it tries.
duration poll_pause(duration waited, std::optional<duration> lease_left, double jitter) noexcept;

/// The same for one look at all names of this client's waiters.
duration ask_pause(duration waited, bool is_behind, double jitter) noexcept;

/// For how long a caller with `patience` still yields a free name to its waiters: if none of them has taken it, they
/// are dead, or slow. `lease_left`: the rest of the last lease, negative since it ended. Absent: for as long as they
/// wait.
std::optional<duration> yields_for(std::optional<duration> lease_left, duration patience) noexcept;

/// Whether a waiter that sleeps until then would sleep past the end of a lease that was shortened meanwhile.
bool oversleeps(base::instant until, base::instant now, std::optional<duration> lease_left) noexcept;

/// How long to wait after the database could not be reached.
duration error_pause(int failures, double jitter) noexcept;

/// How long to wait before an optimistic transaction is tried again.
duration conflict_pause(int attempts_so_far, double jitter) noexcept;

/// How long the watcher sleeps between two looks at a database that does not push hints.
duration watch_pause(duration quiet_for) noexcept;

/// How long to sleep before asking again for a lock that the operating system does not queue for.
ROWLOCK_EXPORT duration lock_poll_pause(int polls_so_far) noexcept;

/// Decides when a waiting call tries next, from the answers to its attempts. `jitter` is in [0, 1).
class retry_backoff {
 public:
  retry_backoff(base::instant now, base::instant deadline);

  base::instant deadline() const noexcept { return deadline_; }
  base::instant next_try() const noexcept { return next_; }
  bool is_over(base::instant now) const noexcept { return now >= deadline_; }
  duration waited(base::instant now) const noexcept { return now - begin_; }

  struct refusal {
    std::optional<duration> left{};  ///< of the holder's lease; absent: held without a lease, unless
    bool is_free = false;            ///< no client holds it, but others come first
    bool is_behind = false;          ///< others come first
    bool is_shared = false;          ///< held by sharers
    bool is_notified = false;        ///< another source notifies when an attempt may succeed
  };
  void was_refused(const refusal& why, base::instant now, double jitter);
  void failed(const error& e, base::instant now, double jitter);
  /// It is first in its queue now: the time that it waited before does not count for its pauses.
  void begin_again(base::instant now);

  /// Throws the last failure if no attempt was ever answered.
  void throw_if_never_answered() const;
  /// How long the call may take in all, and the last failure, if no answer came since.
  duration given() const noexcept { return deadline_ - begin_; }
  const std::optional<error>& failure() const noexcept { return failure_; }

 private:
  base::instant begin_;
  base::instant since_;
  base::instant deadline_;
  base::instant next_;
  std::optional<error> failure_;
  int failures_ = 0;
  bool has_answer_ = false;
};

/// A ticket is deleted when its waiter has been dead for so long: a waiter that was only stopped keeps its place until
/// then.
inline constexpr duration ticket_retention = std::chrono::minutes{1};

/// Another sweeper takes over so long after one has died.
inline constexpr duration sweeper_lease = std::chrono::seconds{30};

/// How many rows the first step of a sweep looks at: the speed of the database is not known yet.
std::size_t first_rows(std::size_t most) noexcept;

/// How many rows the next step looks at, after a step of this cost: as many as keep it short.
std::size_t next_rows(std::size_t rows, duration cost, std::size_t most) noexcept;

/// How long to leave the database to other clients after a step of this cost.
duration sweep_pause(duration cost) noexcept;

/// From one sweep to the next. `jitter` in [0, 1).
duration sweep_interval(duration every, double jitter) noexcept;

/// To the first. `jitter` in [0, 1).
duration first_sweep(duration every, double jitter) noexcept;

}  // namespace rowlock::inline v1::core
