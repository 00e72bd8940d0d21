#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <rowlock/duration.hpp>
#include <rowlock/error.hpp>
#include <rowlock/export.hpp>
#include <rowlock/loss_reason.hpp>
#include <rowlock/strategy.hpp>

namespace rowlock::inline v1 {

/// How many durations there were, by their length.
struct histogram {
  /// The longest duration of each bucket but the last, which has no limit; ascending.
  static constexpr std::array<duration, 21> bounds{
      std::chrono::microseconds{100}, std::chrono::microseconds{250},  std::chrono::microseconds{500},
      std::chrono::milliseconds{1},   std::chrono::microseconds{2500}, std::chrono::milliseconds{5},
      std::chrono::milliseconds{10},  std::chrono::milliseconds{25},   std::chrono::milliseconds{50},
      std::chrono::milliseconds{100}, std::chrono::milliseconds{250},  std::chrono::milliseconds{500},
      std::chrono::seconds{1},        std::chrono::milliseconds{2500}, std::chrono::seconds{5},
      std::chrono::seconds{10},       std::chrono::seconds{30},        std::chrono::minutes{1},
      std::chrono::minutes{5},        std::chrono::minutes{30},        std::chrono::hours{2}};
  std::array<std::uint64_t, bounds.size() + 1> counts{};  ///< of each bucket by itself
  duration sum{};                                         ///< of all of them
};

/// What a client has done by one strategy. Each call that asks for a lock ends in one of the first four, but for those
/// by which a holder gets once more what it has: they are not counted. Each lock that was acquired is released, lost,
/// or held still.
struct strategy_statistics {
  rowlock::strategy strategy{};  ///< the one that they asked for
  std::uint64_t acquired = 0;    ///< got
  std::uint64_t busy = 0;        ///< not got in the time there was
  std::uint64_t cancelled = 0;   ///< by a stop_token
  std::uint64_t failed = 0;      ///< ended by an error
  std::uint64_t released = 0;    ///< by their holders
  std::uint64_t lost = 0;        ///< while they were held, for whatever reason
  histogram waits{};             ///< of those that were got
  histogram holds{};             ///< of those that were released or lost
};

/// How many locks were lost for one reason.
struct loss_statistics {
  loss_reason reason{};    ///< any but none
  std::uint64_t lost = 0;  ///< by any strategy
};

/// How many calls to the database have failed in one way.
struct error_statistics {
  errc code{};                 ///< what was thrown, or told to the observer
  std::uint64_t failures = 0;  ///< calls; each repetition counts
};

/// How long calls to the database of one kind took.
struct statement_statistics {
  std::string operation{};  ///< in a word or a few, such as "acquiring"
  histogram took{};         ///< each call to the database, failed ones included
};

/// What a client has done since it was connected, and what it is doing. Of locks in a transaction of the caller's
/// (lock_in), only what is sent over the client's own connections is in here. The lock that sweepers have among
/// themselves is left out.
struct client_statistics {
  std::vector<strategy_statistics> strategies{};   ///< all of them
  std::vector<loss_statistics> losses{};           ///< all reasons
  std::vector<error_statistics> errors{};          ///< of calls to the database; those that have occurred
  std::vector<statement_statistics> statements{};  ///< those that have occurred
  std::uint64_t renewals = 0;                      ///< that were answered; see events::renewed
  std::uint64_t renewal_failures = 0;              ///< for want of an answer; see events::renewal_failed
  std::uint64_t release_failures = 0;              ///< where nobody could be told by an exception
  std::uint64_t reconnects = 0;                    ///< connections that were opened again after one had been lost
  std::uint64_t polling_fallbacks =
      0;                             ///< times that it lost, or did not get, the means by which it is told of releases
  std::uint64_t sweeps = 0;          ///< of this client's sweepers, that came to the end of the tables
  std::uint64_t swept_rows = 0;      ///< that these have deleted
  std::uint64_t swept_tickets = 0;   ///< that these have deleted
  std::uint64_t dropped_events = 0;  ///< that the observer was too slow for
  // Now:
  std::size_t held = 0;                ///< locks
  std::size_t waiting = 0;             ///< calls that ask for a lock
  std::size_t connections = 0;         ///< open, for statements
  std::size_t connections_in_use = 0;  ///< of these
  std::size_t held_transactions = 0;   ///< connections that locks by for_update have
};

/// What is in the database, whoever put it there.
struct database_statistics {
  std::uint64_t names = 0;                 ///< rows of the lock table, whether or not anybody has them
  std::uint64_t held = 0;                  ///< locks, by lease or by transaction
  std::uint64_t held_by_transaction = 0;   ///< of these; of transactions of the caller's on SQLite nothing is known
  std::uint64_t waiters = 0;               ///< that are alive
  std::optional<duration> longest_hold{};  ///< absent: none is held
  std::optional<duration> longest_wait{};  ///< absent: nobody waits
};

}  // namespace rowlock::inline v1
