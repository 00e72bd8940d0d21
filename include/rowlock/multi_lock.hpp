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

/// A lock on several names at once, through clients of one database or of different ones.
///
/// A call acquires all names or none. It acquires them in the given order. If one is refused, the call releases those
/// that it holds, waits for the refused name while it holds nothing, and then tries the others. So it never waits while
/// it holds a lock, and no two calls wait for each other for ever, whatever the order of their names. (Similar:
/// Redisson's RedissonMultiLock.)
///
/// Every one of the databases has to answer. For locks that survive the loss of some databases, see quorum_lock.
///
/// Threads: any thread may use it, several at once.
///
/// Lifetime: the clients must outlive its calls. The handles that it returns may outlive both.
class ROWLOCK_EXPORT multi_lock {
 public:
  /// One of the locks: a name and the client that locks it.
  struct part {
    std::reference_wrapper<rowlock::client> client;  ///< The client that locks it; it must outlive the calls.
    lock_name name;                                  ///< The name to lock.
  };

  /// Makes a lock on these parts; sends nothing to a database. The options apply to each of them.
  ///
  /// Throws:
  /// - errc::invalid_option: `parts` is empty or has a name twice on one client, or an option is not allowed
  /// - errc::unsupported: at_least is set, because a name that the call has to release would stay taken
  ///
  /// \warning Two clients of one database count as two. If both are given the same name, the lock is never granted.
  explicit multi_lock(std::vector<part> parts, lock_options options = {});
  multi_lock(const multi_lock&) = delete;
  multi_lock& operator=(const multi_lock&) = delete;
  ~multi_lock();

  /// Waits without a time limit for all names and returns their owning handle, in the given order.
  ///
  /// With fairness::fifo the call queues for the name that it waits for, and passes no earlier waiter for the other
  /// names.
  ///
  /// The wait for one name survives lost connections, as that of client::acquire() does. If the attempt for another
  /// name throws, the call releases the rest and throws the same. Throws errc::cancelled if `stop` is requested.
  [[nodiscard]] held_set acquire(std::stop_token stop = {});
  /// Tries each name once, in the given order; nullopt means that one is taken and none is held.
  [[nodiscard]] std::optional<held_set> try_acquire();
  /// Waits for at most `wait`; nullopt means that not all were granted in time, or that `stop` was requested.
  ///
  /// Zero and less try once; std::chrono::hours::max() means no deadline. If a database does not answer, the call may
  /// return late by call_timeout.
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
