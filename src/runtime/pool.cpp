#include "runtime/pool.hpp"

#include <rowlock/error.hpp>

#include <algorithm>

#include "driver/waits.hpp"

namespace rowlock::inline v1::runtime {

std::unique_ptr<driver::session> pool::take(const driver::limits& until) {
  if (auto session = take_or_reserve(until)) return session;
  try {
    auto session = open_(opening(until));
    tell_if_reopened();
    return session;
  } catch (...) {
    give_back(nullptr, false);
    throw;
  }
}

void pool::tell_if_reopened() {
  {
    const auto state = state_.lock();
    if (state->lost == 0) return;
    --state->lost;
  }
  if (reopened_) reopened_();
}

// nullptr: the place of one that is to be opened.
std::unique_ptr<driver::session> pool::take_or_reserve(const driver::limits& until) {
  std::vector<std::unique_ptr<driver::session>> dead;  // closed when the lock is free again
  auto state = state_.lock();
  const auto free = [&] { return !state->idle.empty() || state->open < most_; };
  if (!free() && !driver::wait_until(freed_, state.lock(), until.deadline, until.stop, free)) {
    if (until.stop.stop_requested()) throw error{errc::cancelled, "stopped while waiting for a connection"};
    throw error{errc::pool_exhausted, "all " + std::to_string(most_) + " connections stayed busy (" + option_ + ")"};
  }
  while (!state->idle.empty()) {
    auto session = std::move(state->idle.back());  // the last one used: its caches are warm
    state->idle.pop_back();
    if (session->looks_alive()) return session;
    dead.push_back(std::move(session));
    --state->open;
    ++state->lost;
  }
  ++state->open;
  return nullptr;
}

void pool::give_back(std::unique_ptr<driver::session> session, bool was_lost) noexcept {
  {
    const auto state = state_.lock();
    if (was_lost) ++state->lost;
    if (session && !state->is_closed) {
      state->idle.push_back(std::move(session));
    } else {
      --state->open;
    }
  }
  freed_.notify_one();
}

driver::limits pool::opening(const driver::limits& until) const {
  return {.deadline = std::min(until.deadline, core::later(driver::now(), longest_)), .stop = until.stop};
}

pool::usage pool::used() {
  const auto state = state_.lock();
  return {.open = state->open, .in_use = state->open - state->idle.size()};
}

void pool::close() noexcept {
  std::vector<std::unique_ptr<driver::session>> last;
  const auto state = state_.lock();
  state->is_closed = true;
  state->open -= state->idle.size();
  last.swap(state->idle);
}

}  // namespace rowlock::inline v1::runtime
