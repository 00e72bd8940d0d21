#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/alarm.hpp"
#include "driver/backend.hpp"
#include "engine/queue/wakeup_source.hpp"

namespace rowlock::inline v1::engine {

/// Listens on a connection of its own for names that this client may have now. Opened by the first waiter, and again
/// when it breaks.
///
///   connecting --open, ring, and the ring is heard--> live --the connection ends--> connecting
///              --not heard: a pooler is in between, such as PgBouncer--> unavailable, and tried again later
class notify_listener : public wakeup_source {
 public:
  explicit notify_listener(duration longest_call) : longest_call_{longest_call} {}

 private:
  void watch(const std::stop_token& stop) final;
  void failed(const std::exception& why) noexcept final;
  duration recovery(int failures) const noexcept final;
  void interrupt() noexcept final { alarm_.arm(base::instant::min()); }

  virtual std::unique_ptr<driver::listener> open(const driver::limits& until) = 0;
  /// Notifies this client itself, on another connection.
  virtual void ring(const driver::limits& until) = 0;
  virtual void heard(const std::string& name) = 0;
  /// It is live. What was sent before is not known: hints all.
  virtual void began() = 0;
  /// It is not live any more, or not yet.
  virtual void ended() noexcept = 0;
  /// Called once.
  virtual void warn(const std::string& sentence) = 0;
  /// It is not live while somebody waits; once until it is.
  virtual void polling(const error& why) noexcept = 0;

  void check(driver::listener& line, const std::stop_token& stop);
  bool take_in(driver::listener& line);
  void attend(driver::listener& line, const std::stop_token& stop);
  void report(const std::string& why);
  driver::limits limits(const std::stop_token& stop) const;

  const duration longest_call_;
  base::alarm alarm_;
  // Of its thread:
  bool is_available_ = true;
  bool was_reported_ = false;
  std::optional<base::instant> down_since_{};
};

}  // namespace rowlock::inline v1::engine
