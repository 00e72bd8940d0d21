#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <rowlock/async.hpp>
#include <rowlock/duration.hpp>
#include <rowlock/export.hpp>
#include <rowlock/held_lock.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/options.hpp>

namespace rowlock::inline v1 {

class client;

/// A distributed semaphore: a name with a limited number of permits for all hosts together.
///
/// The calls are those of std::counting_semaphore, but they return a handle that gives its permits back at the end of
/// its scope. The handle is a lease: if a holder dies, its permits come back when its lease ends. (Similar: Redisson's
/// RPermitExpirableSemaphore, Curator's InterProcessSemaphoreV2, `consul lock -n`.)
///
/// The number of permits is not stored in the database. It is a condition of each call: when the call is granted, no
/// more than `permits` are given out. If two semaphores have the same name and different numbers, each applies its own
/// number. A holder that shares the name by client::acquire_shared() counts as one permit. While permits are given out,
/// no client can hold the name exclusively.
///
/// With fairness::fifo waiters are served in their order: a waiter for many permits is not passed by later waiters for
/// few. Without it, such a waiter may be passed until it has waited for 100 ms, but not after that.
///
/// Threads: any thread may use it, several at once.
///
/// Lifetime: a semaphore may outlive its client; its calls then throw errc::client_closed.
class ROWLOCK_EXPORT semaphore {
 public:
  /// Returns the greatest number of permits that a semaphore can have.
  static constexpr std::int64_t max() noexcept { return 1'000'000'000'000; }

  /// Makes a semaphore; sends nothing to the database.
  ///
  /// Throws error{errc::invalid_option} if `permits` is less than 1 or more than max(), or if lock_options::as is set,
  /// because each handle owns permits of its own. Throws errc::unsupported for what client::acquire_shared() refuses,
  /// and errc::client_closed if the client was moved from.
  semaphore(client& from, lock_name name, std::int64_t permits, lock_options options = {});
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;
  ~semaphore();

  /// Waits without a time limit for `number` permits and returns them in one handle, all at once.
  ///
  /// The wait ends as that of client::acquire() does. Throws errc::invalid_option if `number` is less than 1 or more
  /// than permits().
  [[nodiscard]] held_lock acquire(std::int64_t number = 1, std::stop_token stop = {});
  /// Tries once to acquire `number` permits; nullopt means that too few are free, or that others wait for them.
  [[nodiscard]] std::optional<held_lock> try_acquire(std::int64_t number = 1);
  /// Waits for at most `wait` for `number` permits; otherwise as client::try_acquire_for().
  template <class Rep, class Period>
  [[nodiscard]] std::optional<held_lock> try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                                                         std::int64_t number = 1, std::stop_token stop = {}) {
    return try_acquire_for_(detail::saturate(wait), number, std::move(stop));
  }
  /// Waits until the time `t` for `number` permits; otherwise as client::try_acquire_until().
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<held_lock> try_acquire_until(const std::chrono::time_point<Clock, Duration>& t,
                                                           std::int64_t number = 1, std::stop_token stop = {}) {
    return try_acquire_for_(detail::until(t), number, std::move(stop));
  }

  /// The same calls without a thread that waits: see client::acquire_async(). The semaphore may be destroyed once they
  /// were made. Throws errc::invalid_option as acquire() does.
  async_call<held_lock> acquire_async(std::int64_t number = 1, std::stop_token stop = {});
  /// As try_acquire(); see acquire_async().
  async_call<std::optional<held_lock>> try_acquire_async(std::int64_t number = 1);
  /// As try_acquire_for(); see acquire_async().
  template <class Rep, class Period>
  async_call<std::optional<held_lock>> try_acquire_for_async(const std::chrono::duration<Rep, Period>& wait,
                                                             std::int64_t number = 1, std::stop_token stop = {}) {
    return acquire_async_(detail::saturate(wait), number, std::move(stop));
  }

  /// Returns the name that the semaphore was made with.
  const lock_name& name() const noexcept;
  /// Returns the number of permits that the semaphore was made with.
  std::int64_t permits() const noexcept;

 private:
  std::optional<held_lock> try_acquire_for_(duration wait, std::int64_t number, std::stop_token stop);
  async_call<std::optional<held_lock>> acquire_async_(duration wait, std::int64_t number, std::stop_token stop);
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
