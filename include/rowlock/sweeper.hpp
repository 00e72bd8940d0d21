#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <rowlock/client.hpp>
#include <rowlock/duration.hpp>
#include <rowlock/export.hpp>

namespace rowlock::inline v1 {

/// How a sweeper works.
///
/// The order of the members is part of the interface: designated initializers follow it.
struct sweeper_options {
  /// The time from one sweep to the next: 1 s to 1 day.
  ///
  /// The time varies at random by up to a quarter, so that many sweepers do not start at once.
  duration every = std::chrono::seconds{30};
  /// How long a name must have been unused before its row is deleted: 1 min to 365 days.
  ///
  /// \warning It must be longer than any client of this database may take for one call (client_options). If a row is
  /// deleted sooner, a late statement may insert it again with an old token.
  duration retention = std::chrono::hours{1};
  /// The greatest number of rows that one statement examines and deletes: 1 to 10,000.
  ///
  /// If a statement takes long, the sweeper uses a smaller number.
  std::size_t batch = 1000;
  /// How many of the last runs of each job are kept, however old they are: 0 to 1,000,000.
  std::size_t kept_runs = 100;
  /// How long the runs of a period are kept after its end: 1 to 3,650 days.
  duration run_retention = std::chrono::hours{24} * 400;
};

/// Counters of what a sweeper has done since it was made.
struct sweeper_statistics {
  std::uint64_t sweeps = 0;     ///< Sweeps that reached the end of the tables.
  std::uint64_t stand_bys = 0;  ///< Times that a sweep was due while another sweeper was working.
  std::uint64_t failures = 0;   ///< Sweeps that an error ended.
  std::uint64_t rows = 0;       ///< Deleted rows of unused names.
  std::uint64_t tickets = 0;    ///< Deleted tickets of dead waiters.
  std::uint64_t runs = 0;       ///< Deleted runs of jobs.
  std::uint64_t announced = 0;  ///< Free names whose waiters were notified.
  duration longest_call{};      ///< The longest time that one call to the database took.
};

/// A maintenance thread that deletes the rows of unused names, the tickets of dead waiters and old runs of jobs.
///
/// It also notifies the waiters of a name whose holder has vanished. Sweeping is housekeeping: without a sweeper all
/// guarantees hold, but the tables grow with every new name. (Similar: Curator's Reaper.)
///
/// Any number of sweepers may run, in any number of processes. One of them holds the lock "rowlock:sweeper" and sweeps;
/// the others stand by and take over if it dies. A sweep goes through the tables in small steps with pauses, and never
/// waits for a locked row.
///
/// Errors: if a sweep of the thread fails, client_options::observer receives events::sweep_failed, and the next sweep
/// tries again.
///
/// Threads: any thread may use it, several at once.
///
/// Lifetime: a sweeper may outlive its client; it stops when the client is closed. After fork() it is inert in the
/// child.
///
/// Destruction: the destructor does what stop() does.
class [[nodiscard]] ROWLOCK_EXPORT sweeper {
 public:
  /// Starts the thread, whose first sweep begins within `every`.
  ///
  /// Throws errc::invalid_option, errc::client_closed, errc::used_after_fork.
  explicit sweeper(client& of, sweeper_options options = {});
  sweeper(const sweeper&) = delete;
  sweeper& operator=(const sweeper&) = delete;
  /// Stops the thread, as stop() does.
  ~sweeper();

  /// Sweeps now, in the calling thread, and returns the number of deleted rows, tickets and runs.
  ///
  /// If another sweeper is working, the call returns 0, and statistics().stand_bys grows. The call waits for a sweep of
  /// this sweeper's own thread. If stop() is called, it ends early, without an error. Throws errors that the database
  /// reports, and errc::client_closed.
  std::size_t sweep_once();

  /// Returns the present numbers, also during a sweep.
  [[nodiscard]] sweeper_statistics statistics() const;

  /// Ends the thread, and a sweep that is under way, within 100 ms.
  ///
  /// Idempotent. A sweeper that was stopped does not start again.
  void stop() noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
