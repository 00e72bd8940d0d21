#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <rowlock/duration.hpp>
#include <rowlock/export.hpp>
#include <rowlock/held_lock.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/options.hpp>

namespace rowlock::inline v1 {

class client;

/// A distributed semaphore: at most so many permits of a name are given out at once, on all hosts together.
///
/// The calls are those of std::counting_semaphore, but what is acquired is a handle, which gives its permits back at
/// the end of its scope. It is a lease: a holder that dies gives them back when its lease ends. (Redisson:
/// RPermitExpirableSemaphore; Curator: InterProcessSemaphoreV2; `consul lock -n`.)
///
/// The number of permits is not kept in the database. It is a condition of each call: no more than `permits` are given
/// out when that is granted. Two semaphores with the same name and different numbers each keep to their own. Whoever
/// shares the name by client::acquire_shared() counts as one permit, and nobody has the name alone meanwhile.
///
/// With fairness::fifo waiters are served in their order: one that wants many permits is not passed by those who want
/// few. Otherwise it may be passed, but not once it has waited for 100 ms.
///
/// Threads: any thread may use it, several at once.
///
/// Lifetime: it may outlive its client; its calls then throw errc::client_closed.
class ROWLOCK_EXPORT semaphore {
 public:
  /// Returns how many permits a semaphore can have.
  static constexpr std::int64_t max() noexcept { return 1'000'000'000'000; }

  /// Makes a semaphore; sends nothing to the database.
  ///
  /// Throws error{errc::invalid_option} if `permits` is less than 1 or more than max(), or lock_options::as is set:
  /// each handle has permits of its own. Throws errc::unsupported for what client::acquire_shared() refuses, and
  /// errc::client_closed if the client was moved from.
  semaphore(client& from, lock_name name, std::int64_t permits, lock_options options = {});
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;
  ~semaphore();

  /// Waits without a time limit for `number` permits, and returns them in one handle: all at once, or none.
  ///
  /// Ends as client::acquire() does. Throws errc::invalid_option if `number` is less than 1 or more than there are.
  [[nodiscard]] held_lock acquire(std::int64_t number = 1, std::stop_token stop = {});
  /// Tries once; nullopt: there are not so many permits, or others wait for them.
  [[nodiscard]] std::optional<held_lock> try_acquire(std::int64_t number = 1);
  /// Waits for at most `wait`; otherwise as client::try_acquire_for().
  template <class Rep, class Period>
  [[nodiscard]] std::optional<held_lock> try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                                                         std::int64_t number = 1, std::stop_token stop = {}) {
    return try_acquire_for_(detail::saturate(wait), number, std::move(stop));
  }
  /// Waits until the time `t`; otherwise as client::try_acquire_until().
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<held_lock> try_acquire_until(const std::chrono::time_point<Clock, Duration>& t,
                                                           std::int64_t number = 1, std::stop_token stop = {}) {
    return try_acquire_for_(detail::until(t), number, std::move(stop));
  }

  /// Returns the name that the semaphore was made with.
  const lock_name& name() const noexcept;
  /// Returns the number of permits that it was made with.
  std::int64_t permits() const noexcept;

 private:
  std::optional<held_lock> try_acquire_for_(duration wait, std::int64_t number, std::stop_token stop);
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
