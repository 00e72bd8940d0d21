#include "engine/gateway/pool.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/boot_clock.hpp"
#include "base/process.hpp"
#include "base/waits.hpp"
#include "driver/failure_meaning.hpp"
#include "driver/net/aside.hpp"

namespace rowlock::inline v1::engine {

std::unique_ptr<driver::session> pool::take(const driver::limits& until, purpose what_for) {
  std::vector<std::unique_ptr<driver::session>> dead;  // closed after the mutex is unlocked
  auto state = state_.lock();
  while (!state->idle.empty() && may_have_one(*state, what_for)) {
    auto session = take_idle(*state);
    if (session->looks_alive()) {
      if (what_for == purpose::usual) ++state->usual;
      return session;
    }
    dead.push_back(std::move(session));
    ++state->lost;
    --state->open;
  }
  waiter self{.deadline = until.deadline, .number = ++state->waiters};
  auto& line = state->waiting.at(static_cast<std::size_t>(what_for));
  const auto place = line.insert(line.end(), &self);
  serve(*state);
  while (!base::wait_until(self.woken, state.lock(), std::min(until.deadline, next_overdue(*state)), until.stop,
                           [&] { return self.has_turn; })) {
    if (until.stop.stop_requested() || base::now() >= until.deadline) {
      line.erase(place);
      give_up(*state, until);
    }
    serve(*state);
  }
  if (self.failure) std::rethrow_exception(self.failure);
  return std::move(self.session);
}

void pool::give_up(const contents& in, const driver::limits& until) const {
  if (until.stop.stop_requested()) throw error{errc::cancelled, "stopped while waiting for a connection"};
  if (in.refusal) std::rethrow_exception(in.refusal);
  if (std::any_of(in.dials.begin(), in.dials.end(), [](const dial& d) { return d.is_under_way; }))
    driver::give_up_connecting(server_, until);
  throw error{errc::pool_exhausted,
              "all " + std::to_string(most_) +
                  " connections stayed busy for the whole time limit; raise client_options::" + option_};
}

bool pool::may_open(const contents& in) const noexcept {
  if (in.open >= most_) return false;
  return in.open < in.allowed || base::now() >= in.allowed_until;
}

bool pool::may_have_one(const contents& in, purpose what_for) const noexcept {
  return what_for != purpose::usual || in.usual < most_usual_;
}

std::unique_ptr<driver::session> pool::take_idle(contents& from) {
  auto session = std::move(from.idle.back());  // the last used one: its caches are warm
  from.idle.pop_back();
  return session;
}

// Called after anything has become free. So a later call finds nothing that an earlier one waits for.
void pool::serve(contents& from) noexcept {
  hand_out_idle(from);
  while (expected_soon(from) < wanted(from) && may_open(from)) begin_dial(from);
}

void pool::hand_out_idle(contents& from) noexcept {
  for (const auto what_for : {purpose::renewing, purpose::releasing, purpose::usual}) {
    auto& line = from.waiting.at(static_cast<std::size_t>(what_for));
    while (!line.empty() && !from.idle.empty() && may_have_one(from, what_for)) {
      if (what_for == purpose::usual) ++from.usual;
      line.front()->session = take_idle(from);
      end_turn(line);
    }
  }
}

void pool::end_turn(std::list<waiter*>& line) noexcept {
  waiter& first = *line.front();
  line.pop_front();
  first.has_turn = true;
  first.woken.notify_one();
}

// How many calls could use a session that is opened for them.
std::size_t pool::wanted(const contents& in) const noexcept {
  const auto& [renewing, releasing, usual] = in.waiting;
  return renewing.size() + releasing.size() + std::min(usual.size(), most_usual_ - in.usual);
}

// No session is expected any more from a server, a network or a resolver that has been silent for so long: it may
// answer another dial. The more of them are under way, the longer: a server that is only busy is not kept busy by that.
duration pool::overdue_after(const contents& in) noexcept {
  constexpr duration usual_time = std::chrono::milliseconds{500};
  return usual_time * std::count_if(in.dials.begin(), in.dials.end(), [](const dial& d) { return d.is_under_way; });
}

std::size_t pool::expected_soon(const contents& in) noexcept {
  const auto since = base::now() - overdue_after(in);
  return static_cast<std::size_t>(std::count_if(in.dials.begin(), in.dials.end(),
                                                [&](const dial& d) { return d.is_under_way && d.began > since; }));
}

// When that is the case for the next of them.
base::instant pool::next_overdue(const contents& in) noexcept {
  const auto now = base::now();
  const auto longest = overdue_after(in);
  auto out = base::instant::max();
  for (const auto& each : in.dials)
    if (each.is_under_way && each.began + longest > now) out = std::min(out, each.began + longest);
  return out;
}

// --- opening ---------------------------------------------------------------------------------------------------------

// For as long as a call waits for it; but a busy server gets two seconds, however short the calls' own limits are.
base::instant pool::deadline_of_dial(const contents& in) const noexcept {
  constexpr auto least = std::chrono::seconds{2};
  const auto now = base::now();
  auto out = base::later(now, least);
  for (const auto& line : in.waiting)
    for (const auto* each : line) out = std::max(out, each->deadline);
  return std::min(out, base::later(now, longest_));
}

void pool::begin_dial(contents& in) noexcept {
  std::erase_if(in.dials, [](const dial& each) { return each.is_over; });  // their threads have just ended
  ++in.open;
  dial& mine = in.dials.emplace_back(dial{.began = base::now(), .for_waiters_to = in.waiters});
  try {
    mine.thread = base::start_thread([this, &mine, deadline = deadline_of_dial(in)](const std::stop_token& stop) {
      run(mine, {.deadline = deadline, .stop = stop});
    });
  } catch (const std::exception&) {
    mine.is_under_way = false;
    mine.is_over = true;
    failed(in, mine, std::current_exception(), false);
  }
}

void pool::run(dial& mine, const driver::limits& until) noexcept {
  std::unique_ptr<driver::session> session;
  std::exception_ptr why;
  bool is_over_limit = false;
  try {
    session = open_(until);
    tell_if_reopened();
  } catch (const error& e) {
    why = std::current_exception();
    is_over_limit = driver::is_over_connection_limit(e);
  } catch (...) {
    why = std::current_exception();
  }
  std::vector<std::unique_ptr<driver::session>> last;
  const auto state = state_.lock();
  mine.is_under_way = false;
  if (session) {
    arrived(*state, std::move(session));
  } else {
    failed(*state, mine, std::move(why), is_over_limit);
  }
  serve(*state);
  if (state->is_closed) last = take_all_idle(*state);
  mine.is_over = true;
}

void pool::arrived(contents& in, std::unique_ptr<driver::session> session) noexcept {
  in.refusal = nullptr;
  in.idle.push_back(std::move(session));
}

// One call learns why: the first of those that it was begun for. A later one gets another try. If the server permits no
// more than there are, all wait for those.
void pool::failed(contents& in, const dial& mine, std::exception_ptr why, bool is_over_limit) noexcept {
  constexpr auto pause = std::chrono::seconds{1};
  --in.open;
  if (is_over_limit && in.open > 0) {
    in.allowed = in.open;
    in.allowed_until = base::later(base::now(), pause);
    in.refusal = std::move(why);
    return;
  }
  for (auto& line : in.waiting)
    if (!line.empty() && line.front()->number <= mine.for_waiters_to) {
      line.front()->failure = std::move(why);
      return end_turn(line);
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

// The threads need the mutex to end.
void pool::end_dials() noexcept {
  std::list<dial> last;
  last.splice(last.end(), state_.lock()->dials);
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
  return open_({.deadline = std::min(until.deadline, base::later(base::now(), longest_)), .stop = until.stop});
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

pool::usage pool::used() {
  const auto state = state_.lock();
  std::size_t waiting = 0;
  for (const auto& line : state->waiting) waiting += line.size();
  return {.open = state->open, .in_use = state->open - state->idle.size(), .waiting = waiting};
}

void pool::close() noexcept {
  std::vector<std::unique_ptr<driver::session>> last;
  bool is_awaited = false;
  {
    const auto state = state_.lock();
    state->is_closed = true;
    last = take_all_idle(*state);
    is_awaited = wanted(*state) > 0;
  }
  if (!is_awaited) end_dials();
}

std::vector<std::unique_ptr<driver::session>> pool::take_all_idle(contents& from) noexcept {
  from.open -= from.idle.size();
  return std::exchange(from.idle, {});
}

}  // namespace rowlock::inline v1::engine
