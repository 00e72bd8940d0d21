#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "runtime/alarm.hpp"
#include "runtime/holdings.hpp"

namespace rowlock::inline v1::runtime {

/// The thread that fires lost(). It never talks to a database, so that a hanging call cannot hold it up. All locks that
/// are due are marked as lost before the first callback runs.
class watchdog {
 public:
  /// `lost` is called behind the callbacks of each lock, on the watchdog's thread.
  watchdog(holdings& watched, std::function<void(const acquisition_ptr&)> lost);
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

  void stop() noexcept;

 private:
  struct contents {
    std::vector<acquisition_ptr> to_fire;
    std::uint64_t posted = 0;
    std::uint64_t fired = 0;
  };
  void run(const std::stop_token& stop);
  core::instant overdue(std::vector<acquisition_ptr>& to);
  void fire_posted(const std::vector<acquisition_ptr>& overdue);

  holdings& watched_;
  std::function<void(const acquisition_ptr&)> lost_;
  alarm alarm_;
  std::condition_variable_any done_;
  guarded<contents> state_;
  std::jthread thread_;
};

}  // namespace rowlock::inline v1::runtime
