#pragma once

#include <atomic>
#include <memory>

#include "driver/backend.hpp"
#include "engine/queue/listening_source.hpp"

namespace rowlock::inline v1::engine {

/// Sleeps in the database until another client wakes it. That says no name, and is lost between two sleeps, so a look
/// at the queues follows soon after each sleep has begun. It cannot work where a pooler is in between, where clients
/// are on different nodes, or without user-level locks.
class sleep_listener : public listening_source {
 public:
  explicit sleep_listener(duration longest_call)
      : listening_source{longest_call, "no connection can be woken here, so waiting clients poll the server: "} {}

  /// After which it sleeps anew, so that it learns that the server has gone; or ends, if nobody has waited meanwhile.
  static constexpr duration longest_sleep = std::chrono::seconds{10};

 private:
  void listen(const std::stop_token& stop) final;
  void interrupt() noexcept final;

  virtual std::unique_ptr<driver::sleeping_listener> open(const driver::limits& until) = 0;
  /// Wakes this client itself, on another connection.
  virtual void ring(const driver::limits& until) = 0;
  /// It was woken: somebody here may go.
  virtual void woken(const driver::limits& until) = 0;
  /// It is about to sleep. Those who may go since the last sleep must be found soon after this.
  virtual void falls_asleep() noexcept = 0;

  void check(driver::sleeping_listener& line, const std::stop_token& stop);
  bool is_woken_by_ring(driver::sleeping_listener& line, const std::stop_token& stop);
  bool sleep(driver::sleeping_listener& line, duration longest, const std::stop_token& stop);

  std::atomic<bool> is_asleep_{false};
};

}  // namespace rowlock::inline v1::engine
