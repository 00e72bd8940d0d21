#pragma once

#include <rowlock/error.hpp>
#include <rowlock/events.hpp>
#include <rowlock/loss_reason.hpp>
#include <rowlock/statistics.hpp>
#include <rowlock/strategy.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/histogram.hpp"
#include "base/process.hpp"
#include "base/time.hpp"
#include "driver/session.hpp"
#include "engine/events/event_dispatcher.hpp"

namespace rowlock::inline v1::engine {

/// A client's own numbers. Any thread may count, and none waits for another.
class counters {
 public:
  using number = std::atomic<std::uint64_t>;
  enum class outcome : std::uint8_t { acquired, busy, cancelled, failed };

  void ended(strategy by, outcome how, duration waited) noexcept;
  void released(strategy by, duration held) noexcept;
  void lost(strategy by, loss_reason why, duration held) noexcept;
  void failed(errc code) noexcept;
  static void count(number& what, std::uint64_t times = 1) noexcept {
    what.fetch_add(times, std::memory_order_relaxed);
  }

  number handovers{0};
  number renewals{0};
  number renewal_failures{0};
  number release_failures{0};
  number reconnects{0};
  number polling_fallbacks{0};
  number sweeps{0};
  number swept_rows{0};
  number swept_tickets{0};
  number swept_runs{0};
  std::atomic<std::size_t> waiting{0};  // calls

  /// These numbers; nothing else.
  client_statistics read() const;

 private:
  static constexpr std::size_t kinds = static_cast<std::size_t>(strategy::version_cas) + 1;
  static constexpr std::size_t reasons = static_cast<std::size_t>(loss_reason::forked) + 1;
  static constexpr std::size_t codes = static_cast<std::size_t>(errc::database_error) + 1;
  struct of_strategy {
    std::array<number, 4> outcomes{};
    number released{0};
    number lost{0};
    base::growing_histogram waits;
    base::growing_histogram holds;
  };
  of_strategy& at(strategy by) noexcept { return strategies_.at(static_cast<std::size_t>(by)); }

  std::array<of_strategy, kinds> strategies_;
  std::array<number, reasons> losses_{};
  std::array<number, codes> errors_{};
};

/// A number that only grows: where it is counted, its place in stats(), and its family in OpenMetrics.
struct total {
  counters::number counters::*counted;  ///< nullptr: counted elsewhere
  std::uint64_t client_statistics::*shown;
  std::string_view metric;
  std::string_view help;
};
inline constexpr total totals[] = {
    {&counters::handovers, &client_statistics::handovers, "rowlock_handovers",
     "Locks that were handed over from thread to thread."},
    {&counters::renewals, &client_statistics::renewals, "rowlock_renewals", "Locks that were renewed."},
    {&counters::renewal_failures, &client_statistics::renewal_failures, "rowlock_renewal_failures",
     "Leases that could not be renewed because the database did not answer."},
    {&counters::release_failures, &client_statistics::release_failures, "rowlock_release_failures",
     "Releases that failed without an exception to the caller."},
    {&counters::reconnects, &client_statistics::reconnects, "rowlock_reconnects",
     "Connections that were opened after one had been lost."},
    {&counters::polling_fallbacks, &client_statistics::polling_fallbacks, "rowlock_polling_fallbacks",
     "Times that waiting calls fell back to polling."},
    {&counters::sweeps, &client_statistics::sweeps, "rowlock_sweeps", "Sweeps that reached the end of the tables."},
    {&counters::swept_rows, &client_statistics::swept_rows, "rowlock_swept_rows",
     "Rows of unused names that were deleted."},
    {&counters::swept_tickets, &client_statistics::swept_tickets, "rowlock_swept_tickets",
     "Tickets of dead waiters that were deleted."},
    {&counters::swept_runs, &client_statistics::swept_runs, "rowlock_swept_runs", "Runs of jobs that were deleted."},
    {nullptr, &client_statistics::dropped_events, "rowlock_dropped_events",
     "Events that were dropped because the observer fell behind."}};

/// Counts a call that asks for a lock, and its duration. It has failed unless ends() is called.
class counted_call {
 public:
  counted_call(counters& in, strategy by) noexcept;
  counted_call(const counted_call&) = delete;
  counted_call& operator=(const counted_call&) = delete;
  ~counted_call();

  void ends(counters::outcome how) noexcept { how_ = how; }
  /// A holder reenters what it holds: that is not counted.
  void ends_at_once() noexcept { is_counted_ = false; }
  bool is_counted() const noexcept { return is_counted_; }
  base::instant began() const noexcept { return began_; }
  duration elapsed() const noexcept;

 private:
  counters& in_;
  const strategy by_;
  const base::instant began_;
  counters::outcome how_ = counters::outcome::failed;
  bool is_counted_ = true;
};

/// A client's reports about itself: events to its observer, and numbers for stats(). Any thread may report; none
/// waits for the observer. In the child of a fork nothing is reported.
class telemetry {
 public:
  /// `longest`: how long the destructor waits for the observer, unless close() was called.
  telemetry(event_dispatcher::observer observer, duration longest) : dispatcher_{std::move(observer), longest} {}

  counters& numbers() noexcept { return numbers_; }
  driver::call_times& calls() noexcept { return calls_; }
  std::uint64_t dropped_events() const noexcept { return dispatcher_.dropped(); }

  void report(event e) noexcept;
  void warn(const std::string& sentence) { report({events::warning{sentence}}); }
  /// Reports what `make` returns, if there is an observer for it.
  template <class Make>
  void tell(Make make) noexcept {
    if (dispatcher_.wants_all()) dispatcher_.add({make()});
  }

  /// A call to the database failed. Not reported if the caller or the client ended it.
  void failed(const error& e) noexcept;
  void release_failed(events::release_failed e) noexcept;
  /// Waiters have to poll.
  void polling(const error& why) noexcept;
  void reconnected() noexcept;
  /// Rows whose names are not valid: written by hand, and skipped.
  void invalid_names(const std::vector<std::string>& names) noexcept;

  void close(base::instant deadline) noexcept { dispatcher_.close(deadline); }

 private:
  const base::fork_guard process_;
  counters numbers_;
  driver::call_times calls_;
  event_dispatcher dispatcher_;
};

}  // namespace rowlock::inline v1::engine
