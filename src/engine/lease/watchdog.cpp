#include "engine/lease/watchdog.hpp"

#include <algorithm>
#include <utility>

#include "base/boot_clock.hpp"

namespace rowlock::inline v1::engine {

void watchdog::start() {
  thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

void watchdog::stop() noexcept {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  alarm_.arm(base::instant::min());
  thread_.join();
}

void watchdog::fire(std::vector<lease_ptr> lost) { post(std::move(lost), nullptr); }

void watchdog::fire_and_wait(std::vector<lease_ptr> lost, base::instant until) {
  const auto callbacks = std::make_shared<pending_callbacks>(lost.size());
  post(std::move(lost), callbacks);
  callbacks->wait(until);
}

void watchdog::post(std::vector<lease_ptr> lost, const std::shared_ptr<pending_callbacks>& waited_for_by) {
  {
    const auto posted = posted_.lock();
    for (auto& a : lost) posted->push_back({.lock = std::move(a), .waited_for_by = waited_for_by});
  }
  alarm_.arm(base::instant::min());
}

void watchdog::run(const std::stop_token& stop) {
  for (;;) {
    alarm_.disarm();
    const bool is_last = stop.stop_requested();  // what was posted or marked before that is still fired
    std::vector<loss> due;
    const base::instant next = overdue(due);
    fire_all(due);
    fire_all(std::exchange(*posted_.lock(), {}));
    const base::instant next_look = notifier_.look();
    if (is_last) return;
    alarm_.arm(std::min(next, next_look));
    alarm_.wait();
  }
}

// Marks what has reached its deadline, and takes what others found so; answers when the next one will.
base::instant watchdog::overdue(std::vector<loss>& to) {
  const base::instant now = base::now();
  base::instant next = base::instant::max();
  watched_.each([&](const lease_ptr& a) {
    const bool is_held = a->is_held_at(now);
    if (a->take_unfired()) to.push_back({.lock = a});
    if (is_held) next = std::min(next, a->deadline());
  });
  return next;
}

// A lock whose token nobody has has no callbacks, and costs no thread.
void watchdog::fire_all(const std::vector<loss>& some) {
  std::vector<loss_notifier::loss> watched;
  for (const auto& [lock, waited_for_by] : some) {
    auto report = listener_.report_of(*lock);
    if (auto token = lock->lost_source(); token.stop_possible()) {
      watched.push_back({std::move(token), std::move(report), waited_for_by});
      continue;
    }
    if (report) report();
    if (waited_for_by) waited_for_by->one_has_returned();
  }
  if (!watched.empty()) notifier_.fire(std::move(watched));
  for (const auto& each : some) listener_.lost(each.lock);
}

}  // namespace rowlock::inline v1::engine
