#pragma once

#include <rowlock/error.hpp>

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "driver/backend.hpp"
#include "driver/session.hpp"
#include "engine/queue/wakeup_source.hpp"

namespace rowlock::inline v1::engine {

/// Waits on a listener for notifications from other clients. Opened by the first waiter, and again when it breaks.
///
///   connecting --open, ring, and the ring is heard--> live --the connection ends--> connecting
///              --it cannot work here--> unavailable, and tried again later
class listening_source : public wakeup_source {
 public:
  /// `how`: notified or woken. A wake-up between two waits of a listener is lost, so a look at the queues follows soon
  /// after each of its waits has begun.
  listening_source(driver::foreign_news how, duration longest_call) : how_{how}, longest_call_{longest_call} {}

 private:
  void watch(const std::stop_token& stop) final;
  void failed(const std::exception& why) noexcept final;
  duration recovery(int failures) const noexcept final;
  void interrupt() noexcept final;

  virtual std::unique_ptr<driver::listener> open(const driver::limits& until) = 0;
  /// Notifies or wakes this client itself, on another connection.
  virtual void ring(const driver::limits& until) = 0;
  /// This client may be able to acquire this name now.
  virtual void heard(const std::string& name) = 0;
  /// This client may be able to acquire some name now.
  virtual void woken(const driver::limits& until) = 0;
  /// If it is woken: it is about to sleep. Waiters whose turn came since the last sleep must be found soon after this.
  virtual void falls_asleep() noexcept = 0;
  /// It is live. Earlier notifications are not known, so it hints all waiters.
  virtual void began() = 0;
  /// It is not live any more, or not yet.
  virtual void ended() noexcept = 0;
  /// Called once.
  virtual void warn(const std::string& sentence) = 0;
  /// It is not live although a client waits; once until it is.
  virtual void polling(const error& why) noexcept = 0;

  driver::limits limits(const std::stop_token& stop) const;
  bool loses_what_comes_between() const noexcept { return how_ == driver::foreign_news::woken; }
  void check(driver::listener& line, const std::stop_token& stop);
  bool hears_a_ring(driver::listener& line, base::instant until, const std::stop_token& stop);
  std::vector<std::string> wait(driver::listener& line, base::instant until, const std::stop_token& stop);
  bool take_in(const std::vector<std::string>& names);
  void report(const std::string& why);

  const driver::foreign_news how_;
  const duration longest_call_;
  std::atomic<bool> is_asleep_{false};
  // Of its thread:
  bool is_available_ = true;
  bool was_reported_ = false;
  std::optional<base::instant> down_since_{};
};

}  // namespace rowlock::inline v1::engine
