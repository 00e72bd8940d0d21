#include "engine/queue/sleep_listener.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "base/boot_clock.hpp"
#include "base/waits.hpp"

namespace rowlock::inline v1::engine {

using namespace std::chrono_literals;

namespace {

constexpr duration longest_check = 2s;
constexpr duration between_rings = 10ms;
constexpr duration longest_interruption = 100ms;

/// Rings again and again, from a thread of its own, since one ring may come before the sleep.
class bell {
 public:
  explicit bell(std::function<void(const std::stop_token&)> ring)
      : ring_{std::move(ring)}, thread_{[this](const std::stop_token& enough) { run(enough); }} {}

  /// Throws what the last ring threw, unless one came through.
  void stop() {
    thread_.request_stop();
    thread_.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void run(const std::stop_token& enough) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock{mutex};
    while (!enough.stop_requested()) {
      try {
        ring_(enough);
        failure_ = nullptr;
        has_rung_ = true;
      } catch (const std::exception&) {
        if (!has_rung_) failure_ = std::current_exception();
      }
      base::wait_until(never, lock, base::later(base::now(), between_rings), enough, [] { return false; });
    }
  }

  std::function<void(const std::stop_token&)> ring_;
  bool has_rung_ = false;
  std::exception_ptr failure_{};
  std::jthread thread_;
};

}  // namespace

void sleep_listener::listen(const std::stop_token& stop) {
  const auto line = open(limits(stop));
  check(*line, stop);
  if (stop.stop_requested()) return;
  goes_live();
  while (!stop.stop_requested()) {
    const bool is_woken = sleep(*line, longest_sleep, stop);
    if (stop.stop_requested()) return;
    if (is_woken) {
      woken(limits(stop));
    } else if (!was_wanted()) {
      return goes_quiet();
    }
  }
}

// That the server has the user-level lock proves nothing: the ring must come through.
void sleep_listener::check(driver::sleeping_listener& line, const std::stop_token& stop) {
  bell ringing{[&](const std::stop_token& enough) { ring(limits(enough)); }};
  const bool is_woken = sleep(line, std::min(longest_check, longest_call()), stop);
  if (is_woken || stop.stop_requested()) return;
  ringing.stop();
  throw error{errc::unsupported,
              "KILL QUERY on one connection does not end the statement of another, as behind a proxy or on two nodes; "
              "connect all clients to one server directly"};
}

bool sleep_listener::sleep(driver::sleeping_listener& line, duration longest, const std::stop_token& stop) {
  const driver::limits until{.deadline = base::later(base::now(), longest + longest_call()), .stop = stop};
  falls_asleep();
  is_asleep_ = true;
  try {
    const bool is_woken = line.sleep(longest, until);
    is_asleep_ = false;
    return is_woken;
  } catch (...) {
    is_asleep_ = false;
    throw;
  }
}

// Otherwise the call is cut a moment later, and the server may not notice that for some seconds.
void sleep_listener::interrupt() noexcept try {
  if (is_asleep_) ring({.deadline = base::later(base::now(), longest_interruption)});
} catch (const std::exception&) {
}

}  // namespace rowlock::inline v1::engine
