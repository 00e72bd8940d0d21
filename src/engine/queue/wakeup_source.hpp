#pragma once

#include <rowlock/error.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "base/guarded.hpp"
#include "base/time.hpp"

namespace rowlock::inline v1::engine {

/// Learns, while a client waits, that other clients may have released a name. Its thread starts with the first waiter.
///
///   idle --enter()--> starting --set_live(true)--> live: hints can be relied on, apart from the bounded fallback
///   live --watch() throws--> starting, after a pause
class wakeup_source {
 public:
  wakeup_source() = default;
  wakeup_source(const wakeup_source&) = delete;
  wakeup_source& operator=(const wakeup_source&) = delete;
  /// A derived class calls stop() in its destructor.
  virtual ~wakeup_source() = default;

  void enter();
  void leave() noexcept;
  void stop() noexcept;
  bool is_live() const noexcept { return is_live_; }
  /// Whether a waiter is notified when the name is free. `is_marked`: its row says that a client waits.
  virtual bool notifies(bool /*is_marked*/) const noexcept { return is_live_; }
  /// The next look may be due sooner than before.
  virtual void look_sooner() noexcept {}

 protected:
  /// Works until it is stopped, or throws: then it is called again.
  virtual void watch(const std::stop_token& stop) = 0;
  /// It threw.
  virtual void failed(const std::exception& /*why*/) noexcept {}
  virtual duration recovery(int failures) const noexcept;
  /// It must stop, and may be waiting elsewhere than in pause().
  virtual void interrupt() noexcept {}

  /// Ends a pause.
  void nudge() noexcept;

  void set_live(bool is) noexcept {
    is_live_ = is;
    if (is) is_polling_ = false;
  }
  bool is_wanted();
  /// Whether a client waits, or has waited since the last call of this function.
  bool was_wanted();
  /// Whether waiters have to poll from now on: true once, until it is live again.
  bool begins_to_poll() { return is_wanted() && !std::exchange(is_polling_, true); }
  static error as_error(const std::exception& e);
  /// Until `until`, or a nudge. false: no client waits any more, or stop.
  bool pause(base::instant until, const std::stop_token& stop);
  /// While no client waits.
  void rest(const std::stop_token& stop);

 private:
  struct contents {
    std::size_t waiting = 0;
    bool was_wanted = false;
    bool is_nudged = false;
    bool is_stopped = false;
    std::jthread thread;
  };
  void run(const std::stop_token& stop);
  void recover(int failures, const std::stop_token& stop);

  std::atomic<bool> is_live_{false};
  bool is_polling_ = false;  // of its thread
  std::condition_variable_any changed_;
  base::guarded<contents> state_;
};

/// A waiter that receives the hints of all these. If no thread can be started there are none: hints are not needed.
class subscription {
 public:
  using sources = std::vector<std::unique_ptr<wakeup_source>>;
  explicit subscription(const sources& to);
  subscription(const subscription&) = delete;
  subscription& operator=(const subscription&) = delete;
  ~subscription() { leave(); }

 private:
  void leave() noexcept;

  const sources& to_;
  std::size_t entered_ = 0;
};

}  // namespace rowlock::inline v1::engine
