#include "engine/queue/listening_source.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <thread>

#include "base/boot_clock.hpp"
#include "base/waits.hpp"

namespace rowlock::inline v1::engine {

using namespace std::chrono_literals;

namespace {

constexpr duration worth_reporting = 5s;  // not for a restart of the server
constexpr duration until_available = 60s;
constexpr duration longest_check = 2s;
constexpr duration between_rings = 10ms;
constexpr duration longest_interruption = 100ms;

struct sentences {
  const char* unavailable;  // the cause follows
  const char* unheard;      // the cause, if a ring was sent and not heard
};

constexpr sentences sentences_if_notified{
    .unavailable = "LISTEN cannot be used, so waiting clients poll the server: ",
    .unheard =
        "notifications do not arrive, as behind PgBouncer in transaction mode; there, set "
        "client_options::transaction_pooling or connect to the server directly"};
constexpr sentences sentences_if_woken{
    .unavailable = "no connection can be woken here, so waiting clients poll the server: ",
    .unheard =
        "KILL QUERY on one connection does not end the statement of another, as behind a proxy or on two nodes; "
        "connect all clients to one server directly"};

constexpr const sentences& sentences_of(driver::foreign_news how) {
  return how == driver::foreign_news::notified ? sentences_if_notified : sentences_if_woken;
}

/// Rings repeatedly, from a thread of its own, since one ring may come before the sleep.
class bell {
 public:
  explicit bell(std::function<void(const std::stop_token&)> ring)
      : ring_{std::move(ring)}, thread_{[this](const std::stop_token& enough) { run(enough); }} {}

  /// Throws the error of the last ring, unless one ring was sent.
  void stop() {
    thread_.request_stop();
    thread_.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void run(const std::stop_token& enough) {
    while (!enough.stop_requested()) {
      try {
        ring_(enough);
        failure_ = nullptr;
        has_rung_ = true;
      } catch (const std::exception&) {
        if (!has_rung_) failure_ = std::current_exception();
      }
      base::rest(base::later(base::now(), between_rings), enough);
    }
  }

  std::function<void(const std::stop_token&)> ring_;
  bool has_rung_ = false;
  std::exception_ptr failure_{};
  std::jthread thread_;
};

}  // namespace

driver::limits listening_source::limits(const std::stop_token& stop) const {
  return {.deadline = base::later(base::now(), longest_call_), .stop = stop};
}

void listening_source::watch(const std::stop_token& stop) {
  is_available_ = true;
  const auto line = open(limits(stop));
  check(*line, stop);
  if (stop.stop_requested()) return;
  set_live(true);
  down_since_.reset();
  began();
  for (auto until = base::later(base::now(), driver::listener::longest_wait);;) {
    const auto names = wait(*line, until, stop);
    const bool is_woken = take_in(names);
    if (stop.stop_requested()) return;
    if (is_woken) woken(limits(stop));
    if (!names.empty() && base::now() < until) continue;
    if (!was_wanted()) break;
    until = base::later(base::now(), driver::listener::longest_wait);
  }
  set_live(false);
  ended();
}

// The server's permission to listen proves nothing: the ring must arrive.
void listening_source::check(driver::listener& line, const std::stop_token& stop) {
  std::optional<bell> ringing;
  if (loses_what_comes_between()) {
    ringing.emplace([&](const std::stop_token& enough) { ring(limits(enough)); });
  } else {
    ring(limits(stop));
  }
  if (hears_a_ring(line, base::later(base::now(), std::min(longest_check, longest_call_)), stop)) return;
  if (stop.stop_requested()) return;
  if (ringing) ringing->stop();
  throw error{errc::unsupported, sentences_of(how_).unheard};
}

bool listening_source::hears_a_ring(driver::listener& line, base::instant until, const std::stop_token& stop) {
  do {
    if (take_in(wait(line, until, stop))) return true;
  } while (!stop.stop_requested() && base::now() < until);
  return false;
}

std::vector<std::string> listening_source::wait(driver::listener& line, base::instant until,
                                                const std::stop_token& stop) {
  if (!loses_what_comes_between()) return line.wait(until, stop);
  falls_asleep();
  is_asleep_ = true;
  try {
    auto names = line.wait(until, stop);
    is_asleep_ = false;
    return names;
  } catch (...) {
    is_asleep_ = false;
    throw;
  }
}

// true: one was without a name.
bool listening_source::take_in(const std::vector<std::string>& names) {
  for (const auto& name : names)
    if (!name.empty()) heard(name);
  return std::any_of(names.begin(), names.end(), [](const auto& name) { return name.empty(); });
}

// Otherwise the call in which it sleeps is cut a moment later, and the server may not notice that for some seconds.
void listening_source::interrupt() noexcept try {
  if (is_asleep_) ring({.deadline = base::later(base::now(), longest_interruption)});
} catch (const std::exception&) {
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
            ? "the connection that listens for released locks is lost, so waiting clients poll the server until "
              "it is restored: "
            : sentences_of(how_).unavailable) +
       why);
}

duration listening_source::recovery(int failures) const noexcept {
  return is_available_ ? wakeup_source::recovery(failures) : until_available;
}

}  // namespace rowlock::inline v1::engine
