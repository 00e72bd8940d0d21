#include "engine/flow/runner.hpp"

#include <algorithm>
#include <condition_variable>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/boot_clock.hpp"
#include "base/guarded.hpp"
#include "base/waits.hpp"

namespace rowlock::inline v1::engine {

struct runner::shared {
  struct contents {
    calls ready;   // all with the same key: in their order
    calls asleep;  // until then
    std::size_t running = 0;
    std::vector<std::thread> threads;
    bool is_closing = false;  // nothing may wait for long
    bool is_closed = false;
  };

  void work() noexcept;
  void carry(base::guarded<contents>::access& s);
  static void wake(contents& in, call& one);
  static void add_ready(contents& in, calls::node_type one);
  // Of those who wait for a change, a thread that closes cannot carry a call.
  void notify(const contents& in) noexcept { in.is_closing ? changed.notify_all() : changed.notify_one(); }
  void wait_for_change(base::guarded<contents>::access& s, base::instant deadline);
  static void wake_due(contents& in, base::instant now);
  static bool has_ended(const contents& in, std::size_t own) noexcept {
    return in.ready.empty() && in.asleep.empty() && in.running == own;
  }

  const base::fork_guard process{};
  std::condition_variable_any changed;  // something is ready, sleeps shorter, or has ended
  base::guarded<contents> state;
};

namespace {

thread_local const void* carried_for = nullptr;  // the runner whose thread this is

}  // namespace

// --- a call ----------------------------------------------------------------------------------------------------------

// In a child of a fork no thread would carry it, and the mutex may be locked for ever.
void runner::call::wake() noexcept {
  if (in_->process.is_foreign()) return;
  const auto s = in_->state.lock();
  shared::wake(*s, *this);
  if (state_ == ready) in_->notify(*s);
}

bool runner::call::is_urged() const noexcept { return !in_->state.lock()->ready.empty(); }

void runner::shared::wake(contents& in, call& one) {
  if (one.state_ == call::running) one.state_ = call::woken;
  if (one.state_ != call::asleep) return;
  add_ready(in, in.asleep.extract(one.place_));
}

void runner::shared::add_ready(contents& in, calls::node_type one) {
  one.mapped()->state_ = call::ready;
  one.key() = {};
  in.ready.insert(std::move(one));
}

void runner::shared::wake_due(contents& in, base::instant now) {
  while (!in.asleep.empty() && in.asleep.begin()->first <= now) wake(in, *in.asleep.begin()->second);
}

// --- the threads -----------------------------------------------------------------------------------------------------

void runner::shared::work() noexcept {
  carried_for = this;
  for (auto s = state.lock();;) {
    wake_due(*s, base::now());
    if (!s->ready.empty()) {
      carry(s);
    } else if (s->is_closed) {
      return;
    } else {
      wait_for_change(s, base::instant::max());
    }
  }
}

void runner::shared::wait_for_change(base::guarded<contents>::access& s, base::instant deadline) {
  const auto due = s->asleep.empty() ? deadline : std::min(deadline, s->asleep.begin()->first);
  changed.wait_for(s.lock(), base::length_of_wait(due));
}

// The first that is ready. It is not destroyed under the mutex, which its parts may need.
void runner::shared::carry(base::guarded<contents>::access& s) {
  auto node = s->ready.extract(s->ready.begin());
  auto& one = node.mapped();
  one->state_ = call::running;
  ++s->running;
  if (!s->ready.empty()) notify(*s);
  s.lock().unlock();
  const auto until = one->go_on();
  if (!until) one.reset();
  s.lock().lock();
  --s->running;
  if (!until) {
    if (s->is_closing) changed.notify_all();
  } else if (one->state_ == call::woken) {
    add_ready(*s, std::move(node));
  } else {
    one->state_ = call::asleep;
    node.key() = *until;
    auto& place = one->place_;
    place = s->asleep.insert(std::move(node));
    if (place == s->asleep.begin()) notify(*s);  // this thread may carry another for long
  }
}

// --- beginning and end -----------------------------------------------------------------------------------------------

runner::runner(std::size_t threads) : threads_{threads}, shared_{std::make_shared<shared>()} {}

runner::~runner() { close(base::now()); }

bool runner::start(std::shared_ptr<call> one, bool returns) {
  const auto s = shared_->state.lock();
  if (s->is_closed) return false;
  while (s->threads.size() < threads_) {
    try {
      s->threads.emplace_back([with = shared_] { with->work(); });
    } catch (const std::system_error& e) {
      if (s->threads.empty()) base::throw_no_thread(e);
      break;
    }
  }
  s->ready.emplace(base::instant{}, std::move(one));
  if (s->is_closing || !returns || carried_for != shared_.get()) shared_->notify(*s);
  return true;
}

// A thread that carries a call to the end of the time is left to itself; what it uses, the call keeps alive.
void runner::close(base::instant deadline) noexcept {
  auto s = shared_->state.lock();
  s->is_closing = true;
  while (!s->asleep.empty()) shared::wake(*s, *s->asleep.begin()->second);
  shared_->changed.notify_all();
  const bool is_own = carried_for == shared_.get();
  const std::size_t own = is_own && s->running > 0 ? 1 : 0;
  while (!shared::has_ended(*s, own) && base::now() < deadline) {
    shared::wake_due(*s, base::now());
    if (is_own && !s->ready.empty()) {
      shared_->carry(s);
    } else {
      shared_->wait_for_change(s, deadline);
    }
  }
  const bool have_ended = s->running == own;
  s->is_closed = true;
  shared_->changed.notify_all();
  auto threads = std::exchange(s->threads, {});
  s.lock().unlock();
  for (auto& each : threads) {
    const bool is_this = each.get_id() == std::this_thread::get_id();
    have_ended && !is_this ? each.join() : each.detach();
  }
}

}  // namespace rowlock::inline v1::engine
