#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <rowlock/client.hpp>
#include <rowlock/duration.hpp>
#include <rowlock/export.hpp>

namespace rowlock::inline v1 {

/// How a sweeper works. The order of the members is part of the interface: designators follow it.
struct sweeper_options {
  /// From one sweep to the next, give or take a quarter at random, so that many do not begin at once: 1 s to 1 day.
  duration every = std::chrono::seconds{30};
  /// A row goes when nobody has held its name for so long: at least 1 min and at most 365 days, and longer than any
  /// client of this database may take for one call. What is deleted sooner could let a statement that is late insert it
  /// with an old token.
  duration retention = std::chrono::hours{1};
  /// At most so many rows are looked at, and deleted, by one statement: 1 to 10,000. Where that takes long they are
  /// fewer.
  std::size_t batch = 1000;
};

/// What a sweeper has done since it was made.
struct sweeper_statistics {
  std::uint64_t sweeps = 0;     ///< that came to the end of the tables
  std::uint64_t stand_bys = 0;  ///< times it was due and another sweeper was at work
  std::uint64_t failures = 0;   ///< sweeps that an error ended
  std::uint64_t rows = 0;       ///< deleted, of names that nobody used any more
  std::uint64_t tickets = 0;    ///< deleted, of waiters that had died
  std::uint64_t announced = 0;  ///< names that were told to be free to whoever waited for them
  duration longest_call{};      ///< that one call to the database took
};

/// A maintenance thread: deletes rows of names that nobody has held for the retention and tickets of waiters that have
/// died, and tells those who wait for a name whose holder has vanished. It is housekeeping: nothing is wrong where none
/// runs, but tables grow with every new name.
///
/// Any number may run, in any number of processes: one of them has the lock "rowlock:sweeper" and sweeps, the others
/// stand by and take over if it dies. It goes through the tables in small steps with pauses in between and waits for no
/// row that somebody has locked. What the database refuses is told to client_options::observer (events::sweep_failed),
/// and the next sweep tries again.
///
/// Threads: any. Lifetime: it may outlive its client; when the client is closed it stops. After fork() it is inert in
/// the child.
class [[nodiscard]] ROWLOCK_EXPORT sweeper {
 public:
  /// Starts the thread, which sweeps first within `every`. Throws invalid_option, client_closed, used_after_fork.
  explicit sweeper(client& of, sweeper_options options = {});
  sweeper(const sweeper&) = delete;
  sweeper& operator=(const sweeper&) = delete;
  /// stop()
  ~sweeper();

  /// Sweeps now, in this thread, and gives the number of rows and tickets deleted. 0 where another sweeper is at work,
  /// which statistics().stand_bys tells from nothing to do. Waits for a sweep of the own thread. Ends early, without an
  /// error, where stop() is called. Throws what the database says, and client_closed.
  std::size_t sweep_once();

  /// As of now; during a sweep too.
  [[nodiscard]] sweeper_statistics statistics() const;

  /// Ends the thread, and a sweep that is under way, within 100 ms. Idempotent.
  void stop() noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rowlock::inline v1
