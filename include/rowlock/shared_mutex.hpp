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

/// A distributed mutex that many readers or one writer can hold, with the conventions of std::shared_timed_mutex.
///
/// It works with std::shared_lock, std::unique_lock and std::scoped_lock. It excludes every other lock of the same
/// name. client::acquire_shared() documents this, and the order of readers and writers. (Similar: Redisson's
/// RReadWriteLock, Curator's InterProcessReadWriteLock.)
///
/// A thread that holds it, shared or exclusively, may lock it again in the same way, and must unlock it as often. A
/// thread that holds it exclusively may also share it. If lock_options::as is set, that holder takes the place of the
/// thread.
///
/// \warning If a thread shares the mutex and then locks it exclusively, it waits for itself. As with `mutex`, a lock
/// can be lost while a std::shared_lock still says that it owns it: ask held().lost() before each step that must not
/// run without the lock.
///
/// Threads: any thread may use it, several at once.
///
/// Lifetime: a shared_mutex may outlive its client; its calls then throw errc::client_closed.
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

  void lock();                      ///< Locks it exclusively, as mutex::lock() does.
  bool lock(std::stop_token stop);  ///< Locks it exclusively; false: `stop` was requested.
  [[nodiscard]] bool try_lock();    ///< Tries once to lock it exclusively.
  /// Locks it exclusively, as mutex::try_lock_for() does.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
    return try_lock_for_(detail::saturate(wait));
  }
  /// Locks it exclusively, as mutex::try_lock_until() does.
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& t) {
    return try_lock_for_(detail::until(t));
  }
  void unlock() noexcept;  ///< Unlocks it; never throws, but reports failures to the observer.

  void lock_shared();                      ///< Shares it, without a time limit. Throws `error`.
  bool lock_shared(std::stop_token stop);  ///< Shares it; false: `stop` was requested.
  [[nodiscard]] bool try_lock_shared();    ///< Tries once; false: a writer holds it or waits.
  /// Shares it, waiting for at most `wait`; false means that it was not granted in time.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& wait) {
    return try_lock_shared_for_(detail::saturate(wait));
  }
  /// Shares it, waiting until the time `t`; false means that it was not granted in time.
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& t) {
    return try_lock_shared_for_(detail::until(t));
  }
  void unlock_shared() noexcept;  ///< Unlocks it; never throws, but reports failures to the observer.

  /// Returns the lock that the calling thread holds through this mutex: the exclusive one, or otherwise the shared one.
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
