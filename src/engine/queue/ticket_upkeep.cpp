#include "engine/queue/ticket_upkeep.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/boot_clock.hpp"
#include "core/wait.hpp"

namespace rowlock::inline v1::engine {

namespace {

constexpr duration longest_farewell = std::chrono::milliseconds{10};

std::vector<store::ticket_ref> refs(std::span<const queue_ticket> some) {
  std::vector<store::ticket_ref> out;
  out.reserve(some.size());
  for (const auto& t : some)
    out.push_back({.name = t.name,
                   .attempt = t.attempt.text(),
                   .number = t.number,
                   .max_other_permits = t.max_other_permits,
                   .patience = store::any_moment});
  return out;
}

}  // namespace

queued_waiter::~queued_waiter() {
  if (waiter_) end();
}

// In the background, since a call that is stopped ends at once, even if the database does not answer.
void queued_waiter::leave(std::pmr::list<queued_waiter>& all) noexcept try {
  bool is_awaited = false;
  for (auto& each : all) is_awaited = each.end() || is_awaited;
  if (!is_awaited) return;
  const auto until = base::later(base::now(), longest_farewell);
  for (auto& each : all) each.cleanup_.await_departures(each.name_, until);
} catch (const std::exception&) {  // out of memory: the ticket expires by itself
}

bool queued_waiter::end() {
  const auto ticket = waiter_->ticket();
  waiter_.reset();
  return leave_behind(ticket);
}

// A displaced ticket may have claimed the name, with a lost answer.
bool queued_waiter::leave_behind(const queue_ticket& t) {
  const bool may_hold = t.is_displaced && how == ticket_cleanup::ticket_fate::abandoned;
  if (t.number == core::ticket_number::none && !may_hold) return false;
  cleanup_.leave_later(name_, t.attempt, t.number, how, lease);
  return true;
}

void ticket_upkeep::take(local_wait_queue::waiter& w, const lock_name& name, const holder& by, std::string_view note,
                         const terms& by_terms, const driver::limits& until) {
  const auto attempt = who_.next_id();
  try {
    const auto number = db_.run(until, [&](const store::access& db) {
      return store::enqueue(db, {.name = name.view(),
                                 .owner = who_.owner(),
                                 .thread = by.text(),
                                 .attempt = attempt.text(),
                                 .note = note,
                                 .lease = by_terms.lease,
                                 .max_other_permits = by_terms.max_other_permits});
    });
    w.take(attempt, number, by_terms.max_other_permits);
    maintenance_.wake_at(queue_.refresh_due());
  } catch (const error& e) {
    using enum ticket_cleanup::ticket_fate;
    const auto how = by_terms.lease ? abandoned : by_another_grant;
    if (e.outcome_is_unknown()) cleanup_.leave_later(name, attempt, core::ticket_number::none, how);
    throw;
  }
}

void ticket_upkeep::displace(local_wait_queue::waiter& w, const lock_name& name) {
  const auto gone = w.ticket();
  queue_.displace(gone);
  if (gone.number != core::ticket_number::none) cleanup_.leave_later(name, gone.attempt, gone.number);
}

void ticket_upkeep::mark(local_wait_queue::waiter& w, const lock_name& name, const driver::limits& until) noexcept try {
  const auto news = db_.database().news();
  if (!driver::reaches_waiters(news)) return;
  if (w.ticket_number() == core::ticket_number::none || w.is_marked()) return;
  if (db_.run(until, [&](const store::access& db) { return store::mark_waiting(db, name.view()); })) w.mark(true);
} catch (const std::exception&) {  // another transaction keeps the row locked: the waiter asks again by itself
}

void ticket_upkeep::leave(std::span<queued_waiter* const> all, const store::access& db) noexcept try {
  std::vector<queue_ticket> own;
  for (auto* each : all) own.push_back(each->waiter().ticket());
  std::erase_if(own, [](const auto& t) { return t.number == core::ticket_number::none; });
  if (own.empty()) return;
  const auto gone = store::leave(db, refs(own));
  for (std::size_t i = 0; i < own.size(); ++i)
    if (gone[i])
      for (auto* each : all)
        if (each->waiter().ticket_number() == own[i].number) each->waiter().give_up_ticket();
} catch (const std::exception&) {  // they are deleted with the waiter
}

void ticket_upkeep::leave(queued_waiter& w, std::vector<queue_ticket> handed, const store::access& db) {
  std::vector<bool> have_gone(handed.size() + 1);
  handed.push_back(w.waiter().ticket());
  try {
    have_gone = store::leave(db, refs(handed));
  } catch (const error&) {  // then later
  }
  if (have_gone.back()) w.waiter().give_up_ticket();
  handed.pop_back();
  for (std::size_t i = 0; i < handed.size(); ++i)
    if (!have_gone[i]) cleanup_.leave_later(w.name(), handed[i].attempt, handed[i].number);
}

void ticket_upkeep::leave(std::span<queued_waiter* const> all, const driver::limits& until) noexcept try {
  const auto is_there = [](auto* each) { return each->waiter().ticket_number() != core::ticket_number::none; };
  if (std::any_of(all.begin(), all.end(), is_there)) db_.run(until, [&](const store::access& db) { leave(all, db); });
} catch (const std::exception&) {  // they are deleted with the waiter
}

// If it finds that a ticket was deleted, its waiter takes another.
void ticket_upkeep::run(const driver::limits& until) noexcept try {
  const driver::limits soon{.deadline = std::min(until.deadline, base::later(base::now(), longest_ticket_run)),
                            .stop = until.stop};
  queue_.set_refresh_due(base::instant::max());
  const auto all = queue_.tickets();
  if (all.empty()) return;
  auto next = core::ticket_refresh;
  try {
    in_batches(all, [&](std::span<const queue_ticket> some) {
      const auto refreshed = db_.run(
          soon, [&](const store::access& db) { return store::refresh_tickets(db, refs(some)); }, purpose::releasing);
      for (std::size_t i = 0; i < some.size(); ++i) {
        if (!refreshed[i].has_ticket) queue_.displace(some[i]);
        if (refreshed[i].may_go) queue_.hint(some[i].name);
        if (!refreshed[i].is_marked) queue_.lost_mark(some[i]);
      }
    });
  } catch (const std::exception&) {
    next = core::ticket_retry;
  }
  queue_.set_refresh_due(base::later(base::now(), next));
} catch (const std::exception&) {  // out of memory: tickets expire by themselves
}

// An answer says its name, so a statement asks of each name once.
local_wait_queue::change ticket_upkeep::hint_those_who_may_go(const store::access& db,
                                                              std::span<const queue_ticket> some) {
  auto most = local_wait_queue::change::none;
  std::vector<queue_ticket> again;
  std::vector<queue_ticket> once;
  std::unordered_set<std::string_view> names;
  for (const auto& each : some) (names.insert(each.name).second ? once : again).push_back(each);
  in_batches(once, [&](std::span<const queue_ticket> part) {
    const auto turns = store::look_at_queues(db, refs(part));
    for (std::size_t i = 0; i < part.size(); ++i) {
      const bool is_granted = !turns[i].holding.empty() && queue_.waits_by(part[i].name, turns[i].holding);
      most = std::max(most, queue_.was_looked_at(part[i], turns[i].is_behind || is_granted, turns[i].version));
      if (is_granted || (turns[i].looks_free && !turns[i].is_behind)) queue_.hint(part[i].name);
      if (!turns[i].looks_free) queue_.hint_late(part[i], turns[i].left);
      if (!turns[i].is_marked) queue_.lost_mark(part[i]);
    }
  });
  return again.empty() ? most : std::max(most, hint_those_who_may_go(db, again));
}

}  // namespace rowlock::inline v1::engine
