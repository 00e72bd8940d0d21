#include "engine/queue/ticket_cleanup.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <utility>

#include "base/boot_clock.hpp"
#include "base/waits.hpp"
#include "core/wait.hpp"
#include "store/inspection.hpp"
#include "store/leases.hpp"
#include "store/tickets.hpp"

namespace rowlock::inline v1::engine {

void orphaned_tickets::add(const lock_name& name, const core::acquisition_id& attempt, base::instant until) {
  const auto all = all_.lock();
  const auto at = base::now();
  std::erase_if(*all, [&](const ticket& t) { return t.until <= at; });
  all->push_back({.name = name, .attempt = attempt, .until = until});
  is_empty_ = false;
}

void orphaned_tickets::remove(const core::acquisition_id& attempt) noexcept {
  std::erase_if(*all_.lock(), [&](const ticket& t) { return t.attempt == attempt; });
  removed_.notify_all();
}

// Asked before every attempt and every release.
bool orphaned_tickets::has(const lock_name& name, base::instant now) {
  if (is_empty_) return false;
  const auto all = all_.lock();
  std::erase_if(*all, [&](const ticket& t) { return t.until <= now; });
  is_empty_ = all->empty();
  return has(*all, name);
}

std::vector<core::acquisition_id> orphaned_tickets::of(const lock_name& name, base::instant now) {
  std::vector<core::acquisition_id> out;
  const auto all = all_.lock();  // held during the loop
  for (const auto& t : *all)
    if (t.name == name && t.until > now) out.push_back(t.attempt);
  return out;
}

bool orphaned_tickets::has(const std::vector<ticket>& all, const lock_name& name) {
  return std::any_of(all.begin(), all.end(), [&](const ticket& t) { return t.name == name; });
}

void orphaned_tickets::wait(const lock_name& name, base::instant deadline, const std::stop_token& stop) {
  auto all = all_.lock();
  base::wait_until(removed_, all.lock(), deadline, stop, [&] { return !has(*all, name); });
}

namespace {

using namespace std::chrono_literals;

constexpr core::ticket_number no_such_ticket{-1};
constexpr duration most_of_a_hold = 200ms;  // a used ticket obstructs no waiter: its deletion need not delay a release

bool is_known(core::ticket_number n) { return core::to_integer(n) > 0; }

// A release may have woken this client in vain for one of them, unless the lock is held by that ticket: it is released.
template <class Tickets>
std::vector<lock_name> names_of(const Tickets& some) {
  std::vector<lock_name> out;
  for (const auto& t : some)
    if (is_known(t.number) && t.how != ticket_cleanup::ticket_fate::used) out.push_back(t.name);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

void ticket_cleanup::leave_later(const lock_name& name, const core::acquisition_id& attempt, core::ticket_number number,
                                 ticket_fate how, duration lease) {
  const auto now = base::now();
  const auto until =
      base::later(base::later(now, db_.options().call_timeout),
                  how == ticket_fate::abandoned ? std::max(core::ticket_life, lease) : core::ticket_life);
  const auto next = how == ticket_fate::used ? base::later(now, most_of_a_hold) : now;
  if (is_known(number) && how != ticket_fate::used) late_.add(name, attempt, base::later(now, core::ticket_life));
  if (how == ticket_fate::abandoned) abandoned_.add(name, attempt, base::later(now, core::ticket_life));
  leaving_.add({.name = name, .attempt = attempt, .number = number, .until = until, .next = next, .how = how});
  maintenance_.wake_at(next);
}

// One batch at a time: everything that keeps a lock comes first.
void ticket_cleanup::run(const driver::limits& until) noexcept try {
  const driver::limits soon{.deadline = std::min(until.deadline, base::later(base::now(), longest_ticket_run)),
                            .stop = until.stop};
  const auto is_used = [](const departing& t) { return t.how == ticket_fate::used; };
  auto due = leaving_.take_due(base::now());
  if (std::any_of(due.begin(), due.end(), is_used))
    std::ranges::move(leaving_.take_if(is_used), std::back_inserter(due));
  for (; due.size() > batch_size; due.pop_back()) leaving_.add(std::move(due.back()));
  const auto names = names_of(due);
  leave(std::move(due), soon);
  wake(names, whom::any, soon);
} catch (const std::exception&) {  // out of memory: tickets expire by themselves
}

// A release that chooses a ticket has it locked until its commit, and the ticket would hold up the queue.
void ticket_cleanup::leave_all(const driver::limits& until) {
  const auto may_exist = [](const departing& t) { return t.number != core::ticket_number::none; };
  repeat_at_the_end(until, [&] {
    auto all = leaving_.take_due(base::instant::max());
    const auto names = names_of(all);
    leave(std::move(all), until);
    wake(names, whom::any, until);
    return !leaving_.has(may_exist);
  });
}

// First the ticket is deleted, then the row is looked at: a release locks the ticket that it chooses, so it has granted
// the name before that, or not at all. A ticket whose number is not known may be committed later, so this is repeated
// until its time is over. Each step may be repeated after a lost reply or a pause, as each names the ticket or its id.
void ticket_cleanup::leave(std::vector<departing> tickets, const driver::limits& until) {
  auto unnotified = extract_if(tickets, [](const departing& t) { return t.number == no_such_ticket; });
  auto again = extract_if(tickets, [](const departing& t) { return t.number == core::ticket_number::none; });
  withdraw(again, until);
  auto left = leave_at_once(tickets, until);
  for (const auto& t : again) release_grant(t, until);
  for (std::size_t i = 0; i < tickets.size(); ++i) left[i] = release_grant(tickets[i], until) && left[i];
  notify(std::move(unnotified), until);  // now that no ticket of this client keeps the mark on the row
  for (std::size_t i = 0; i < tickets.size(); ++i) {
    if (left[i]) {
      late_.remove(tickets[i].attempt);
    } else {
      again.push_back(std::move(tickets[i]));
    }
  }
  leaving_.put_back(std::move(again), base::now());
}

// The attempt is made even if the database does not delete it at once.
void ticket_cleanup::clear(std::span<const lock_name> names, duration wait, const std::stop_token& stop) {
  const auto longest = wait <= duration::zero() ? longest_leaving : std::min(wait, longest_leaving);
  const auto until = base::later(base::now(), longest);
  for (const auto& name : names)
    if (leave_at_last(name, std::max<duration>(until - base::now(), duration::zero()), stop))
      wake({&name, 1}, whom::any, soon());
}

// true: there were tickets. Their deletion is not certain.
bool ticket_cleanup::leave_at_last(const lock_name& name, duration longest, const std::stop_token& stop) noexcept try {
  const auto now = base::now();
  if (!late_.has(name, now)) return false;
  const driver::limits until{.deadline = base::later(now, std::max(longest, db_.database().least_call())),
                             .stop = stop};
  leave(leaving_.take_if([&](const departing& t) { return is_known(t.number) && t.name == name; }), until);
  late_.wait(name, base::later(now, longest), stop);  // the maintenance thread may have taken it before
  return true;
} catch (const std::exception&) {  // out of memory
  return false;
}

// A release that saw the ticket before it was deleted may have granted it the lock. If that is committed later, the
// client is notified, or finds it at its next attempt; otherwise the grant ends by itself, after a second. A grant that
// was claimed, with a lost answer, does not end so soon, so this is repeated. false: it failed, or the row is locked,
// as by that claim.
bool ticket_cleanup::release_grant(const departing& left, const driver::limits& until) noexcept try {
  if (left.how != ticket_fate::abandoned) return true;
  const auto release = [&](const store::access& db) { return release_grant(left.name, left.attempt, db); };
  return db_.run(until, release, purpose::releasing) != store::release_outcome::pinned;
} catch (const std::exception&) {
  return false;
}

std::optional<store::release_outcome> ticket_cleanup::release_grant(const lock_name& name, const store::access& db) {
  for (const auto& attempt : abandoned_.of(name, base::now()))
    if (const auto outcome = release_grant(name, attempt, db)) return outcome;
  return std::nullopt;
}

// nullopt: there is none any more. No client notifies itself, so the next waiter here is woken.
std::optional<store::release_outcome> ticket_cleanup::release_grant(const lock_name& name,
                                                                    const core::acquisition_id& to,
                                                                    const store::access& db) {
  const auto row = store::look_at(db, name.view());
  if (!row || !row->is_held_by(to.text())) return std::nullopt;
  const store::lease_ref one{.name = name.view(), .acquisition = to.text()};
  const auto outcome = store::release(db, {&one, 1}).at(0);
  if (store::is_released(outcome)) queue_.hint(name.view());
  return outcome;
}

std::optional<store::release_outcome> ticket_cleanup::take_back(const lock_name& name, const driver::limits& until) {
  if (!abandoned_.has(name, base::now())) return std::nullopt;
  const auto release = [&](const store::access& db) -> std::optional<store::release_outcome> {
    if (const auto outcome = release_grant(name, db)) return outcome;
    const auto row = store::look_at(db, name.view());  // the maintenance thread may have been faster
    return row && !row->is_free() ? std::nullopt : std::optional{store::release_outcome::gone};
  };
  return db_.run(until, release, purpose::releasing);
}

bool ticket_cleanup::is_abandoned(const lock_name& name, std::string_view attempt) {
  const auto all = abandoned_.of(name, base::now());
  return std::any_of(all.begin(), all.end(), [&](const auto& each) { return each.text() == attempt; });
}

// It is not known whether they exist, or may still be committed.
void ticket_cleanup::withdraw(const std::vector<departing>& some, const driver::limits& until) noexcept try {
  if (some.empty()) return;
  db_.run(
      until,
      [&](const store::access& db) {
        for (const auto& t : some) store::withdraw(db, {.name = t.name.view(), .attempt = t.attempt.text()});
      },
      purpose::releasing);
} catch (const std::exception&) {  // they are repeated anyway
}

std::vector<bool> ticket_cleanup::leave_at_once(const std::vector<departing>& some, const driver::limits& until) try {
  if (some.empty()) return {};
  std::vector<store::ticket_ref> batch;
  batch.reserve(some.size());
  for (const auto& t : some) batch.push_back({.name = t.name.view(), .attempt = t.attempt.text(), .number = t.number});
  return db_.run(
      until, [&](const store::access& db) { return store::leave(db, batch); }, purpose::releasing);
} catch (const error&) {
  return std::vector<bool>(some.size());
}

// A waiter of this client continues by itself: it tries, and releases, or leaves, which notifies the next; but another
// client may come before it.
bool ticket_cleanup::released(const lock_name& name, bool is_unnotified) {
  const bool is_next_here = queue_.hint(name.view());
  if (!is_unnotified) return true;
  if (!is_next_here) return pass_on(name);
  wake({&name, 1}, whom::first, soon());
  return true;
}

driver::limits ticket_cleanup::soon() const {
  return {.deadline = base::later(base::now(), std::min(db_.options().call_timeout, longest_ticket_run))};
}

// If waiters must be woken, the next one waits for that; everything else can wait.
bool ticket_cleanup::pass_on(const lock_name& name) {
  if (wakes()) leave_at_last(name, longest_leaving, {});  // the next waiter may be behind these
  if (wake({&name, 1}, whom::any, soon())) return true;
  if (db_.can().marks_waiting) leave_later(name, who_.next_id(), no_such_ticket);
  return false;
}

bool ticket_cleanup::wakes() const noexcept { return db_.database().news() == driver::foreign_news::woken; }

bool ticket_cleanup::wake(std::span<const lock_name> names, whom which, const driver::limits& until) noexcept try {
  if (names.empty() || !wakes()) return false;
  return db_.run(
      until,
      [&](const store::access& db) {
        bool are_all = true;
        for (const auto& name : names) are_all = tells(name, which, db) && are_all;
        return are_all;
      },
      purpose::releasing);
} catch (const std::exception&) {
  return false;
}

void ticket_cleanup::wake_next(const lock_name& name, const store::access& db) noexcept try {
  if (wakes()) tells(name, whom::first, db);
} catch (const std::exception&) {  // the share is granted nevertheless
}

bool ticket_cleanup::tells(const lock_name& name, whom which, const store::access& db) {
  const auto next = store::first_waiter(db, name.view(), who_.next_id().text());
  if (next.owner.empty() || (which == whom::first && next.is_behind)) return false;
  db_.database().wake(db.session, next.owner, db.until);
  return true;
}

void ticket_cleanup::notify(std::vector<departing> names, const driver::limits& until) {
  std::erase_if(names, [&](const departing& each) {
    try {
      return db_.run(
          until, [&](const store::access& db) { return notify_or_clear(each.name, db); }, purpose::releasing);
    } catch (const error&) {
      return false;
    }
  });
  leaving_.put_back(std::move(names), base::now());
}

// A ticket may be committed, and its waiter may read the mark of its name, before the mark is cleared. So a client that
// may have cleared the mark looks once more after that commit, and sets it again for any live ticket, whichever client
// holds the name by then. A release in between has notified no client. false: the row could not be marked.
bool ticket_cleanup::notify_or_clear(const lock_name& name, const store::access& db) {
  release_grant(name, db);
  const bool is_next_here = queue_.hint(name.view());
  if (tells(name, is_next_here ? whom::first : whom::any, db) || is_next_here) return true;
  store::clear_waiting(db, name.view());
  const store::ticket_ref all{.name = name.view(), .attempt = {}};
  const auto seen = store::look_at_queues(db, {&all, 1}).at(0);
  if (!seen.is_behind || !seen.has_row || seen.is_marked) return true;
  if (!store::mark_waiting(db, name.view())) return false;
  if (!queue_.hint(name.view())) tells(name, whom::any, db);
  return true;
}

}  // namespace rowlock::inline v1::engine
