#include "engine/gateway/pool.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>

#include "base/boot_clock.hpp"
#include "base/waits.hpp"
#include "driver/failure_meaning.hpp"

namespace rowlock::inline v1::engine {

std::unique_ptr<driver::session> pool::take(const driver::limits& until, purpose what_for) {
  for (;;) {
    if (auto session = take_or_reserve(until, what_for)) return session;
    if (auto session = open_reserved(until, what_for)) return session;
  }
}

// nullptr: the server permits no more than there are.
std::unique_ptr<driver::session> pool::open_reserved(const driver::limits& until, purpose what_for) {
  try {
    auto session = open_(opening(until));
    tell_if_reopened();
    return session;
  } catch (const error& e) {
    if (driver::is_over_connection_limit(e) && base::now() < until.deadline && makes_do(what_for)) return nullptr;
    give_back(nullptr, what_for, false);
    throw;
  } catch (...) {
    give_back(nullptr, what_for, false);
    throw;
  }
}

// false: there is no other to wait for. The place of the one that could not be opened is given back.
bool pool::makes_do(purpose what_for) noexcept {
  constexpr auto pause = std::chrono::seconds{1};
  const auto state = state_.lock();
  if (state->open <= 1) return false;
  --state->open;
  if (what_for == purpose::usual) --state->usual;
  state->allowed = state->open;
  state->allowed_until = base::later(base::now(), pause);
  serve(*state);
  return true;
}

bool pool::may_open(const contents& in) const noexcept {
  if (in.open >= most_) return false;
  return in.open < in.allowed || base::now() >= in.allowed_until;
}

void pool::tell_if_reopened() {
  {
    const auto state = state_.lock();
    if (state->lost == 0) return;
    --state->lost;
  }
  if (reopened_) reopened_();
}

bool pool::has_one_for(const contents& in, purpose what_for) const noexcept {
  return (!in.idle.empty() || may_open(in)) && (what_for != purpose::usual || in.usual < most_usual_);
}

// nullptr: the place of a session to be opened.
std::unique_ptr<driver::session> pool::take_one(contents& from, purpose what_for) {
  if (what_for == purpose::usual) ++from.usual;
  if (from.idle.empty()) {
    ++from.open;
    return nullptr;
  }
  return take_idle(from);
}

std::unique_ptr<driver::session> pool::take_idle(contents& from) {
  auto session = std::move(from.idle.back());  // the last used one: its caches are warm
  from.idle.pop_back();
  return session;
}

// Called after anything has become free. So a later call finds nothing that an earlier one waits for.
void pool::serve(contents& from) {
  for (const auto what_for : {purpose::renewing, purpose::releasing, purpose::usual}) {
    auto& line = from.waiting.at(static_cast<std::size_t>(what_for));
    while (!line.empty() && has_one_for(from, what_for)) {
      waiter& next = *line.front();
      line.pop_front();
      next.session = take_one(from, what_for);
      next.has_turn = true;
      next.woken.notify_one();
    }
  }
}

std::unique_ptr<driver::session> pool::wait_for_one(base::guarded<contents>::access& state, const driver::limits& until,
                                                    purpose what_for) {
  if (has_one_for(*state, what_for)) return take_one(*state, what_for);
  waiter self;
  auto& line = state->waiting.at(static_cast<std::size_t>(what_for));
  const auto place = line.insert(line.end(), &self);
  if (base::wait_until(self.woken, state.lock(), until.deadline, until.stop, [&] { return self.has_turn; }))
    return std::move(self.session);
  line.erase(place);
  if (until.stop.stop_requested()) throw error{errc::cancelled, "stopped while waiting for a connection"};
  throw error{errc::pool_exhausted,
              "all " + std::to_string(most_) +
                  " connections stayed busy for the whole time limit; raise client_options::" + option_};
}

// nullptr: the place of a session to be opened.
std::unique_ptr<driver::session> pool::take_or_reserve(const driver::limits& until, purpose what_for) {
  std::vector<std::unique_ptr<driver::session>> dead;  // closed after the mutex is unlocked
  auto state = state_.lock();
  auto session = wait_for_one(state, until, what_for);
  while (session && !session->looks_alive()) {
    dead.push_back(std::move(session));
    ++state->lost;
    if (state->idle.empty()) break;  // its place is taken by a session to be opened
    session = take_idle(*state);
    --state->open;
  }
  if (!dead.empty()) serve(*state);
  return session;
}

// For a loan that already has one. The other session gets its place, and that of an idle one becomes free.
std::unique_ptr<driver::session> pool::another(const driver::limits& until) {
  {
    const auto state = state_.lock();
    if (!state->idle.empty() && state->idle.back()->looks_alive()) {
      auto session = take_idle(*state);
      --state->open;
      serve(*state);
      return session;
    }
  }
  return open_(opening(until));
}

void pool::keep(std::unique_ptr<driver::session> spare) noexcept {
  const auto state = state_.lock();
  if (!spare || state->is_closed || !may_open(*state)) return;
  ++state->open;
  state->idle.push_back(std::move(spare));
  serve(*state);
}

void pool::give_back(std::unique_ptr<driver::session> session, purpose what_for, bool was_lost) noexcept {
  const auto state = state_.lock();
  if (was_lost) ++state->lost;
  if (what_for == purpose::usual) --state->usual;
  if (session && !state->is_closed) {
    state->idle.push_back(std::move(session));
  } else {
    --state->open;
  }
  serve(*state);
}

driver::limits pool::opening(const driver::limits& until) const {
  return {.deadline = std::min(until.deadline, base::later(base::now(), longest_)), .stop = until.stop};
}

pool::usage pool::used() {
  const auto state = state_.lock();
  std::size_t waiting = 0;
  for (const auto& line : state->waiting) waiting += line.size();
  return {.open = state->open, .in_use = state->open - state->idle.size(), .waiting = waiting};
}

void pool::close() noexcept {
  std::vector<std::unique_ptr<driver::session>> last;
  const auto state = state_.lock();
  state->is_closed = true;
  state->open -= state->idle.size();
  last.swap(state->idle);
}

}  // namespace rowlock::inline v1::engine
