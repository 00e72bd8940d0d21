#pragma once

#include <rowlock/events.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/time.hpp"

namespace rowlock::inline v1::engine {

/// Tells the observer, one event after the other, on a thread of its own that starts with the first. A thread that
/// reports waits for nobody. Events that are not urgent may be told 10 ms later.
///
///   open --`most` events wait--> behind: what may be dropped is dropped, until half of them are told
///   open, behind --close()--> closing: what was reported is told --> closed: nothing is told
///                                      --the deadline, or called by the observer--> closed
///
/// The thread shares what it works with, so that it can be left behind while the observer keeps it.
class event_dispatcher {
 public:
  using observer = std::function<void(const event&)>;
  static constexpr std::size_t most = 10'000;
  /// Failures of calls are kept for longer.
  static constexpr std::size_t most_failures = 2 * most;

  /// Without an observer events go to std::clog, if people are to read them. `longest` is how long the destructor waits
  /// where nobody has closed it.
  event_dispatcher(observer o, duration longest);
  event_dispatcher(const event_dispatcher&) = delete;
  event_dispatcher& operator=(const event_dispatcher&) = delete;
  ~event_dispatcher();

  /// Whether it is worth making events that are not for std::clog.
  bool wants_all() const noexcept { return wants_all_; }
  void add(event e) noexcept;
  std::uint64_t dropped() const noexcept;
  /// What was reported before is told before it returns, to the deadline; nothing is told after that, but for the call
  /// that is under way then.
  void close(base::instant deadline) noexcept;

 private:
  struct shared;
  static void run(const std::shared_ptr<shared>& with) noexcept;

  const bool wants_all_;
  const duration longest_;
  const std::shared_ptr<shared> shared_;
};

}  // namespace rowlock::inline v1::engine
