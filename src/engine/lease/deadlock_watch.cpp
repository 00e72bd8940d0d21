#include "engine/lease/deadlock_watch.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/boot_clock.hpp"
#include "engine/queue/ticket_cleanup.hpp"

namespace rowlock::inline v1::engine {

namespace {

using namespace std::chrono_literals;

constexpr duration a_moment = 400ms;  // most waits are shorter
constexpr duration pause = 500ms;     // a deadlock lasts twice that, and a moment

// A waiter for permits does not depend on any particular holder.
bool waits_for_all_holders(const queue_ticket& t) {
  return t.max_other_permits < 0 || t.max_other_permits == core::sharing::unlimited;
}

// A lock that only the thread that took it can release. The handles of any other holder may be with other threads,
// which do not wait.
bool is_kept_by_its_thread(const lease_state& a) { return a.is_held() && a.is_of_thread; }

}  // namespace

void deadlock_watch::waits() noexcept {
  auto none = base::instant::max();
  const auto due = base::later(base::now(), a_moment);
  if (due_.compare_exchange_strong(none, due)) maintenance_.wake_at(due);
}

// A failed step is repeated when it is next due. A waiter with a ticket is seen here, or else finds that nothing is
// due.
void deadlock_watch::run(const driver::limits& until) noexcept try {
  due_ = base::instant::max();
  auto now = waiting_holders();
  if (!queue_.tickets().empty()) due_ = base::later(base::now(), pause);
  if (now.empty() && watched_.empty()) return;
  const driver::limits soon{.deadline = std::min(until.deadline, base::later(base::now(), longest_ticket_run)),
                            .stop = until.stop};
  db_.run(
      soon,
      [&](const store::access& db) {
        declare(std::move(now), db);
        if (!watched_.empty()) look(db);
      },
      purpose::releasing);
} catch (const std::exception&) {
}

std::vector<deadlock_watch::watched> deadlock_watch::waiting_holders() {
  std::vector<watched> out;
  for (auto& each : queue_.long_waits(base::now() - a_moment)) {
    if (!waits_for_all_holders(each.ticket)) continue;
    watched one{.ticket = std::move(each.ticket)};
    bool has_it = false;
    held_.each([&](const lease_ptr& a) {
      if (a->taken_by != each.thread || !is_kept_by_its_thread(*a)) return;
      has_it = has_it || (each.reenters && a->is_alone() && a->name.view() == one.ticket.name);
      one.has.push_back({.by = one.ticket.number,
                         .name = std::string{a->name.view()},
                         .acquisition = std::string{a->transaction ? std::string_view{} : a->id.text()}});
    });
    if (!one.has.empty() && !has_it) out.push_back(std::move(one));
  }
  return out;
}

void deadlock_watch::declare(std::vector<watched> now, const store::access& db) {
  std::map<core::ticket_number, watched> before;
  before.swap(watched_);
  for (auto& each : now) {
    const auto number = each.ticket.number;
    if (const auto known = before.find(number); known != before.end() && known->second.has == each.has) {
      each.is_declared = known->second.is_declared;
      each.suspected = std::move(known->second.suspected);
      before.erase(known);
    }
    watched_.emplace(number, std::move(each));
  }
  for (const auto& [number, gone] : before) store::forget_held(db, number);
  for (auto& [number, each] : watched_) {
    if (each.is_declared) continue;
    store::declare_held(db, each.has);
    each.is_declared = true;
  }
}

void deadlock_watch::look(const store::access& db) {
  const auto all = store::waiting_holders(db);
  for (auto& [number, each] : watched_) {
    const auto cycle = core::find_cycle(all, number);
    std::vector<core::ticket_number> found;
    for (const auto* who : cycle) found.push_back(who->ticket);
    if (!found.empty() && found == each.suspected) queue_.end_deadlocked(each.ticket, core::text_of(cycle));
    each.suspected = std::move(found);
  }
}

}  // namespace rowlock::inline v1::engine
