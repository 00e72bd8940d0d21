#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/alarm.hpp"
#include "base/guarded.hpp"
#include "base/time.hpp"
#include "engine/lease/lock_registry.hpp"

namespace rowlock::inline v1::engine {

/// Counts the callbacks that have not returned, for a thread that waits for them.
class pending_callbacks {
 public:
  explicit pending_callbacks(std::size_t number) { *left_.lock() = number; }
  void one_has_returned() noexcept;
  /// Returns when all have returned, at the latest at `until`.
  void wait(base::instant until);

 private:
  std::condition_variable_any none_;
  base::guarded<std::size_t> left_;
};

/// Fires tokens, and with them the callbacks of users, on threads of its own, so that no callback delays another token.
///
///   waiting --a thread takes it--> firing --its callbacks have returned--> gone
///
/// While a token waits, there is a thread that is in no callback and will take it: a thread that is about to fire one
/// of several starts another first. Without slow callbacks two threads fire any number; they end when nothing waits. A
/// thread shares its data, so that it can be left behind in a callback that never returns; it does not use locks and
/// clients, which may be destroyed by then.
class loss_notifier {
 public:
  struct loss {
    std::stop_source token;
    std::function<void()> then{};                        ///< when it has fired, whether or not its callbacks return
    std::shared_ptr<pending_callbacks> waited_for_by{};  ///< nullptr: no thread waits for the callbacks
  };

  loss_notifier();
  loss_notifier(const loss_notifier&) = delete;
  loss_notifier& operator=(const loss_notifier&) = delete;
  ~loss_notifier();

  void fire(std::vector<loss> some);
  /// Calls `then` for losses that have fired and are still in their callbacks; fires those that wait because no thread
  /// could be started. Answers when to call it again.
  base::instant look();
  /// Returns when all callbacks have returned, at the latest at `until`, except the callbacks that call it. `then` is
  /// not called after that; waiting tokens are fired nevertheless.
  void close(base::instant until) noexcept;

 private:
  struct shared;
  static void work(const std::shared_ptr<shared>& with) noexcept;
  static bool ensure_thread(const std::shared_ptr<shared>& with);

  const std::shared_ptr<shared> shared_;
};

/// The thread that fires lost(). It never calls a database, so a hanging call cannot delay it, and runs no callback of
/// the user, so a slow one cannot either. All locks that are due are marked as lost before the first callback runs.
class watchdog {
 public:
  class listener {
   public:
    listener() = default;
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;
    virtual ~listener() = default;
    /// A report to make when lost() has fired; may be empty. It is called under a mutex: it must be quick.
    virtual std::function<void()> report_of(const lease_state& a) = 0;
    /// On the watchdog's thread, when lost() fires, whether or not its callbacks have returned.
    virtual void lost(const lease_ptr& a) = 0;
  };
  watchdog(lock_registry& watched, listener& to) : watched_{watched}, listener_{to} {}
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
  ~watchdog() { stop(); }

  void start();
  /// A deadline has become earlier, or there is a new one.
  void arm(base::instant deadline) noexcept { alarm_.arm(deadline); }

  /// Fires locks that others found lost. Returns at once.
  void fire(std::vector<lease_ptr> lost);
  /// Returns when the callbacks have run, at the latest at `until`.
  void fire_and_wait(std::vector<lease_ptr> lost, base::instant until);

  /// Earlier losses are fired.
  void stop() noexcept;
  /// After that. Returns when the callbacks have returned, at the latest at `until`: then they are left behind.
  void end_callbacks(base::instant until) noexcept { notifier_.close(until); }

 private:
  struct loss {
    lease_ptr lock;
    std::shared_ptr<pending_callbacks> waited_for_by{};
  };
  void run(const std::stop_token& stop);
  base::instant overdue(std::vector<loss>& to);
  void post(std::vector<lease_ptr> lost, const std::shared_ptr<pending_callbacks>& waited_for_by);
  void fire_all(const std::vector<loss>& some);

  lock_registry& watched_;
  listener& listener_;
  base::alarm alarm_;
  loss_notifier notifier_;
  base::guarded<std::vector<loss>> posted_;
  std::jthread thread_;
};

}  // namespace rowlock::inline v1::engine
