#pragma once

#include <rowlock/events.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/time.hpp"

namespace rowlock::inline v1::engine {

/// Calls the observer, with one event after the other, on a thread of its own that starts with the first. A reporting
/// thread never waits. Events that are not urgent may be reported 10 ms later.
///
///   open --`most` events wait--> behind: what may be dropped is dropped, until half of them are reported
///   open, behind --close()--> closing: earlier events are reported --> closed: nothing is reported
///                                      --the deadline, or called by the observer--> closed
///
/// The thread shares its data, so that it can be left behind while the observer keeps it busy.
class event_dispatcher {
 public:
  using observer = std::function<void(const event&)>;
  static constexpr std::size_t most = 10'000;
  /// Failures of calls are kept for longer.
  static constexpr std::size_t most_failures = 2 * most;

  /// Without an observer, events for people go to std::clog. `longest` is how long the destructor waits if close() was
  /// not called.
  event_dispatcher(observer o, duration longest);
  event_dispatcher(const event_dispatcher&) = delete;
  event_dispatcher& operator=(const event_dispatcher&) = delete;
  ~event_dispatcher();

  /// Whether events that are not for std::clog are of use.
  bool wants_all() const noexcept { return wants_all_; }
  void add(event e) noexcept;
  std::uint64_t dropped() const noexcept;
  /// Earlier events are reported before it returns, until the deadline; nothing is reported after that, except by a
  /// call of the observer that is under way then.
  void close(base::instant deadline) noexcept;

 private:
  struct shared;
  static void run(const std::shared_ptr<shared>& with) noexcept;

  const bool wants_all_;
  const duration longest_;
  const std::shared_ptr<shared> shared_;
};

}  // namespace rowlock::inline v1::engine
