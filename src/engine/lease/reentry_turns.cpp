#include "engine/lease/reentry_turns.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <span>

#include "base/boot_clock.hpp"
#include "core/lease.hpp"
#include "core/wait.hpp"
#include "engine/queue/ticket_cleanup.hpp"
#include "store/tickets.hpp"

namespace rowlock::inline v1::engine {

namespace {

constexpr int of_all_the_time = 10;  // it is closed for one part of so many

std::vector<store::ticket_ref> behind_all(std::span<const lock_name> names) {
  std::vector<store::ticket_ref> out;
  out.reserve(names.size());
  for (const auto& each : names) out.push_back({.name = each.view(), .attempt = {}});
  return out;
}

}  // namespace

engine::task<bool> reentry_turns::comes_after_others(flow& on, const lock_name& name, const holder& by,
                                                     base::instant deadline, const std::stop_token& stop) {
  const auto now = base::now();
  const auto since = held_.joined_since(name, by, now);
  if (!since) co_return now < in_turn_until(name);
  if (now < base::later(*since, db_.options().handover_limit)) co_return false;
  const auto until = std::min(closed_until(name, now), deadline);
  if (now >= until) co_return false;
  if (on.has_thread()) co_return held_.has_ended(name, by, until, stop);
  while (held_.has(name, by, base::now())) {
    if (base::now() >= until || stop.stop_requested()) co_return false;
    gateway::pause a_moment{db_, std::min(until, base::later(base::now(), std::chrono::milliseconds{5})), stop};
    co_await on.until(a_moment);
    db_.check_usable();
  }
  co_return true;
}

reentry_turns::turn* reentry_turns::find(std::vector<turn>& in, const lock_name& name) {
  const auto found = std::find_if(in.begin(), in.end(), [&](const turn& each) { return each.name == name; });
  return found == in.end() ? nullptr : &*found;
}

base::instant reentry_turns::in_turn_until(const lock_name& name) {
  const auto turns = turns_.lock();
  const auto* const found = find(*turns, name);
  return found == nullptr ? base::instant::min() : found->in_turn_until;
}

// A name that was asked about lately is not asked about again; names whose time is over are forgotten here.
base::instant reentry_turns::closed_until(const lock_name& name, base::instant now) {
  {
    const auto turns = turns_.lock();
    if (const auto* const found = find(*turns, name); found != nullptr && (found->is_asked || now < found->next_look))
      return found->closed_until;
    std::erase_if(*turns, [&](const turn& each) { return !each.is_asked && each.next_look <= now; });
    turns->push_back({.name = name});
    due_ = now;
  }
  maintenance_.wake_at(now);
  return base::instant::min();
}

// A failure counts as no waiter: it is asked again.
void reentry_turns::run(const driver::limits& until) noexcept try {
  const auto names = take_asked();
  const driver::limits soon{.deadline = std::min(until.deadline, base::later(base::now(), longest_ticket_run)),
                            .stop = until.stop};
  in_batches(names, [&](std::span<const lock_name> some) {
    std::vector<store::queue_position> seen(some.size(), store::queue_position{.is_behind = false});
    try {
      seen = db_.run(
          soon, [&](const store::access& db) { return store::look_at_queues(db, behind_all(some)); },
          purpose::releasing);
    } catch (const std::exception&) {
    }
    for (std::size_t i = 0; i < some.size(); ++i) answer(some[i], seen[i].is_behind);
  });
} catch (const std::exception&) {  // out of memory
  due_ = base::later(base::now(), core::ticket_retry);
}

std::vector<lock_name> reentry_turns::take_asked() {
  std::vector<lock_name> out;
  const auto turns = turns_.lock();
  due_ = base::instant::max();
  for (const auto& each : *turns)
    if (each.is_asked) out.push_back(each.name);
  return out;
}

void reentry_turns::answer(const lock_name& name, bool others_wait) {
  const auto limit = db_.options().handover_limit;
  const auto now = base::now();
  const auto turns = turns_.lock();
  auto* const found = find(*turns, name);
  if (found == nullptr) return;
  found->is_asked = false;
  found->next_look = base::later(now, others_wait ? limit * of_all_the_time : limit);
  if (!others_wait) return;
  found->closed_until = base::later(now, limit);
  found->in_turn_until = base::later(found->closed_until, core::yielding);
}

}  // namespace rowlock::inline v1::engine
