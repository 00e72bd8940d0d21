#include "runtime/attendant.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/lease.hpp"
#include "driver/boot_clock.hpp"

namespace rowlock::inline v1::runtime {

namespace {

using namespace std::chrono_literals;

// What is let go sooner never costs its thread a step.
constexpr duration first_look = 50ms;

}  // namespace

void attendant::start() {
  const auto state = state_.lock();
  if (state->is_stopped || state->thread.joinable()) return;
  state->thread = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

void attendant::attend(const acquisition_ptr& a) {
  {
    const auto state = state_.lock();
    if (state->is_stopped) return;
    state->attended.push_back(a);
  }
  alarm_.arm(core::later(driver::now(), first_look));
}

void attendant::forget(const acquisition& a) noexcept {
  acquisition_ptr last;  // outlives the lock
  const auto state = state_.lock();
  const auto found =
      std::find_if(state->attended.begin(), state->attended.end(), [&](const auto& each) { return each.get() == &a; });
  if (found == state->attended.end()) return;
  last = std::move(*found);
  *found = std::move(state->attended.back());
  state->attended.pop_back();
}

void attendant::stop() noexcept {
  std::jthread thread;
  {
    const auto state = state_.lock();
    state->is_stopped = true;
    thread = std::move(state->thread);
  }
  if (!thread.joinable()) return;
  for (const auto& a : attended()) a->transaction->hurry();
  thread.request_stop();
  look();
  thread.join();
  for (auto& each : beats_) each.thread.request_stop();
  beats_.clear();
  for (const auto& a : std::exchange(state_.lock()->attended, {})) {
    if (a->is_held() || !a->claim()) continue;  // whoever has claimed it ends it
    a->transaction->end();
    a->unclaim();
  }
}

void attendant::run(const std::stop_token& stop) {
  for (;;) {
    alarm_.disarm();
    if (stop.stop_requested()) return;
    beats_.remove_if([](const beating& b) { return b.is_over.load(); });
    again_at_ = core::instant::max();
    std::vector<int> lines;
    for (const auto& a : attended()) {
      const core::instant next = look_after(a);
      again_at_ = std::min(again_at_, next);
      if (a->is_held()) lines.push_back(a->transaction->descriptor());
    }
    alarm_.arm(again_at_);
    alarm_.wait(lines);
  }
}

std::vector<acquisition_ptr> attendant::attended() { return state_.lock()->attended; }

core::instant attendant::look_after(const acquisition_ptr& a) {
  if (!a->claim()) return core::instant::max();  // a beat or a release is under way, and looks for itself
  if (a->is_held_at(driver::now()) && a->renewal_due() <= driver::now() && a->transaction->session().looks_alive()) {
    begin_to_beat(a);
    return core::instant::max();
  }
  if (a->is_held() && !a->transaction->session().looks_alive()) doing_.lost(a, loss_reason::session_ended);
  const core::instant next = a->is_held() ? a->renewal_due() : end_in_time(a);
  a->unclaim();
  return next;
}

// A lock that was lost by time is the next one's no sooner than the server would have given it: the time between is its
// holder's to stop. Whoever closes the client or frees all its locks ends their transactions himself, and waits for
// that.
core::instant attendant::end_in_time(const acquisition_ptr& a) {
  const auto why = a->why_lost();
  const bool by_time = why == loss_reason::expired || why == loss_reason::unreachable;
  if (!by_time && why != loss_reason::session_ended) return core::instant::max();
  if (by_time && driver::now() < a->over()) return a->over();
  a->transaction->end();
  forget(*a);
  return core::instant::max();
}

void attendant::begin_to_beat(const acquisition_ptr& a) {
  beating& b = beats_.emplace_back();
  try {
    b.thread = std::jthread{[this, mine = acquisition_ptr{a}, &b](const std::stop_token& stop) mutable {
      beat(mine, stop);
      mine.reset();
      b.is_over = true;
      look();
    }};
  } catch (const std::exception&) {  // no thread could be had: once more soon, while there is time
    b.is_over = true;
    a->set_renewal_due(core::renewal_retry(driver::now(), a->lease(), 0));
    a->unclaim();
    again_at_ = std::min(again_at_, a->renewal_due());
  }
}

// Law 5: what is believed in is counted from before the beat was sent; the server counts from when it has answered. To
// cut a beat is to let go, so that is done when lost() has fired for certain, by the watchdog at the deadline, and
// its holder has had the margin to stop.
void attendant::beat(const acquisition_ptr& a, const std::stop_token& stop) noexcept {
  const core::instant sent = driver::now();
  a->is_unreachable = true;
  try {
    auto& session = a->transaction->session();
    doing_.beat(session, {.deadline = a->over(), .stop = a->transaction->hurried()});
    if (!session.looks_alive()) throw error{errc::connection_failed, "the connection was lost"};
    a->is_unreachable = false;
    if (a->set_left(sent, a->lease(), driver::now())) {
      a->set_renewal_due(core::renewal_due(sent, a->lease()));
      doing_.renewed(*a);
    }
    a->unclaim();
  } catch (const std::exception& e) {
    if (const auto* const why = dynamic_cast<const error*>(&e)) doing_.failed(*why);
    doing_.lost(a, loss_reason::session_ended);
    a->transaction->end();
    forget(*a);
    a->unclaim();
    doing_.was_cut(stop);
  }
}

}  // namespace rowlock::inline v1::runtime
