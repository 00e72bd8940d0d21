#include "engine/lease/watchdog.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <list>
#include <system_error>
#include <thread>
#include <utility>

#include "base/boot_clock.hpp"
#include "base/process.hpp"
#include "base/waits.hpp"

namespace rowlock::inline v1::engine {

namespace {

// Firing takes no time; only callbacks do.
constexpr auto until_fired = std::chrono::milliseconds{1};

}  // namespace

void pending_callbacks::one_has_returned() noexcept {
  const auto left = left_.lock();
  if (--*left == 0) none_.notify_all();
}

void pending_callbacks::wait(base::instant until) {
  auto left = left_.lock();
  base::wait_until(none_, left.lock(), until, {}, [&] { return *left == 0; });
}

struct loss_notifier::shared {
  struct worker {
    std::thread thread;
    bool is_over = false;
  };
  struct contents {
    std::list<loss> waiting;
    std::list<loss> firing;
    std::list<worker> workers;
    std::size_t free = 0;  // of these, in no callback

    void tell(loss& of) {
      if (of.then && of.token.stop_requested()) std::exchange(of.then, nullptr)();
    }
    void join_those_over() {
      workers.remove_if([](worker& w) {
        if (w.is_over && w.thread.joinable()) w.thread.join();
        return w.is_over;
      });
    }
  };

  const std::uint64_t generation = base::process_generation();
  std::condition_variable_any one_is_over;
  base::guarded<contents> state;
};

loss_notifier::loss_notifier() : shared_{std::make_shared<shared>()} {}

loss_notifier::~loss_notifier() { close(base::instant::max()); }

void loss_notifier::fire(std::vector<loss> some) {
  {
    const auto s = shared_->state.lock();
    for (auto& each : some) s->waiting.push_back(std::move(each));
  }
  ensure_thread(shared_);
}

// false: no thread could be started.
bool loss_notifier::ensure_thread(const std::shared_ptr<shared>& with) {
  const auto s = with->state.lock();
  if (s->waiting.empty() || s->free > 0) return true;
  s->join_those_over();
  auto& fresh = s->workers.emplace_back();
  try {
    fresh.thread = std::thread{[with, &fresh] {
      work(with);
      if (with->generation != base::process_generation()) return;
      const auto at_end = with->state.lock();
      fresh.is_over = true;
      with->one_is_over.notify_all();
    }};
    ++s->free;
    return true;
  } catch (const std::system_error&) {
    s->workers.pop_back();
    return false;
  }
}

// A child that a callback forks has no thread that could unlock what others had locked.
void loss_notifier::work(const std::shared_ptr<shared>& with) noexcept {
  for (;;) {
    auto s = with->state.lock();
    if (s->waiting.empty()) {
      --s->free;
      return;
    }
    const auto mine = s->waiting.begin();
    s->firing.splice(s->firing.end(), s->waiting, mine);
    --s->free;
    auto token = mine->token;
    s.lock().unlock();
    ensure_thread(with);
    token.request_stop();
    if (with->generation != base::process_generation()) return;
    s.lock().lock();
    ++s->free;
    s->tell(*mine);
    if (mine->waited_for_by) mine->waited_for_by->one_has_returned();
    s->firing.erase(mine);
  }
}

base::instant loss_notifier::look() {
  bool is_unfinished = false;
  {
    const auto s = shared_->state.lock();
    s->join_those_over();
    for (loss& each : s->firing) s->tell(each);
    is_unfinished = !s->waiting.empty() || std::any_of(s->firing.begin(), s->firing.end(),
                                                       [](const loss& each) { return each.then != nullptr; });
  }
  if (!is_unfinished) return base::instant::max();
  if (!ensure_thread(shared_)) {
    ++shared_->state.lock()->free;
    work(shared_);
  }
  return base::later(base::now(), until_fired);
}

void loss_notifier::close(base::instant until) noexcept {
  auto s = shared_->state.lock();
  const auto may_be_left = [](const shared::worker& w) {
    return w.is_over || !w.thread.joinable() || w.thread.get_id() == std::this_thread::get_id();
  };
  base::wait_until(shared_->one_is_over, s.lock(), until, {},
                   [&] { return std::all_of(s->workers.begin(), s->workers.end(), may_be_left); });
  s->join_those_over();
  for (auto& each : s->workers)
    if (each.thread.joinable()) each.thread.detach();
  for (auto* const some : {&s->firing, &s->waiting})
    for (loss& each : *some)
      if (each.then) std::exchange(each.then, nullptr)();
}

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
    const bool is_last = stop.stop_requested();  // earlier losses are still fired
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

// Marks locks that have reached their deadline, and takes those that others found lost; answers when the next will.
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

// A lock without tokens has no callbacks, and costs no thread.
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
