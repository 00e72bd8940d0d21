#include "runtime/hint_watch.hpp"

#include <rowlock/error.hpp>

#include <utility>

#include "core/wait.hpp"
#include "driver/waits.hpp"

namespace rowlock::inline v1::runtime {

using namespace std::chrono_literals;

void hint_watch::enter() {
  if (!open_) return;
  const auto state = state_.lock();
  ++state->waiting;
  if (!state->thread.joinable() && !state->is_stopped)
    state->thread = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
  if (state->waiting == 1) changed_.notify_all();
}

void hint_watch::leave() {
  if (open_) --state_.lock()->waiting;
}

void hint_watch::stop() noexcept {
  std::jthread last;
  {
    const auto state = state_.lock();
    state->is_stopped = true;
    last = std::move(state->thread);
  }
}

void hint_watch::run(const std::stop_token& stop) {
  for (int failures = 0; !stop.stop_requested();) {
    try {
      watch(stop);
      failures = 0;
    } catch (const std::exception&) {  // those who wait have their fallback poll, and report what is wrong
      pause(core::error_pause(++failures, 0.5), stop);
    }
  }
}

void hint_watch::watch(const std::stop_token& stop) {
  const auto limits = [&] { return driver::limits{.deadline = core::later(driver::now(), 1s), .stop = stop}; };
  const auto session = open_(limits());
  while (!stop.stop_requested()) {
    auto seen = session->change_count(limits());
    auto since = driver::now();
    hint_();
    while (pause(core::watch_pause(driver::now() - since), stop)) {
      const auto count = session->change_count(limits());
      if (count == seen) continue;
      seen = count;
      since = driver::now();
      hint_();
    }
    auto state = state_.lock();
    driver::wait_until(changed_, state.lock(), core::instant::max(), stop, [&] { return state->waiting > 0; });
  }
}

// false: nobody waits any more.
bool hint_watch::pause(duration d, const std::stop_token& stop) {
  auto state = state_.lock();
  driver::wait_until(changed_, state.lock(), core::later(driver::now(), d), stop, [] { return false; });
  return state->waiting > 0 && !stop.stop_requested();
}

}  // namespace rowlock::inline v1::runtime
