#include "engine/queue/notify_listener.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>

#include "base/boot_clock.hpp"

namespace rowlock::inline v1::engine {

using namespace std::chrono_literals;

namespace {

constexpr duration longest_ring = 2s;
constexpr duration between_probes = 15s;  // of a connection on which nothing is said
constexpr duration worth_reporting = 5s;  // a restart of the server is not
constexpr duration until_available = 60s;

}  // namespace

driver::limits notify_listener::limits(const std::stop_token& stop) const {
  return {.deadline = base::later(base::now(), longest_call_), .stop = stop};
}

void notify_listener::watch(const std::stop_token& stop) {
  is_available_ = true;
  const auto line = open(limits(stop));
  check(*line, stop);
  set_live(true);
  down_since_.reset();
  began();
  attend(*line, stop);
}

// What LISTEN answers proves nothing: the ring must come through.
void notify_listener::check(driver::listener& line, const std::stop_token& stop) {
  ring(limits(stop));
  const auto deadline = base::later(base::now(), std::min(longest_ring, longest_call_));
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
      if (is_wanted()) line.probe(limits(stop));
      next_probe = base::later(base::now(), between_probes);
      take_in(line);  // what came with the answer
    }
    alarm_.arm(next_probe);
    alarm_.wait_or_read(line.descriptor());
  }
}

void notify_listener::failed(const std::exception& why) noexcept try {
  ended();
  if (!down_since_) down_since_ = base::now();
  const auto* const e = dynamic_cast<const error*>(&why);
  is_available_ = e == nullptr || e->is_retryable() || e->connection_is_unusable();
  if (begins_to_poll()) polling(as_error(why));
  if (!is_available_ || base::now() - *down_since_ > worth_reporting) report(why.what());
} catch (const std::exception&) {  // it was worth a try
}

void notify_listener::report(const std::string& why) {
  if (was_reported_) return;
  was_reported_ = true;
  warn("LISTEN cannot be used, so waiting clients poll the server: " + why);
}

duration notify_listener::recovery(int failures) const noexcept {
  return is_available_ ? wakeup_source::recovery(failures) : until_available;
}

}  // namespace rowlock::inline v1::engine
