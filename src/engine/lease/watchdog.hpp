#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/alarm.hpp"
#include "engine/lease/lock_registry.hpp"
#include "engine/lease/loss_notifier.hpp"

namespace rowlock::inline v1::engine {

/// The thread that fires lost(). It never talks to a database, so that a hanging call cannot hold it up, and runs no
/// callback of the user, so that one that lasts cannot either. All locks that are due are marked as lost before the
/// first callback runs.
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
  /// A deadline has come nearer, or there is a new one.
  void arm(base::instant deadline) noexcept { alarm_.arm(deadline); }

  /// Fires what others found lost. Returns at once.
  void fire(std::vector<lease_ptr> lost);
  /// Returns when the callbacks have run, at the latest at `until`.
  void fire_and_wait(std::vector<lease_ptr> lost, base::instant until);

  /// What was lost before is fired.
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
