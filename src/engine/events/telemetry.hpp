#pragma once

#include <rowlock/error.hpp>
#include <rowlock/events.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/fork_guard.hpp"
#include "base/time.hpp"
#include "driver/call_times.hpp"
#include "engine/events/counters.hpp"
#include "engine/events/event_dispatcher.hpp"

namespace rowlock::inline v1::engine {

/// What a client tells about itself: events to its observer, and numbers for stats(). Any thread may report; nobody
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
  void odd_rows(const std::vector<std::string>& names) noexcept;

  void close(base::instant deadline) noexcept { dispatcher_.close(deadline); }

 private:
  const base::fork_guard process_;
  counters numbers_;
  driver::call_times calls_;
  event_dispatcher dispatcher_;
};

}  // namespace rowlock::inline v1::engine
