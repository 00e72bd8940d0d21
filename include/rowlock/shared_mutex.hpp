#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <chrono>
#include <memory>
#include <stop_token>

#include <rowlock/duration.hpp>
#include <rowlock/export.hpp>
#include <rowlock/held_lock.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/options.hpp>

namespace rowlock::inline v1 {

class client;

/// A distributed mutex that many readers or one writer have, with the conventions of std::shared_timed_mutex.
///
/// Works with std::shared_lock, std::unique_lock and std::scoped_lock. It excludes everything else that takes the same
/// name: see client::acquire_shared(), also for who goes first. (Redisson: RReadWriteLock; Curator:
/// InterProcessReadWriteLock.)
///
/// A thread that has it, shared or alone, may lock it again in the same way, and unlocks it as often; one that has it
/// alone may also share it. lock_options::as, if it is set, is asked in the thread's stead.
///
/// \warning A thread that shares it and locks it alone waits for itself. And as with `mutex`, locks can be lost while a
/// std::shared_lock still says that it owns them: ask held().lost() before you do what must not go wrong.
///
/// Threads: any thread may use it, several at once.
///
/// Lifetime: it may outlive its client; its calls then throw errc::client_closed.
///
/// Destruction: the destructor releases what is held through it.
class ROWLOCK_EXPORT shared_mutex {
 public:
  /// Makes a mutex; sends nothing to the database.
  ///
  /// Throws error{errc::invalid_option}, errc::unsupported for what client::acquire_shared() refuses, and
  /// errc::client_closed if the client was moved from.
  shared_mutex(client& from, lock_name name, lock_options options = {});
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;
  ~shared_mutex();

  void lock();                      ///< Has it alone, as mutex::lock().
  bool lock(std::stop_token stop);  ///< As mutex::lock(); false: it was stopped.
  [[nodiscard]] bool try_lock();    ///< As mutex::try_lock().
  /// As mutex::try_lock_for().
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
    return try_lock_for_(detail::saturate(wait));
  }
  /// As mutex::try_lock_until().
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& t) {
    return try_lock_for_(detail::until(t));
  }
  void unlock() noexcept;  ///< Never throws, but reports failures to the observer.

  void lock_shared();                      ///< Shares it, waiting without a time limit. Throws `error`.
  bool lock_shared(std::stop_token stop);  ///< Shares it unless `stop` is requested first; false: it was.
  [[nodiscard]] bool try_lock_shared();    ///< Tries once; false: somebody has it alone, or waits for that.
  /// Shares it, waiting for at most `wait`; false: it was not granted in time.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& wait) {
    return try_lock_shared_for_(detail::saturate(wait));
  }
  /// Shares it, waiting until the time `t`; false: it was not granted in time.
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& t) {
    return try_lock_shared_for_(detail::until(t));
  }
  void unlock_shared() noexcept;  ///< Never throws, but reports failures to the observer.

  /// Returns the lock that the calling thread has through this mutex: alone, or else shared.
  ///
  /// Valid until the thread's matching unlock. Throws errc::not_held if the thread holds nothing.
  const held_lock& held() const;
  /// Returns the name that the mutex was made with.
  const lock_name& name() const noexcept;

 private:
  bool try_lock_for_(duration wait);
  bool try_lock_shared_for_(duration wait);
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
