#include "engine/lease/transaction_heartbeat.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "base/boot_clock.hpp"
#include "base/process.hpp"
#include "core/lease.hpp"
#include "strategy/strategy.hpp"

namespace rowlock::inline v1::engine {

namespace {

using namespace std::chrono_literals;

// A lock that is released sooner costs no thread.
constexpr duration first_look = 50ms;

}  // namespace

void transaction_heartbeat::start() {
  const auto state = state_.lock();
  if (state->is_stopped || state->thread.joinable()) return;
  state->thread = base::start_thread([this](const std::stop_token& stop) { run(stop); });
}

void transaction_heartbeat::attend(const lease_ptr& a) {
  {
    const auto state = state_.lock();
    if (state->is_stopped) return;
    state->attended.push_back(a);
  }
  alarm_.arm(base::later(base::now(), first_look));
}

// A heartbeat that was cut when no holder relied on the lock any more has released it.
void transaction_heartbeat::commit(lease_state& a, const driver::limits& until) {
  a.transaction->cancel_heartbeat();
  const claimed_lease scope{a};
  forget(a);
  if (a.transaction->was_cut_short()) return;
  if (!a.transaction->is_over() && a.transaction->session().looks_alive()) return send_commit(a, until);
  a.transaction->end();
  throw lock_lost(a, loss_reason::session_ended);
}

void transaction_heartbeat::send_commit(lease_state& a, const driver::limits& until) try {
  const auto first = gateway::leaving_a_tenth(until);
  strategies::for_update::release({.sheet = db_.sheet(), .session = a.transaction->session(), .until = first},
                                  a.name.view(), a.id.text());
  a.transaction->give_back();
} catch (const std::exception& e) {
  if (const auto* const why = dynamic_cast<const error*>(&e)) db_.events().failed(*why);
  a.transaction->end();
  db_.end_lost_sessions(until);
  throw;
}

// Called by the thread that has claimed it.
void transaction_heartbeat::forget(const lease_state& a) noexcept {
  lease_ptr last;  // outlives the lock
  const auto state = state_.lock();
  const auto found =
      std::find_if(state->attended.begin(), state->attended.end(), [&](const auto& each) { return each.get() == &a; });
  if (found == state->attended.end()) return;
  last = std::move(*found);
  *found = std::move(state->attended.back());
  state->attended.pop_back();
}

void transaction_heartbeat::stop() noexcept {
  std::jthread thread;
  {
    const auto state = state_.lock();
    state->is_stopped = true;
    thread = std::move(state->thread);
  }
  if (!thread.joinable()) return;
  for (const auto& a : attended()) a->transaction->cancel_heartbeat();
  thread.request_stop();
  look();
  thread.join();
  for (auto& each : beats_) each.thread.request_stop();
  beats_.clear();
  for (const auto& a : std::exchange(state_.lock()->attended, {})) {
    if (a->is_held() || !a->claim()) continue;  // the thread that has claimed it ends it
    a->transaction->end();
    a->unclaim();
  }
}

void transaction_heartbeat::run(const std::stop_token& stop) {
  for (;;) {
    alarm_.disarm();
    if (stop.stop_requested()) return;
    beats_.remove_if([](const beating& b) { return b.is_over.load(); });
    again_at_ = base::instant::max();
    std::vector<int> lines;
    for (const auto& a : attended()) {
      const base::instant next = look_after(a);
      again_at_ = std::min(again_at_, next);
      if (a->is_held()) lines.push_back(a->transaction->descriptor());
    }
    alarm_.arm(again_at_);
    alarm_.wait(lines);
  }
}

std::vector<lease_ptr> transaction_heartbeat::attended() { return state_.lock()->attended; }

base::instant transaction_heartbeat::look_after(const lease_ptr& a) {
  if (!a->claim()) return base::instant::max();  // a heartbeat or a release is under way
  if (a->is_held_at(base::now()) && a->renewal_due() <= base::now() && a->transaction->session().looks_alive()) {
    begin_to_beat(a);
    return base::instant::max();
  }
  if (a->is_held() && !a->transaction->session().looks_alive()) listener_.gone(a, loss_reason::session_ended);
  const base::instant next = a->is_held() ? a->renewal_due() : end_in_time(a);
  a->unclaim();
  return next;
}

// A lock that was lost by time is not given to the next holder sooner than the server would have given it: in the time
// between, its holder stops. close() and release_all() end transactions themselves, and wait for that.
base::instant transaction_heartbeat::end_in_time(const lease_ptr& a) {
  const auto why = a->why_lost();
  const bool by_time = why == loss_reason::expired || why == loss_reason::unreachable;
  if (!by_time && why != loss_reason::session_ended) return base::instant::max();
  if (by_time && base::now() < a->over()) return a->over();
  a->transaction->end();
  forget(*a);
  return base::instant::max();
}

void transaction_heartbeat::begin_to_beat(const lease_ptr& a) {
  beating& b = beats_.emplace_back();
  try {
    b.thread = std::jthread{[this, mine = lease_ptr{a}, &b](const std::stop_token& stop) mutable {
      beat(mine, stop);
      mine.reset();
      b.is_over = true;
      look();
    }};
  } catch (const std::exception&) {  // no thread could be started: once more soon, while there is time
    b.is_over = true;
    a->set_renewal_due(core::renewal_retry(base::now(), a->time_to_live(), 0));
    a->unclaim();
    again_at_ = std::min(again_at_, a->renewal_due());
  }
}

// Law 5: the local deadline counts from before the heartbeat was sent; the server counts from its answer. Cutting a
// heartbeat releases the lock, so that is done only when lost() has certainly fired, by the watchdog at the deadline,
// and its holder has had the margin to stop.
void transaction_heartbeat::beat(const lease_ptr& a, const std::stop_token& stop) noexcept {
  const base::instant sent = base::now();
  a->is_unreachable = true;
  try {
    auto& session = a->transaction->session();
    const driver::limits until{.deadline = a->over(), .stop = a->transaction->heartbeat_cancellation()};
    strategies::for_update::beat({.sheet = db_.sheet(), .session = session, .until = until}, a->name.view());
    if (!session.looks_alive()) throw error{errc::connection_failed, "the connection was lost"};
    a->is_unreachable = false;
    if (a->set_left(sent, a->time_to_live(), base::now())) {
      a->set_renewal_due(core::renewal_due(sent, a->time_to_live()));
      listener_.renewed(*a);
    }
    a->unclaim();
  } catch (const std::exception& e) {
    if (const auto* const why = dynamic_cast<const error*>(&e)) db_.events().failed(*why);
    listener_.gone(a, loss_reason::session_ended);
    a->transaction->end();
    forget(*a);
    a->unclaim();
    db_.end_lost_sessions(db_.call_limits(stop));
  }
}

}  // namespace rowlock::inline v1::engine
