#include "runtime/watchdog.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "driver/boot_clock.hpp"
#include "driver/waits.hpp"

namespace rowlock::inline v1::runtime {

watchdog::watchdog(holdings& watched, std::function<void(const acquisition_ptr&)> lost)
    : watched_{watched}, lost_{std::move(lost)} {}

void watchdog::start() {
  thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

void watchdog::stop() noexcept {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  alarm_.arm(core::instant::min());
  thread_.join();
}

void watchdog::fire(std::vector<acquisition_ptr> lost) {
  {
    const auto state = state_.lock();
    state->posted += lost.size();
    std::move(lost.begin(), lost.end(), std::back_inserter(state->to_fire));
  }
  alarm_.arm(core::instant::min());
}

void watchdog::fire_and_wait(std::vector<acquisition_ptr> lost, core::instant until) {
  fire(std::move(lost));
  auto state = state_.lock();
  const auto mine = state->posted;
  driver::wait_until(done_, state.lock(), until, {}, [&] { return state->fired >= mine; });
}

void watchdog::run(const std::stop_token& stop) {
  for (;;) {
    alarm_.disarm();
    std::vector<acquisition_ptr> due;
    const core::instant next = overdue(due);
    fire_posted(due);
    if (stop.stop_requested()) return;
    alarm_.arm(next);
    alarm_.wait();
  }
}

// Marks what has reached its deadline; answers when the next one will.
core::instant watchdog::overdue(std::vector<acquisition_ptr>& to) {
  const core::instant now = driver::now();
  core::instant next = core::instant::max();
  watched_.each([&](const acquisition_ptr& a) {
    if (a->deadline() > now) {
      next = std::min(next, a->deadline());
    } else if (a->lose(a->why_overdue())) {
      to.push_back(a);
    }
  });
  return next;
}

void watchdog::fire_posted(const std::vector<acquisition_ptr>& overdue) {
  const auto posted = std::exchange(state_.lock()->to_fire, {});
  for (const auto* some : {&overdue, &posted})
    for (const acquisition_ptr& a : *some) {
      a->fire_lost();
      lost_(a);
    }
  if (posted.empty()) return;
  state_.lock()->fired += posted.size();
  done_.notify_all();
}

}  // namespace rowlock::inline v1::runtime
