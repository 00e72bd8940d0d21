#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <chrono>
#include <concepts>
#include <memory>
#include <stop_token>
#include <type_traits>

#include <rowlock/duration.hpp>
#include <rowlock/export.hpp>
#include <rowlock/held_lock.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/options.hpp>

namespace rowlock::inline v1 {

class client;

/// A distributed mutex with the conventions of std::recursive_timed_mutex.
///
/// It works with std::unique_lock, std::scoped_lock (also over several mutexes) and std::lock. Two mutex objects with
/// the same name are the same lock, in every program that uses the same database and table prefix.
///
///     state (of the calling thread)   lock()                  unlock()
///     does not hold it                waits for it            reports not_held to the observer
///     holds it n times                holds it n + 1 times    holds it n - 1 times; at 0 releases it
///     has lost it                     waits for it anew       reports lock_lost to the observer
///
/// If lock_options::as is set, that holder takes the place of the calling thread.
///
/// \warning std::unique_lock::owns_lock() stays true after the lock is lost. Ask held().lost() before each step that
/// must not run without the lock.
///
/// Threads: any thread may use it, several at once.
///
/// Lifetime: a mutex may outlive its client; its calls then throw errc::client_closed.
///
/// Destruction: the destructor releases what is held through it.
class ROWLOCK_EXPORT mutex {
 public:
  /// Makes a mutex; sends nothing to the database.
  ///
  /// Throws error{errc::invalid_option}, and errc::client_closed if the client was moved from.
  mutex(client& from, lock_name name, lock_options options = {});
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  ~mutex();

  /// Locks the mutex, waiting without a time limit.
  ///
  /// The wait survives lost connections and restarts of the server. Throws `error`.
  void lock();
  /// Locks the mutex unless `stop` is requested first; false means that it was.
  bool lock(std::stop_token stop);
  /// Tries once to lock the mutex; false means that another holder holds it.
  [[nodiscard]] bool try_lock();
  /// Locks the mutex, waiting for at most `wait`; false means that it was not granted in time.
  ///
  /// Zero and less try once; std::chrono::hours::max() means no deadline. Throws if the database did not answer at all
  /// in that time; see client::try_acquire_for().
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
    return try_lock_for_(detail::saturate(wait));
  }
  /// Locks the mutex, waiting until the time `t`; false means that it was not granted in time.
  ///
  /// The clock of `t` is read once, at the start. Setting that clock later does not change the length of the wait.
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& t) {
    return try_lock_for_(detail::until(t));
  }
  /// Unlocks the mutex; never throws, but reports failures to the observer.
  ///
  /// See the table of states.
  void unlock() noexcept;

  /// Returns the lock that the calling thread holds through this mutex, for lost(), token() and extend().
  ///
  /// Valid until the thread's matching unlock(). Throws errc::not_held if the thread holds nothing.
  const held_lock& held() const;
  /// Returns the name that the mutex was made with.
  const lock_name& name() const noexcept;

 private:
  bool try_lock_for_(duration wait);
  struct state;
  std::unique_ptr<state> state_;
};

namespace detail {
/// The standard's Cpp17TimedLockable, as far as a concept can express it.
template <class M>
concept timed_lockable = requires(M& m, std::chrono::milliseconds d, std::chrono::steady_clock::time_point s,
                                  std::chrono::system_clock::time_point y) {
  { m.lock() } -> std::same_as<void>;
  { m.try_lock() } -> std::same_as<bool>;
  { m.try_lock_for(d) } -> std::same_as<bool>;
  { m.try_lock_until(s) } -> std::same_as<bool>;
  { m.try_lock_until(y) } -> std::same_as<bool>;
  { m.unlock() }
  noexcept;
};
}  // namespace detail

static_assert(detail::timed_lockable<mutex>);
static_assert(!std::is_move_constructible_v<mutex> && !std::is_copy_constructible_v<mutex>);

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
