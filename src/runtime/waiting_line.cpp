#include "runtime/waiting_line.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "core/wait.hpp"
#include "driver/boot_clock.hpp"
#include "driver/waits.hpp"
#include "runtime/jitter.hpp"

namespace rowlock::inline v1::runtime {

waiting_line::place::place(waiting_line& line, const lock_name& name) : line_{line}, name_{name.view()} {
  seat_.ticket.name = name_;
  const auto state = line_.state_.lock();
  queue& q = state->queues[name_];
  at_ = q.insert(q.end(), &seat_);
  if (q.size() == 1) promote(q);
}

waiting_line::place::~place() {
  const auto state = line_.state_.lock();
  const auto found = state->queues.find(name_);
  queue& q = found->second;
  const bool was_first = at_ == q.begin();
  if (!seat_.ticket.attempt.empty()) remember(*state, std::move(name_));
  q.erase(at_);
  if (q.empty()) {
    state->queues.erase(found);
  } else if (was_first) {
    promote(q);
  }
}

void waiting_line::remember(contents& in, std::string left) noexcept try {
  if (in.left.size() == most_left) in.left.pop_back();
  in.left.push_front(std::move(left));
} catch (const std::bad_alloc&) {  // a hint is lost
}

bool waiting_line::take_left(std::string_view name) {
  const auto state = state_.lock();
  const auto found = std::find(state->left.begin(), state->left.end(), name);
  if (found == state->left.end()) return false;
  state->left.erase(found);
  return true;
}

void waiting_line::promote(queue& q) {
  seat& first = *q.front();
  first.quiet_since = first.next_look = driver::now();
  wake(first);
}

void waiting_line::place::listen() {
  const auto state = line_.state_.lock();
  seat_.is_hinted = false;
}

waiting_line::outcome waiting_line::place::wait(core::instant until, const std::stop_token& stop) {
  auto state = line_.state_.lock();
  seat_.sleeps_until = until;
  driver::wait_until(seat_.woken, state.lock(), until, stop, [&] { return state->is_closed || seat_.is_hinted; });
  if (state->is_closed) return outcome::closed;
  if (stop.stop_requested()) return outcome::stopped;
  return seat_.is_hinted ? outcome::hinted : outcome::out_of_time;
}

void waiting_line::place::take(std::string attempt, std::int64_t number) {
  const auto state = line_.state_.lock();
  seat_.ticket.attempt = std::move(attempt);
  seat_.ticket.number = number;
  queue& q = state->queues.at(name_);
  const seat* const first_before = q.front();
  // Whoever has none may stand anywhere: it is new, or was just granted the lock.
  auto to = q.end();
  while (to != q.begin()) {
    const seat& before = **std::prev(to);
    if (&before != &seat_ && before.ticket.number != 0 && before.ticket.number < number) break;
    --to;
  }
  q.splice(to, q, at_);
  if (q.front() != first_before || q.front() == &seat_) promote(q);
  if (state->beat_due == core::instant::max()) state->beat_due = core::later(driver::now(), core::ticket_beat);
}

void waiting_line::place::give_up_ticket() {
  const auto state = line_.state_.lock();
  seat_.ticket.number = 0;
}

queue_ticket waiting_line::place::ticket() const {
  const auto state = line_.state_.lock();
  return seat_.ticket;
}

std::int64_t waiting_line::place::ticket_number() const {
  const auto state = line_.state_.lock();
  return seat_.ticket.number;
}

bool waiting_line::place::is_first() const {
  const auto state = line_.state_.lock();
  return state->queues.at(name_).front() == &seat_;
}

bool waiting_line::is_empty(const lock_name& name) {
  const auto state = state_.lock();
  return state->queues.empty() || !state->queues.contains(std::string{name.view()});
}

bool waiting_line::hint(std::string_view name) {
  const auto state = state_.lock();
  if (state->queues.empty()) return false;
  const auto found = state->queues.find(std::string{name});
  if (found == state->queues.end()) return false;
  wake(*found->second.front());
  return true;
}

void waiting_line::hint_late(const queue_ticket& whose, std::optional<duration> lease_left) {
  const auto state = state_.lock();
  seat* const s = find(*state, whose);
  if (s != nullptr && core::oversleeps(s->sleeps_until, driver::now(), lease_left)) wake(*s);
}

void waiting_line::hint_all() {
  const auto state = state_.lock();
  for (auto& [name, q] : state->queues) wake(*q.front());
}

void waiting_line::hint_everybody(const lock_name& name) {
  const auto state = state_.lock();
  if (const auto found = state->queues.find(std::string{name.view()}); found != state->queues.end())
    for (seat* s : found->second) wake(*s);
}

void waiting_line::close() {
  const auto state = state_.lock();
  state->is_closed = true;
  for (auto& [name, q] : state->queues)
    for (seat* s : q) s->woken.notify_one();
}

std::vector<queue_ticket> waiting_line::tickets() {
  std::vector<queue_ticket> out;
  const auto state = state_.lock();
  for (const auto& [name, q] : state->queues)
    for (const seat* s : q)
      if (s->ticket.number != 0) out.push_back(s->ticket);
  return out;
}

core::instant waiting_line::beat_due() { return state_.lock()->beat_due; }

void waiting_line::set_beat_due(core::instant t) { state_.lock()->beat_due = t; }

waiting_line::seat* waiting_line::find(contents& in, const queue_ticket& t) {
  const auto found = in.queues.find(t.name);
  if (found == in.queues.end()) return nullptr;
  const auto at = std::find_if(found->second.begin(), found->second.end(), [&](const seat* s) {
    return s->ticket.number == t.number && s->ticket.attempt == t.attempt;
  });
  return at == found->second.end() ? nullptr : *at;
}

void waiting_line::displace(const queue_ticket& gone) {
  const auto state = state_.lock();
  seat* const whose = find(*state, gone);
  if (whose == nullptr) return;
  whose->ticket.number = 0;
  wake(*whose);
  queue& q = state->queues.at(gone.name);
  const bool was_first = q.front() == whose;
  q.splice(q.end(), q, std::find(q.begin(), q.end(), whose));
  if (was_first) promote(q);
}

std::vector<queue_ticket> waiting_line::firsts() { return firsts_due(core::instant::max()); }

std::vector<queue_ticket> waiting_line::firsts_due(core::instant now) {
  std::vector<queue_ticket> out;
  const auto state = state_.lock();
  for (const auto& [name, q] : state->queues) {
    seat& first = *q.front();
    if (first.ticket.number == 0 || first.next_look > now) continue;
    out.push_back(first.ticket);
    if (now == core::instant::max()) continue;
    first.next_look = core::later(now, core::ask_pause(now - first.quiet_since, first.is_behind, jitter()));
  }
  return out;
}

core::instant waiting_line::next_look() {
  core::instant next = core::instant::max();
  const auto state = state_.lock();
  for (const auto& [name, q] : state->queues)
    if (q.front()->ticket.number != 0) next = std::min(next, q.front()->next_look);
  return next;
}

bool waiting_line::was_looked_at(const queue_ticket& whose, bool is_behind, fencing_token version) {
  const auto state = state_.lock();
  seat* const s = find(*state, whose);
  if (s == nullptr) return false;
  s->is_behind = is_behind;
  if (s->version == version) return false;
  s->version = version;
  s->quiet_since = driver::now();
  s->next_look = core::later(s->quiet_since, core::ask_pause({}, is_behind, jitter()));
  return true;
}

}  // namespace rowlock::inline v1::runtime
