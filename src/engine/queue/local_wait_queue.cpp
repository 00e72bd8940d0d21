#include "engine/queue/local_wait_queue.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "base/boot_clock.hpp"
#include "base/waits.hpp"
#include "core/wait.hpp"

namespace rowlock::inline v1::engine {

namespace {

// Without a thread, the call itself wakes, which lives longer than its waiters.
std::shared_ptr<waker> waker_of(waker* by) {
  if (by == nullptr) return std::make_shared<thread_waker>();
  return {std::shared_ptr<waker>{}, by};
}

}  // namespace

local_wait_queue::waiter::waiter(local_wait_queue& in, const lock_name& name, purpose wants, const waiter* beside,
                                 waker* by)
    : in_{in} {
  slot_.by = beside == nullptr ? waker_of(by) : beside->slot_.by;
  slot_.wants = wants;
  slot_.ticket.name = name.view();
  const auto state = in_.state_.lock();
  queue& q = state->queues[slot_.ticket.name];
  at_ = q.insert(q.end(), &slot_);
  if (q.size() == 1) {
    promote(q);
  } else if (leads(q, slot_)) {
    wake(slot_);
  }
}

local_wait_queue::waiter::~waiter() {
  const auto state = in_.state_.lock();
  const auto found = slot_.is_handed ? state->queues.end() : state->queues.find(slot_.ticket.name);
  if (!slot_.ticket.attempt.is_none()) remember(*state, std::move(slot_.ticket.name));
  if (found == state->queues.end()) return;
  queue& q = found->second;
  const bool was_first = leads(q, slot_);
  q.erase(at_);
  if (q.empty()) {
    state->queues.erase(found);
  } else if (was_first && (!slot_.leaves_with_lock || must_look(*q.front()))) {
    promote(q);
  }
}

// Without an offer, or with a ticket: then it sleeps while others come first.
bool local_wait_queue::must_look(const slot& first) {
  return first.offer == nullptr || first.ticket.number != core::ticket_number::none;
}

void local_wait_queue::remember(contents& in, std::string left) noexcept try {
  if (in.left.size() == most_left) in.left.pop_back();
  in.left.push_front(std::move(left));
} catch (const std::bad_alloc&) {  // a hint is lost
}

bool local_wait_queue::take_left(std::string_view name) {
  const auto state = state_.lock();
  const auto found = std::find(state->left.begin(), state->left.end(), name);
  if (found == state->left.end()) return false;
  state->left.erase(found);
  return true;
}

template <class F>
void local_wait_queue::each_leader(const queue& q, F f) {
  for (slot* s : q) {
    f(*s);
    if (s->wants != purpose::all) return;
  }
}

void local_wait_queue::promote(queue& q) {
  each_leader(q, [now = base::now()](slot& s) { s.quiet_since = s.next_look = now; });
  wake_first(q);
}

void local_wait_queue::wake_first(queue& q) { each_leader(q, wake); }

bool local_wait_queue::leads(const queue& q, const slot& s) {
  bool out = false;
  each_leader(q, [&](const slot& each) { out = out || &each == &s; });
  return out;
}

std::optional<local_wait_queue::outcome> local_wait_queue::end_of(const slot& s, const contents& in,
                                                                  const std::stop_token& stop) {
  if (s.is_handed) return outcome::handed;
  if (in.is_closed) return outcome::closed;
  if (stop.stop_requested()) return outcome::stopped;
  if (s.deadlock) return outcome::deadlocked;
  if (s.is_hinted) return outcome::hinted;
  return std::nullopt;
}

local_wait_queue::outcome local_wait_queue::waiter::wait(base::instant until, const std::stop_token& stop,
                                                         const std::shared_ptr<lease_state>& offer) {
  waiter* const one = this;
  sleep it{{&one, 1}, until, stop, offer};
  it.block();
  return it.how();
}

// --- a sleep ---------------------------------------------------------------------------------------------------------

void local_wait_queue::sleep::block() {
  auto state = queue().state_.lock();
  fall_asleep();
  auto& woken = static_cast<thread_waker&>(*all_[0]->slot_.by).woken;
  base::wait_until(woken, state.lock(), until_, stop_, [&] { return end(*state).has_value(); });
  wake_up(*state);
}

void local_wait_queue::sleep::begin() {
  const auto state = queue().state_.lock();
  fall_asleep();
}

bool local_wait_queue::sleep::is_over() {
  const auto state = queue().state_.lock();
  if (!end(*state) && base::now() < until_) return false;
  wake_up(*state);
  return true;
}

void local_wait_queue::sleep::fall_asleep() {
  for (auto* each : all_) each->slot_.sleeps_until = until_;
  if (offer_) all_[0]->slot_.offer = &offer_;
}

std::optional<local_wait_queue::outcome> local_wait_queue::sleep::end(const contents& in) const {
  std::optional<outcome> most;
  for (const auto* each : all_) most = std::max(most, end_of(each->slot_, in, stop_));
  return most;
}

void local_wait_queue::sleep::wake_up(const contents& in) {
  all_[0]->slot_.offer = nullptr;
  how_ = end(in).value_or(outcome::out_of_time);
}

// --- a waiter --------------------------------------------------------------------------------------------------------

void local_wait_queue::waiter::take(const core::acquisition_id& attempt, core::ticket_number number,
                                    std::int64_t max_other_permits) {
  const auto state = in_.state_.lock();
  slot_.ticket.attempt = attempt;
  slot_.ticket.number = number;
  slot_.ticket.is_displaced = false;
  slot_.ticket.max_other_permits = max_other_permits;
  slot_.is_marked = false;
  queue& q = state->queues.at(slot_.ticket.name);
  const slot* const first_before = q.front();
  // A waiter without one may be anywhere: it is new, or was just granted the lock.
  auto to = q.end();
  while (to != q.begin()) {
    const slot& before = **std::prev(to);
    if (&before != &slot_ && before.ticket.number != core::ticket_number::none && before.ticket.number < number) break;
    --to;
  }
  q.splice(to, q, at_);
  if (q.front() != first_before || leads(q, slot_)) promote(q);
  if (state->refresh_due == base::instant::max()) state->refresh_due = base::later(base::now(), core::ticket_refresh);
}

void local_wait_queue::waiter::give_up_ticket() {
  const auto state = in_.state_.lock();
  slot_.ticket.number = core::ticket_number::none;
}

core::ticket_number local_wait_queue::waiter::ticket_number() const {
  const auto state = in_.state_.lock();
  return slot_.ticket.number;
}

bool local_wait_queue::waiter::is_deadlocked() const {
  const auto state = in_.state_.lock();
  return slot_.deadlock != nullptr;
}

std::string local_wait_queue::waiter::deadlock() const {
  const auto state = in_.state_.lock();
  return *slot_.deadlock;
}

bool local_wait_queue::waiter::is_first() const {
  const auto state = in_.state_.lock();
  return leads(state->queues.at(slot_.ticket.name), slot_);
}

local_wait_queue::position local_wait_queue::waiter::where(base::instant now) const {
  const auto state = in_.state_.lock();
  const queue& q = state->queues.at(slot_.ticket.name);
  return {.is_first = leads(q, slot_), .ticket = slot_.ticket.number, .yields_to_other_clients = now < q.yields_until};
}

local_wait_queue::slot* local_wait_queue::first_with_offer(contents& in, std::string_view name) {
  const queue* const q = in.is_closed ? nullptr : queue_of(in, name);
  return q == nullptr || q->front()->offer == nullptr ? nullptr : q->front();
}

local_wait_queue::queue* local_wait_queue::queue_of(contents& in, std::string_view name) {
  if (in.queues.empty()) return nullptr;
  const auto found = in.queues.find(name);
  return found == in.queues.end() ? nullptr : &found->second;
}

// The next first waiter sleeps on, and is woken with the lock, too, unless it must look for itself.
void local_wait_queue::leave_with_lock(contents& in, slot& s) {
  const auto found = in.queues.find(s.ticket.name);
  queue& q = found->second;
  const bool was_first = q.front() == &s;
  q.remove(&s);
  s.is_handed = true;
  s.by->wake();
  if (q.empty()) {
    in.queues.erase(found);
    return;
  }
  if (was_first && must_look(*q.front())) promote(q);
}

std::vector<local_wait_queue::reader> local_wait_queue::waiter::readers_behind(std::size_t most) const {
  std::vector<reader> out;
  const auto state = in_.state_.lock();
  const queue& q = state->queues.at(slot_.ticket.name);
  for (auto at = std::next(queue::const_iterator{at_}); at != q.end() && out.size() < most; ++at) {
    const slot& s = **at;
    if (s.ticket.number == core::ticket_number::none || s.ticket.max_other_permits != core::sharing::unlimited) break;
    if (s.offer != nullptr) out.push_back({.ticket = s.ticket, .offer = *s.offer});
  }
  return out;
}

void local_wait_queue::yield_to_other_clients(std::string_view name, base::instant until) {
  const auto state = state_.lock();
  if (queue* const q = queue_of(*state, name)) q->yields_until = until;
}

bool local_wait_queue::is_empty(const lock_name& name) {
  const auto state = state_.lock();
  return queue_of(*state, name.view()) == nullptr;
}

bool local_wait_queue::hint(std::string_view name) {
  const auto state = state_.lock();
  queue* const q = queue_of(*state, name);
  if (q != nullptr) wake_first(*q);
  return q != nullptr;
}

bool local_wait_queue::hint_the_only_name() {
  const auto state = state_.lock();
  if (state->queues.size() > 1) return false;
  for (auto& [name, q] : state->queues) wake_first(q);
  return true;
}

void local_wait_queue::hint_late(const queue_ticket& whose, std::optional<duration> lease_left) {
  const auto state = state_.lock();
  slot* const s = find(*state, whose);
  if (s != nullptr && core::oversleeps(s->sleeps_until, base::now(), lease_left)) wake(*s);
}

void local_wait_queue::hint_all() {
  const auto state = state_.lock();
  for (auto& [name, q] : state->queues) wake_first(q);
}

void local_wait_queue::hint_everybody(const lock_name& name) {
  const auto state = state_.lock();
  if (queue* const q = queue_of(*state, name.view()))
    for (slot* s : *q) wake(*s);
}

void local_wait_queue::close() {
  const auto state = state_.lock();
  state->is_closed = true;
  for (auto& [name, q] : state->queues)
    for (slot* s : q) s->by->wake();
}

std::vector<local_wait_queue::long_wait> local_wait_queue::long_waits(base::instant t) {
  std::vector<long_wait> out;
  const auto state = state_.lock();
  for (const auto& [name, q] : state->queues)
    for (const slot* s : q)
      if (s->ticket.number != core::ticket_number::none && s->since <= t && s->wants != purpose::any)
        out.push_back({.ticket = s->ticket, .thread = s->thread, .reenters = s->reenters});
  return out;
}

void local_wait_queue::end_deadlocked(const queue_ticket& whose, const std::string& text) {
  const auto state = state_.lock();
  slot* const s = find(*state, whose);
  if (s == nullptr) return;
  s->deadlock = std::make_unique<const std::string>(text);
  s->by->wake();
}

std::vector<queue_ticket> local_wait_queue::tickets() {
  std::vector<queue_ticket> out;
  const auto state = state_.lock();
  for (const auto& [name, q] : state->queues)
    for (const slot* s : q)
      if (s->ticket.number != core::ticket_number::none) out.push_back(s->ticket);
  return out;
}

base::instant local_wait_queue::refresh_due() { return state_.lock()->refresh_due; }

void local_wait_queue::set_refresh_due(base::instant t) { state_.lock()->refresh_due = t; }

local_wait_queue::slot* local_wait_queue::find(contents& in, const queue_ticket& t) {
  const queue* const q = queue_of(in, t.name);
  if (q == nullptr) return nullptr;
  const auto at = std::find_if(q->begin(), q->end(), [&](const slot* s) {
    return s->ticket.number == t.number && s->ticket.attempt == t.attempt;
  });
  return at == q->end() ? nullptr : *at;
}

void local_wait_queue::lost_mark(const queue_ticket& whose) {
  const auto state = state_.lock();
  slot* const s = find(*state, whose);
  if (s == nullptr || !std::exchange(s->is_marked, false)) return;
  wake_first(state->queues.at(whose.name));
}

void local_wait_queue::displace(const queue_ticket& gone) {
  const auto state = state_.lock();
  slot* const whose = find(*state, gone);
  if (whose == nullptr) return;
  whose->ticket.number = core::ticket_number::none;
  whose->ticket.is_displaced = true;
  wake(*whose);
  queue& q = state->queues.at(gone.name);
  const bool was_first = leads(q, *whose);
  q.splice(q.end(), q, std::find(q.begin(), q.end(), whose));
  if (was_first) promote(q);
}

bool local_wait_queue::waits_by(std::string_view name, std::string_view attempt) {
  const auto state = state_.lock();
  const queue* const q = queue_of(*state, name);
  return q != nullptr &&
         std::any_of(q->begin(), q->end(), [&](const slot* s) { return s->ticket.attempt.text() == attempt; });
}

std::vector<queue_ticket> local_wait_queue::leaders() { return leaders_due(base::instant::max()); }

std::vector<queue_ticket> local_wait_queue::leaders_due(base::instant now) {
  std::vector<queue_ticket> out;
  const auto state = state_.lock();
  for (const auto& [name, q] : state->queues)
    each_leader(q, [&](slot& s) {
      if (s.ticket.number == core::ticket_number::none || s.next_look > now) return;
      out.push_back(s.ticket);
      if (now == base::instant::max()) return;
      s.next_look = base::later(now, core::ask_pause(now - s.quiet_since, s.is_behind, base::jitter()));
    });
  return out;
}

base::instant local_wait_queue::next_look() {
  base::instant next = base::instant::max();
  const auto state = state_.lock();
  for (const auto& [name, q] : state->queues)
    each_leader(q, [&](const slot& s) {
      if (s.ticket.number != core::ticket_number::none) next = std::min(next, s.next_look);
    });
  return next;
}

local_wait_queue::change local_wait_queue::was_looked_at(const queue_ticket& whose, bool is_behind,
                                                         fencing_token version) {
  const auto state = state_.lock();
  slot* const s = find(*state, whose);
  if (s == nullptr) return change::none;
  s->is_behind = is_behind;
  if (s->version == version) return change::none;
  const auto before = std::exchange(s->version, version);
  s->quiet_since = base::now();
  s->next_look = base::later(s->quiet_since, core::ask_pause({}, is_behind, base::jitter()));
  return is_behind || before == fencing_token{} ? change::of_hands : change::passed;
}

}  // namespace rowlock::inline v1::engine
