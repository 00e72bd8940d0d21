#include "engine/queue/wakeup_source.hpp"

#include <exception>
#include <utility>

#include "base/waits.hpp"
#include "core/wait.hpp"

namespace rowlock::inline v1::engine {

void wakeup_source::enter() {
  const auto state = state_.lock();
  if (!state->thread.joinable() && !state->is_stopped)
    state->thread = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
  state->was_wanted = true;
  if (++state->waiting == 1) changed_.notify_all();
}

void wakeup_source::leave() noexcept { --state_.lock()->waiting; }

void wakeup_source::nudge() noexcept {
  state_.lock()->is_nudged = true;
  changed_.notify_all();
}

void wakeup_source::stop() noexcept {
  std::jthread last;
  {
    const auto state = state_.lock();
    state->is_stopped = true;
    last = std::move(state->thread);
  }
  last.request_stop();
  interrupt();
}

void wakeup_source::run(const std::stop_token& stop) {
  for (int failures = 0; !stop.stop_requested();) {
    rest(stop);
    if (stop.stop_requested()) return;
    try {
      watch(stop);
      failures = 0;
    } catch (const std::exception& e) {  // waiters poll meanwhile, and report the failure
      if (stop.stop_requested()) return;
      failures = is_live_.exchange(false) ? 1 : failures + 1;
      failed(e);
      recover(failures, stop);
    }
  }
}

duration wakeup_source::recovery(int failures) const noexcept { return core::error_pause(failures, base::jitter()); }

void wakeup_source::recover(int failures, const std::stop_token& stop) {
  auto state = state_.lock();
  const auto until = base::later(base::now(), recovery(failures));
  base::wait_until(changed_, state.lock(), until, stop, [] { return false; });
}

error wakeup_source::as_error(const std::exception& e) {
  const auto* const found = dynamic_cast<const error*>(&e);
  return found != nullptr ? *found : error{errc::database_error, e.what()};
}

bool wakeup_source::is_wanted() { return state_.lock()->waiting > 0; }

bool wakeup_source::was_wanted() {
  const auto state = state_.lock();
  return std::exchange(state->was_wanted, state->waiting > 0);
}

bool wakeup_source::pause(base::instant until, const std::stop_token& stop) {
  auto state = state_.lock();
  base::wait_until(changed_, state.lock(), until, stop, [&] { return state->is_nudged; });
  state->is_nudged = false;
  return state->waiting > 0 && !stop.stop_requested();
}

void wakeup_source::rest(const std::stop_token& stop) {
  auto state = state_.lock();
  base::wait_until(changed_, state.lock(), base::instant::max(), stop, [&] { return state->waiting > 0; });
}

subscription::subscription(const sources& to) : to_{to} {
  try {
    for (; entered_ < to_.size(); ++entered_) to_[entered_]->enter();
  } catch (const std::exception&) {
    leave();
  }
}

void subscription::leave() noexcept {
  while (entered_ > 0) to_[--entered_]->leave();
}

}  // namespace rowlock::inline v1::engine
