#include "engine/maintenance.hpp"

#include <algorithm>

#include "base/boot_clock.hpp"

namespace rowlock::inline v1::engine {

void maintenance::start() {
  thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

void maintenance::stop() noexcept {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  alarm_.arm(base::instant::min());
  thread_.join();
}

void maintenance::run(const std::stop_token& stop) {
  for (;;) {
    alarm_.disarm();
    if (stop.stop_requested()) return;
    for (task* const each : tasks_)
      if (each->next_due() <= base::now())
        each->run({.deadline = base::later(base::now(), call_timeout_), .stop = stop});
    base::instant next = base::instant::max();
    for (task* const each : tasks_) next = std::min(next, each->next_due());
    alarm_.arm(next);
    alarm_.wait();
  }
}

}  // namespace rowlock::inline v1::engine
