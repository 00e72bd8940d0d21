#pragma once

#include <rowlock/export.hpp>

#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "core/time.hpp"
#include "driver/boot_timer.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

/// Ends calls that overstay their limits, whatever the server or the network does: it shuts the socket down, and what
/// blocks on it returns. One thread, started when first needed, serves all sessions of a database.
///
///   of a call:  under way --its deadline, or a grace after stop--> cut
///               either ----end()---------------------------------> forgotten: never cut after that
class ROWLOCK_EXPORT line_cutter {
 public:
  /// How long a server that is asked to stop may still take to answer by itself: most do, and the connection is saved.
  static constexpr duration grace = std::chrono::milliseconds{30};

  enum class reason : std::uint8_t { none, deadline, stop };

  line_cutter() = default;
  line_cutter(const line_cutter&) = delete;
  line_cutter& operator=(const line_cutter&) = delete;
  ~line_cutter();

  /// One call, from its construction to end(). The descriptor must be the caller's own, so that nobody else closes it
  /// and its number cannot come to mean another socket.
  class call {
   public:
    call(line_cutter& by, int descriptor, const limits& until);
    call(const call&) = delete;
    call& operator=(const call&) = delete;
    ~call() { end(); }

    /// Why it was cut, if it was; from now on it is not.
    reason end() noexcept;

   private:
    friend class line_cutter;
    struct hurry {
      call* self;
      void operator()() const noexcept { self->by_.hurry(*self); }
    };

    line_cutter& by_;
    const int descriptor_;
    // Guarded by the cutter's mutex.
    core::instant cut_at_;
    reason why_ = reason::deadline;
    reason cut_ = reason::none;
    call* before_ = nullptr;
    call* after_ = nullptr;
    bool is_listed_ = false;

    std::optional<std::stop_callback<hurry>> on_stop_;
  };

 private:
  void add(call& c);
  void remove(call& c) noexcept;
  void hurry(call& c) noexcept;
  void arm(core::instant t) noexcept;
  void watch(const std::stop_token& stop) noexcept;
  core::instant cut_overdue() noexcept;

  boot_timer timer_;
  std::mutex mutex_;
  // Guarded by it:
  call* first_ = nullptr;
  core::instant armed_ = core::instant::max();  // when the thread wakes next
  std::jthread thread_;
};

}  // namespace rowlock::inline v1::driver
