#include "runtime/waiting_line.hpp"

#include "driver/waits.hpp"

namespace rowlock::inline v1::runtime {

waiting_line::place::place(waiting_line& line, const lock_name& name) : line_{line}, name_{name.view()} {
  const auto state = line_.state_.lock();
  queue& q = state->queues[name_];
  at_ = q.insert(q.end(), &seat_);
  seat_.is_hinted = q.size() == 1;
}

waiting_line::place::~place() {
  const auto state = line_.state_.lock();
  const auto found = state->queues.find(name_);
  queue& q = found->second;
  const bool was_head = at_ == q.begin();
  q.erase(at_);
  if (q.empty()) {
    state->queues.erase(found);
  } else if (was_head) {
    wake(*q.front());
  }
}

void waiting_line::place::listen() {
  const auto state = line_.state_.lock();
  seat_.is_hinted = false;
}

waiting_line::outcome waiting_line::place::wait(core::instant until, const std::stop_token& stop) {
  auto state = line_.state_.lock();
  driver::wait_until(seat_.woken, state.lock(), until, stop, [&] { return state->is_closed || seat_.is_hinted; });
  if (state->is_closed) return outcome::closed;
  if (stop.stop_requested()) return outcome::stopped;
  return seat_.is_hinted ? outcome::hinted : outcome::out_of_time;
}

bool waiting_line::is_empty(const lock_name& name) {
  const auto state = state_.lock();
  return state->queues.empty() || !state->queues.contains(std::string{name.view()});
}

void waiting_line::hint(const lock_name& name) {
  const auto state = state_.lock();
  if (state->queues.empty()) return;
  if (const auto found = state->queues.find(std::string{name.view()}); found != state->queues.end())
    wake(*found->second.front());
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

}  // namespace rowlock::inline v1::runtime
