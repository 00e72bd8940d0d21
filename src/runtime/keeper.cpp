#include "runtime/keeper.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <utility>

#include "core/lease.hpp"
#include "driver/boot_clock.hpp"
#include "runtime/batches.hpp"
#include "runtime/jitter.hpp"

namespace rowlock::inline v1::runtime {

using namespace std::chrono_literals;

namespace {

// A batch holds a name at most once, and a lost lock may have been taken again under the same name.
void keep_first_of_each_name(std::vector<acquisition_ptr>& some) {
  const auto by_name = [](const acquisition_ptr& a, const acquisition_ptr& b) { return a->name < b->name; };
  std::stable_sort(some.begin(), some.end(), by_name);
  const auto rest = std::unique(some.begin(), some.end(),
                                [](const acquisition_ptr& a, const acquisition_ptr& b) { return a->name == b->name; });
  some.erase(rest, some.end());
}

std::vector<strategies::held> views(std::span<const acquisition_ptr> some) {
  std::vector<strategies::held> out;
  out.reserve(some.size());
  for (const auto& a : some) out.push_back({.name = a->name.view(), .acquisition = a->id, .lease = a->lease()});
  return out;
}

}  // namespace

keeper::keeper(holdings& held, undo_list& undo, hands doing, duration call_timeout)
    : held_{held}, undo_{undo}, doing_{std::move(doing)}, call_timeout_{call_timeout} {}

void keeper::start() {
  thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

void keeper::stop() noexcept {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  alarm_.arm(core::instant::min());
  thread_.join();
}

void keeper::run(const std::stop_token& stop) {
  for (;;) {
    alarm_.disarm();
    if (stop.stop_requested()) return;
    if (next_renewal() <= driver::now()) renew(due(driver::now()), stop);
    if (auto entries = undo_.take_due(driver::now()); !entries.empty())
      doing_.undo(std::move(entries), {.deadline = core::later(driver::now(), call_timeout_), .stop = stop});
    if (doing_.next_errand() <= driver::now())
      doing_.errands({.deadline = core::later(driver::now(), call_timeout_), .stop = stop});
    alarm_.arm(std::min({next_renewal(), undo_.next(), doing_.next_errand()}));
    alarm_.wait();
  }
}

core::instant keeper::next_renewal() {
  core::instant next = core::instant::max();
  held_.each([&](const acquisition_ptr& a) {
    if (a->wants_renewal()) next = std::min(next, a->renewal_due());
  });
  return next;
}

// What is nearly due comes along, so that leases of one length end up in one step.
std::vector<acquisition_ptr> keeper::due(core::instant now) {
  std::vector<acquisition_ptr> out;
  held_.each([&](const acquisition_ptr& a) {
    if (a->wants_renewal() && core::joins_renewal(a->renewal_due(), now, a->lease())) out.push_back(a);
  });
  keep_first_of_each_name(out);
  return out;
}

// Just before they are sent: the batch before may have taken its time. One that was lost meanwhile may not come back.
std::vector<acquisition_ptr> keeper::claim(std::span<const acquisition_ptr> some) {
  std::vector<acquisition_ptr> out;
  for (const auto& a : some) {
    if (!a->claim()) {
      a->set_renewal_due(core::renewal_retry(driver::now(), a->lease(), jitter()));  // an extend is under way
    } else if (!a->is_held_at(driver::now())) {
      a->unclaim();
    } else {
      out.push_back(a);
    }
  }
  return out;
}

void keeper::renew(const std::vector<acquisition_ptr>& some, const std::stop_token& stop) {
  in_batches(some, [&](std::span<const acquisition_ptr> part) {
    const auto claimed = claim(part);
    if (!claimed.empty()) ask_for_renewal(claimed, stop);
    for (const auto& a : claimed) a->unclaim();
  });
}

void keeper::ask_for_renewal(std::span<const acquisition_ptr> some, const std::stop_token& stop) {
  // The call may not outlast what it is to prolong: a hanging one would hide the loss of the others.
  const core::instant sent = driver::now();
  core::instant deadline = core::later(sent, call_timeout_);
  for (const auto& a : some) deadline = std::min(deadline, std::max(a->deadline(), core::later(sent, 10ms)));
  try {
    const auto answers = doing_.renew(views(some), {.deadline = deadline, .stop = stop});
    for (std::size_t i = 0; i < some.size(); ++i) take_answer(some[i], answers[i], sent);
  } catch (const error& e) {
    retry(some);
    if (stop.stop_requested()) return;
    for (const auto& a : some) doing_.renewal_failed(*a, e);
  } catch (const std::exception&) {
    retry(some);
  }
}

// why_lost() says "unreachable" if it does not get better in time.
void keeper::retry(std::span<const acquisition_ptr> some) const {
  for (const auto& a : some) {
    a->is_unreachable = true;
    a->set_renewal_due(core::renewal_retry(driver::now(), a->lease(), jitter()));
  }
}

void keeper::take_answer(const acquisition_ptr& a, const strategies::renewal& answer, core::instant sent) const {
  const bool is_late = answer.what == strategies::standing::kept && !a->set_left(sent, answer.left, driver::now());
  if (is_late) return;  // it is lost; what the database has prolonged is undone
  a->is_unreachable = false;
  switch (answer.what) {
    case strategies::standing::kept:
      a->set_renewal_due(core::renewal_due(sent, a->lease()));
      doing_.renewed(*a);
      break;
    case strategies::standing::inconclusive:
      a->set_renewal_due(core::renewal_retry(driver::now(), a->lease(), jitter()));
      break;
    case strategies::standing::lost:
      doing_.lost(a, answer.why);
      break;
  }
}

}  // namespace rowlock::inline v1::runtime
