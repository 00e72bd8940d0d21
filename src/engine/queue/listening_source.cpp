#include "engine/queue/listening_source.hpp"

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

constexpr duration worth_reporting = 5s;  // a restart of the server is not
constexpr duration until_available = 60s;

}  // namespace

driver::limits listening_source::limits(const std::stop_token& stop) const {
  return {.deadline = base::later(base::now(), longest_call_), .stop = stop};
}

void listening_source::watch(const std::stop_token& stop) {
  is_available_ = true;
  listen(stop);
}

void listening_source::goes_live() {
  set_live(true);
  down_since_.reset();
  began();
}

void listening_source::goes_quiet() noexcept {
  set_live(false);
  ended();
}

void listening_source::failed(const std::exception& why) noexcept try {
  ended();
  if (!down_since_) down_since_ = base::now();
  const auto* const e = dynamic_cast<const error*>(&why);
  is_available_ = e == nullptr || e->is_retryable() || e->connection_is_unusable();
  if (begins_to_poll()) polling(as_error(why));
  if (!is_available_ || base::now() - *down_since_ > worth_reporting) report(why.what());
} catch (const std::exception&) {  // it was worth a try
}

void listening_source::report(const std::string& why) {
  if (was_reported_) return;
  was_reported_ = true;
  warn((is_available_
            ? "the connection that listens for released locks is away, so waiting clients poll the server until "
              "it is back: "
            : complaint_) +
       why);
}

duration listening_source::recovery(int failures) const noexcept {
  return is_available_ ? wakeup_source::recovery(failures) : until_available;
}

// --- notifications ---------------------------------------------------------------------------------------------------

namespace {

constexpr duration longest_ring = 2s;
constexpr duration between_probes = 10s;  // of a connection on which nothing is said, or that nobody needs

}  // namespace

void notify_listener::listen(const std::stop_token& stop) {
  const auto line = open(limits(stop));
  check(*line, stop);
  goes_live();
  attend(*line, stop);
}

// What LISTEN answers proves nothing: the ring must come through.
void notify_listener::check(driver::listener& line, const std::stop_token& stop) {
  ring(limits(stop));
  const auto deadline = base::later(base::now(), std::min(longest_ring, longest_call()));
  for (;;) {
    alarm_.disarm();
    if (take_in(line) || stop.stop_requested()) return;
    if (base::now() >= deadline)
      throw error{errc::unsupported,
                  "notifications do not arrive, as behind PgBouncer in transaction mode; there, set "
                  "client_options::transaction_pooling or connect to the server directly"};
    alarm_.arm(deadline);
    alarm_.wait_or_read(line.descriptor());
  }
}

// true: a ring was among it.
bool notify_listener::take_in(driver::listener& line) {
  bool rang = false;
  for (const auto& name : line.heard()) {
    if (name.empty()) {
      rang = true;
    } else {
      heard(name);
    }
  }
  return rang;
}

void notify_listener::attend(driver::listener& line, const std::stop_token& stop) {
  for (auto next_probe = base::later(base::now(), between_probes);;) {
    alarm_.disarm();
    if (stop.stop_requested()) return;
    take_in(line);
    if (base::now() >= next_probe) {
      if (!was_wanted()) return goes_quiet();
      line.probe(limits(stop));
      next_probe = base::later(base::now(), between_probes);
      take_in(line);  // what came with the answer
    }
    alarm_.arm(next_probe);
    alarm_.wait_or_read(line.descriptor());
  }
}

// --- a sleep that is ended -------------------------------------------------------------------------------------------

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
