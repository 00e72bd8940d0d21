#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

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

/// A histogram of durations.
struct histogram {
  /// The upper limit of each bucket but the last, which has none; ascending.
  static constexpr std::array<duration, 21> bounds{
      std::chrono::microseconds{100}, std::chrono::microseconds{250},  std::chrono::microseconds{500},
      std::chrono::milliseconds{1},   std::chrono::microseconds{2500}, std::chrono::milliseconds{5},
      std::chrono::milliseconds{10},  std::chrono::milliseconds{25},   std::chrono::milliseconds{50},
      std::chrono::milliseconds{100}, std::chrono::milliseconds{250},  std::chrono::milliseconds{500},
      std::chrono::seconds{1},        std::chrono::milliseconds{2500}, std::chrono::seconds{5},
      std::chrono::seconds{10},       std::chrono::seconds{30},        std::chrono::minutes{1},
      std::chrono::minutes{5},        std::chrono::minutes{30},        std::chrono::hours{2}};
  std::array<std::uint64_t, bounds.size() + 1> counts{};  ///< The number of durations in each bucket alone.
  duration sum{};                                         ///< The sum of all durations.
};

/// Counters of one client for one strategy.
///
/// Each call that asks for a lock is counted once, in acquired, busy, cancelled or failed. If a holder acquires again a
/// lock that it holds, the call is not counted. Each acquired lock is released, lost, or still held.
struct strategy_statistics {
  rowlock::strategy strategy{};  ///< The strategy that the calls asked for.
  std::uint64_t acquired = 0;    ///< Calls that were granted the lock.
  std::uint64_t busy = 0;        ///< Calls that were not granted the lock in time.
  std::uint64_t cancelled = 0;   ///< Calls that a stop_token ended.
  std::uint64_t failed = 0;      ///< Calls that an error ended.
  std::uint64_t released = 0;    ///< Locks released by their holders.
  std::uint64_t lost = 0;        ///< Locks lost while they were held, for any reason.
  histogram waits{};             ///< Times from the call to the grant, of the acquired locks.
  histogram holds{};             ///< Times for which locks were held that were released or lost.
};

/// The number of locks that were lost for one reason.
struct loss_statistics {
  loss_reason reason{};    ///< The reason; never none.
  std::uint64_t lost = 0;  ///< Locks lost for this reason, with any strategy.
};

/// The number of calls to the database that failed with one code.
struct error_statistics {
  errc code{};                 ///< The code that was thrown or reported to the observer.
  std::uint64_t failures = 0;  ///< Failed calls; each repetition counts.
};

/// The durations of calls to the database of one kind.
struct statement_statistics {
  std::string operation{};  ///< The kind, in a few words such as "acquiring".
  histogram took{};         ///< The duration of each call, failed ones included.
};

/// Counters of what a client has done since it connected, and gauges of what it is doing.
///
/// For locks in the caller's transaction (lock_in), only the statements on the client's own connections are counted.
/// The lock that elects the active sweeper ("rowlock:sweeper") is not counted.
struct client_statistics {
  std::vector<strategy_statistics> strategies{};   ///< One entry for each strategy.
  std::vector<loss_statistics> losses{};           ///< One entry for each reason.
  std::vector<error_statistics> errors{};          ///< Failed calls to the database; only codes that occurred.
  std::vector<statement_statistics> statements{};  ///< Calls to the database; only kinds that occurred.
  std::uint64_t handovers = 0;                     ///< Acquired locks that one of its threads handed over to another.
  std::uint64_t renewals = 0;                      ///< Renewals that were answered; see events::renewed.
  std::uint64_t renewal_failures = 0;              ///< Renewals without an answer; see events::renewal_failed.
  std::uint64_t release_failures = 0;              ///< Failed releases that no exception could report.
  std::uint64_t reconnects = 0;                    ///< Connections that were opened after one had been lost.
  std::uint64_t polling_fallbacks = 0;  ///< Times that the client began to poll for releases; see events::polling.
  std::uint64_t sweeps = 0;             ///< Sweeps of this client's sweepers that reached the end of the tables.
  std::uint64_t swept_rows = 0;         ///< Rows deleted by its sweepers.
  std::uint64_t swept_tickets = 0;      ///< Tickets deleted by its sweepers.
  std::uint64_t swept_runs = 0;         ///< Runs of jobs deleted by its sweepers.
  std::uint64_t dropped_events = 0;     ///< Events dropped because the observer was too slow.
  // As of now:
  duration quarantine{};               ///< Time until the end of the quarantine that is on; zero: none is on.
  std::size_t held = 0;                ///< Locks that are held now.
  std::size_t waiting = 0;             ///< Calls that ask for a lock now.
  std::size_t connections = 0;         ///< Connections for statements that are open now.
  std::size_t connections_in_use = 0;  ///< Open connections that are in use.
  std::size_t held_transactions = 0;   ///< Connections that for_update locks keep now.
};

/// The numbers of names, locks and waiters of all clients in the database.
struct database_statistics {
  std::uint64_t names = 0;  ///< Rows of the lock table, held or not.
  std::uint64_t held = 0;   ///< Locks that are held, by lease or by transaction.
  /// Held locks that a transaction holds; callers' transactions on SQLite are not visible.
  std::uint64_t held_by_transaction = 0;
  std::uint64_t waiters = 0;               ///< Waiters that are alive.
  std::optional<duration> longest_hold{};  ///< The time since the oldest grant; absent: no lock is held.
  std::optional<duration> longest_wait{};  ///< The longest wait so far; absent: no client waits.
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
