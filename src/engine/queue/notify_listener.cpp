#include "engine/queue/notify_listener.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>

#include "base/boot_clock.hpp"

namespace rowlock::inline v1::engine {

using namespace std::chrono_literals;

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

}  // namespace rowlock::inline v1::engine
