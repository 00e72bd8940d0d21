#pragma once

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

/// A distributed lock with the conventions of std::recursive_timed_mutex, for std::unique_lock, std::scoped_lock (over
/// several) and std::lock. Two mutex objects with one name are the same lock.
///
///     state (of the calling thread)   lock()                unlock()
///     does not have it                waits for it          reported to the observer: not_held
///     has it n times                  has it n + 1 times    n - 1 times; at 0 released
///     has lost it                     waits for it anew     reported to the observer: lock_lost
///
/// "The calling thread" is lock_options::as where that is set. Threads: any. Lifetime: it may outlive its client, and
/// its calls then throw client_closed. On the way down: the destructor releases whatever is held.
///
/// WARNING: std::unique_lock::owns_lock() stays true after a loss. Ask held().lost().
class ROWLOCK_EXPORT mutex {
 public:
  /// Throws error{errc::invalid_option}; sends nothing.
  mutex(client& from, lock_name name, lock_options options = {});
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  ~mutex();

  /// Waits without limit, riding out lost connections. Throws `error`.
  void lock();
  /// false: `stop` fired first.
  bool lock(std::stop_token stop);
  /// false: somebody else has it.
  [[nodiscard]] bool try_lock();
  /// Waits at most that long; zero and less try once, hours::max() has no deadline. Throws where the database gave no
  /// answer in all that time.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
    return try_lock_for_(detail::saturate(wait));
  }
  /// The same, until `t` by its clock, which is read once: if that clock is set meanwhile, the wait is as long.
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& t) {
    return try_lock_for_(detail::until(t));
  }
  /// Never throws; see the state table.
  void unlock() noexcept;

  /// What the calling thread holds through this mutex: for lost(), token() and extend(). Throws not_held if nothing.
  /// Valid until the thread's matching unlock().
  const held_lock& held() const;
  /// What it was made with.
  const lock_name& name() const noexcept;

 private:
  bool try_lock_for_(duration wait);
  struct state;
  std::unique_ptr<state> state_;
};

namespace detail {
/// Cpp17TimedLockable, as far as a concept can say it.
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
