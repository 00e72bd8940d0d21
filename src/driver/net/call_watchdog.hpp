#pragma once

#include <rowlock/export.hpp>

#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "base/alarm.hpp"
#include "base/time.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

/// Ends calls that exceed their limits, whatever the server or the network does: it shuts the socket down, and a call
/// that blocks on it returns. One thread, started when it is first needed, serves all sessions of a database.
///
///   of a call:  under way --its deadline, or a grace after stop--> cut
///               either ----end()---------------------------------> forgotten: never cut after that
class ROWLOCK_EXPORT call_watchdog {
 public:
  /// How long a call may still take after a stop was requested: most calls end in this time, and keep the connection.
  static constexpr duration grace = std::chrono::milliseconds{30};

  enum class reason : std::uint8_t { none, deadline, stop };

  call_watchdog() = default;
  call_watchdog(const call_watchdog&) = delete;
  call_watchdog& operator=(const call_watchdog&) = delete;
  ~call_watchdog();

  /// One call, from its construction to end(). The descriptor must belong to the caller alone, so that no other code
  /// closes it and its number cannot become that of another socket.
  class call {
   public:
    call(call_watchdog& by, int descriptor, const limits& until);
    call(const call&) = delete;
    call& operator=(const call&) = delete;
    ~call() { end(); }

    /// Answers why the call was cut, if it was. After end() it is not cut.
    reason end() noexcept;

   private:
    friend class call_watchdog;
    struct on_stop {
      call* self;
      void operator()() const noexcept { self->by_.cut_after_grace(*self); }
    };

    call_watchdog& by_;
    const int descriptor_;
    // Guarded by the watchdog's mutex.
    base::instant cut_at_;
    reason why_ = reason::deadline;
    reason cut_ = reason::none;
    call* before_ = nullptr;
    call* after_ = nullptr;
    bool is_listed_ = false;

    std::optional<std::stop_callback<on_stop>> on_stop_;
  };

 private:
  void add(call& c);
  void remove(call& c) noexcept;
  void cut_after_grace(call& c) noexcept;
  void arm(base::instant t) noexcept;
  void watch(const std::stop_token& stop) noexcept;
  base::instant cut_overdue() noexcept;

  base::boot_timer timer_;
  std::mutex mutex_;
  // Guarded by it:
  call* first_ = nullptr;
  base::instant armed_ = base::instant::max();  // when the thread wakes next
  std::jthread thread_;
};

}  // namespace rowlock::inline v1::driver
