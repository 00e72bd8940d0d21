#pragma once

#include <rowlock/error.hpp>

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/alarm.hpp"
#include "driver/backend.hpp"
#include "driver/session.hpp"
#include "engine/queue/wakeup_source.hpp"

namespace rowlock::inline v1::engine {

/// Listens on a connection of its own. Opened by the first waiter, and again when it breaks.
///
///   connecting --open, ring, and the ring is heard--> live --the connection ends--> connecting
///              --it cannot work here--> unavailable, and tried again later
class listening_source : public wakeup_source {
 protected:
  /// `complaint` begins the sentence that warns of it, and the cause follows.
  listening_source(duration longest_call, std::string complaint)
      : longest_call_{longest_call}, complaint_{std::move(complaint)} {}

  duration longest_call() const noexcept { return longest_call_; }
  driver::limits limits(const std::stop_token& stop) const;
  void goes_live();
  void goes_quiet() noexcept;

 private:
  void watch(const std::stop_token& stop) final;
  void failed(const std::exception& why) noexcept final;
  duration recovery(int failures) const noexcept final;

  /// As watch().
  virtual void listen(const std::stop_token& stop) = 0;
  /// It is live. What was sent before is not known: hints all.
  virtual void began() = 0;
  /// It is not live any more, or not yet.
  virtual void ended() noexcept = 0;
  /// Called once.
  virtual void warn(const std::string& sentence) = 0;
  /// It is not live while somebody waits; once until it is.
  virtual void polling(const error& why) noexcept = 0;

  void report(const std::string& why);

  const duration longest_call_;
  const std::string complaint_;
  // Of its thread:
  bool is_available_ = true;
  bool was_reported_ = false;
  std::optional<base::instant> down_since_{};
};

/// Listens for names that this client may have now. It cannot work where a pooler is in between, such as PgBouncer.
class notify_listener : public listening_source {
 public:
  explicit notify_listener(duration longest_call)
      : listening_source{longest_call, "LISTEN cannot be used, so waiting clients poll the server: "} {}

 private:
  void listen(const std::stop_token& stop) final;
  void interrupt() noexcept final { alarm_.arm(base::instant::min()); }

  virtual std::unique_ptr<driver::listener> open(const driver::limits& until) = 0;
  /// Notifies this client itself, on another connection.
  virtual void ring(const driver::limits& until) = 0;
  virtual void heard(const std::string& name) = 0;

  void check(driver::listener& line, const std::stop_token& stop);
  bool take_in(driver::listener& line);
  void attend(driver::listener& line, const std::stop_token& stop);

  base::alarm alarm_;
};

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
