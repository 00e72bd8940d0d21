#include "driver/net/call_watchdog.hpp"

#include <sys/socket.h>

#include <algorithm>

#include "base/boot_clock.hpp"
#include "base/process.hpp"

namespace rowlock::inline v1::driver {

call_watchdog::~call_watchdog() {
  thread_.request_stop();
  {
    const std::lock_guard lock{mutex_};
    arm(base::instant::min());
  }
  if (thread_.joinable()) thread_.join();
}

call_watchdog::call::call(call_watchdog& by, int descriptor, const limits& until)
    : by_{by}, descriptor_{descriptor}, cut_at_{until.deadline} {
  if (cut_at_ == base::instant::max() && !until.stop.stop_possible()) return;
  by_.add(*this);
  if (until.stop.stop_possible()) on_stop_.emplace(until.stop, on_stop{this});  // may call cut_after_grace() at once
}

call_watchdog::reason call_watchdog::call::end() noexcept {
  on_stop_.reset();  // waits for a cut_after_grace() under way, so never under the mutex
  if (is_listed_) by_.remove(*this);
  return cut_;
}

void call_watchdog::add(call& c) {
  const std::lock_guard lock{mutex_};
  if (!thread_.joinable()) thread_ = base::start_thread([this](const std::stop_token& stop) { watch(stop); });
  c.is_listed_ = true;
  c.after_ = first_;
  if (first_ != nullptr) first_->before_ = &c;
  first_ = &c;
  arm(c.cut_at_);
}

void call_watchdog::remove(call& c) noexcept {
  const std::lock_guard lock{mutex_};
  (c.before_ != nullptr ? c.before_->after_ : first_) = c.after_;
  if (c.after_ != nullptr) c.after_->before_ = c.before_;
  c.is_listed_ = false;
}

void call_watchdog::cut_after_grace(call& c) noexcept {
  const base::instant soon = base::later(base::now(), grace);
  const std::lock_guard lock{mutex_};
  if (c.cut_ != reason::none || c.cut_at_ <= soon) return;
  c.cut_at_ = soon;
  c.why_ = reason::stop;
  arm(soon);
}

// A system call only if this time is earlier than all others; with equal limits that is once per limit's length.
void call_watchdog::arm(base::instant t) noexcept {
  if (t >= armed_) return;
  armed_ = t;
  timer_.set(t);
}

void call_watchdog::watch(const std::stop_token& stop) noexcept {
  while (!stop.stop_requested()) {
    timer_.wait();
    const std::lock_guard lock{mutex_};
    armed_ = base::instant::max();
    arm(cut_overdue());
    if (stop.stop_requested()) return;
  }
}

// Answers when the next call is due.
base::instant call_watchdog::cut_overdue() noexcept {
  const base::instant at = base::now();
  base::instant next = base::instant::max();
  for (call* c = first_; c != nullptr; c = c->after_) {
    if (c->cut_ != reason::none) continue;
    if (c->cut_at_ > at) {
      next = std::min(next, c->cut_at_);
      continue;
    }
    c->cut_ = c->why_;
    shutdown(c->descriptor_, SHUT_RDWR);
  }
  return next;
}

}  // namespace rowlock::inline v1::driver
