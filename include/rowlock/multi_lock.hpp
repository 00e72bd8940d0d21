#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include <rowlock/client.hpp>
#include <rowlock/duration.hpp>
#include <rowlock/export.hpp>
#include <rowlock/held_set.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/options.hpp>

namespace rowlock::inline v1 {

/// Several names that are had together, over clients of one database or of different ones.
///
/// All or nothing: a call takes the names in the order given, and one that it is refused makes it let go of those that
/// it has. It then waits for that one, holding nothing, and tries the others after it. So it never waits while it
/// holds, and no two calls wait for each other for ever, in whichever order they name the same locks. (Redisson:
/// RedissonMultiLock.)
///
/// Every one of the databases has to answer. For locks that outlive the loss of some, see quorum_lock.
///
/// Threads: any thread may use it, several at once.
///
/// Lifetime: the clients must outlive its calls. What it answers may outlive both.
class ROWLOCK_EXPORT multi_lock {
 public:
  /// One of the locks: which name, through which client.
  struct part {
    std::reference_wrapper<rowlock::client> client;  ///< Through which; it must outlive the calls.
    lock_name name;                                  ///< Which name.
  };

  /// Makes a lock of these; sends nothing to a database. The options are those of each of them.
  ///
  /// Throws:
  /// - errc::invalid_option: `parts` is empty or has a name twice on one client, or an option is not allowed
  /// - errc::unsupported: at_least, with which a name that it lets go of would stay taken
  ///
  /// \warning Two clients of one database count as two. If they have the same name, it is never granted.
  explicit multi_lock(std::vector<part> parts, lock_options options = {});
  multi_lock(const multi_lock&) = delete;
  multi_lock& operator=(const multi_lock&) = delete;
  ~multi_lock();

  /// Waits without a time limit until it has all of them, and returns their owning handle, in the order given.
  ///
  /// With fairness::fifo it takes its turn for the one it waits for, and passes nobody who waits for another.
  ///
  /// The wait for one name survives lost connections, as that of client::acquire(). Throws what a try of another name
  /// throws, after it has let go of the rest; errc::cancelled if `stop` is requested.
  [[nodiscard]] held_set acquire(std::stop_token stop = {});
  /// Tries each of them once, in the order given; nullopt: one is taken, and none is held.
  [[nodiscard]] std::optional<held_set> try_acquire();
  /// Waits for at most `wait`; nullopt: they were not had together in time, or `stop` was requested.
  ///
  /// Zero and less try once; std::chrono::hours::max() means no deadline. May return late by call_timeout, if a
  /// database does not answer.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<held_set> try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                                                        std::stop_token stop = {}) {
    return try_acquire_for_(detail::saturate(wait), std::move(stop));
  }

 private:
  std::optional<held_set> try_acquire_for_(duration wait, std::stop_token stop);
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
