#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/alarm.hpp"
#include "runtime/holdings.hpp"
#include "runtime/loss_notifier.hpp"

namespace rowlock::inline v1::runtime {

/// The thread that fires lost(). It never talks to a database, so that a hanging call cannot hold it up, and runs no
/// callback of the user, so that one that lasts cannot either. All locks that are due are marked as lost before the
/// first callback runs.
class watchdog {
 public:
  struct hands {
    /// What is to be told of it when lost() has fired; may be empty. It is called under a mutex: it must be quick.
    std::function<std::function<void()>(const acquisition&)> telling;
    /// On the watchdog's thread, when lost() fires, whether or not the callbacks have returned.
    std::function<void(const acquisition_ptr&)> lost;
  };
  watchdog(holdings& watched, hands doing);
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
  ~watchdog() { stop(); }

  void start();
  /// A deadline has come nearer, or there is a new one.
  void arm(core::instant deadline) noexcept { alarm_.arm(deadline); }

  /// Fires what others found lost. Returns at once.
  void fire(std::vector<acquisition_ptr> lost);
  /// Returns when the callbacks have run, at the latest at `until`.
  void fire_and_wait(std::vector<acquisition_ptr> lost, core::instant until);

  /// What was lost before is fired.
  void stop() noexcept;
  /// After that. Returns when the callbacks have returned, at the latest at `until`: then they are left behind.
  void end_callbacks(core::instant until) noexcept { notifier_.close(until); }

 private:
  struct loss {
    acquisition_ptr lock;
    std::shared_ptr<pending_callbacks> waited_for_by{};
  };
  void run(const std::stop_token& stop);
  core::instant overdue(std::vector<loss>& to);
  void post(std::vector<acquisition_ptr> lost, const std::shared_ptr<pending_callbacks>& waited_for_by);
  void fire_all(const std::vector<loss>& some);

  holdings& watched_;
  hands doing_;
  alarm alarm_;
  loss_notifier notifier_;
  guarded<std::vector<loss>> posted_;
  std::jthread thread_;
};

}  // namespace rowlock::inline v1::runtime
