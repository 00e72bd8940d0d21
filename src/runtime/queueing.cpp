#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <utility>

#include "core/wait.hpp"
#include "driver/boot_clock.hpp"
#include "runtime/batches.hpp"
#include "runtime/client_impl.hpp"
#include "runtime/commit_watch.hpp"
#include "runtime/listening.hpp"
#include "runtime/queue_watch.hpp"
#include "runtime/wish.hpp"
#include "strategy/queue.hpp"

// The queue of a name in the database, and how those who wait here learn that their turn has come.
namespace rowlock::inline v1::detail {

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t no_such_ticket = -1;
constexpr duration longest_errand = 1s;      // renewals wait for it
constexpr duration longest_leaving = 200ms;  // a try waits for it

std::vector<strategies::ticket> views(std::span<const runtime::queue_ticket> some) {
  std::vector<strategies::ticket> out;
  out.reserve(some.size());
  for (const auto& t : some) out.push_back({.name = t.name, .attempt = t.attempt, .number = t.number});
  return out;
}

}  // namespace

// --- one who waits ---------------------------------------------------------------------------------------------------

client_impl::queued::~queued() {
  auto ticket = place.ticket();
  if (ticket.number != 0) in_.leave_later(name_, std::move(ticket.attempt), ticket.number);
}

// If the reply is lost the ticket may be there all the same, or come late: it is taken away again and again until it
// could have come no more, and another one is taken. Should it stand in somebody's way, then for ticket_life at most.
void client_impl::take_ticket(const wish& what, runtime::patience& so_far, const std::stop_token& stop) {
  std::string attempt = ids_.next();
  try {
    const auto until = limits_while_waiting(so_far, stop);
    const auto number = on_session(until, [&](driver::session& on) {
      return strategies::enqueue(
          sql_, on, {.name = what.name.view(), .owner = owner_, .thread = what.by.text(), .attempt = attempt}, until);
    });
    what.place->take(std::move(attempt), number);
    keeper_.arm(line_.beat_due());
  } catch (const error& e) {
    if (e.outcome_is_unknown()) leave_later(what.name, std::move(attempt), 0);
    ride_out(e, false, so_far, stop);
  }
}

// Where the statement that takes the lock does not ask the queue itself. What is committed between this look and the
// try came later: that it is not waited for is as if the try had been made at once.
std::optional<strategies::answer> client_impl::refused_by_queue(const wish& what, driver::session& on,
                                                                const driver::limits& until) {
  if (!what.is_fair()) return std::nullopt;
  const strategies::ticket own{.name = what.name.view(), .attempt = {}, .number = what.turn()};
  const auto turn = strategies::look_at_queues(sql_, on, {&own, 1}, until).at(0);
  const bool has_place = what.ticket() == 0 || turn.has_place;
  if (!turn.is_behind && has_place) return std::nullopt;
  return strategies::answer{.what = turn.looks_free ? strategies::verdict::behind : strategies::verdict::busy,
                            .token = {},
                            .left = turn.looks_free ? std::nullopt : turn.left,
                            .is_behind = turn.is_behind,
                            .has_place = has_place};
}

// Whoever has the lock stands in nobody's way; and a release that comes soon must not find it to be the next.
void client_impl::leave_queue(const wish& what, driver::session& on, const driver::limits& until) noexcept {
  if (what.place == nullptr) return;
  try {
    const auto own = what.place->ticket();
    if (own.number == 0) return;
    const strategies::ticket view{.name = own.name, .attempt = own.attempt, .number = own.number};
    if (strategies::leave(sql_, on, {&view, 1}, until).at(0)) what.place->give_up_ticket();
  } catch (const std::exception&) {  // it goes with the place
  }
}

void client_impl::leave_queue_on_another(const wish& what, const driver::limits& until) noexcept try {
  on_session(until, [&](driver::session& on) { leave_queue(what, on, until); });
} catch (const std::exception&) {  // it goes with the place
}

// --- the errands of the maintenance thread ---------------------------------------------------------------------------

// Number 0: not known, and perhaps there is none yet.
void client_impl::leave_later(const lock_name& name, std::string attempt, std::int64_t number) {
  const auto now = driver::now();
  if (number > 0) late_.add(name, attempt, core::later(now, core::ticket_life));
  departures_.add({.name = name,
                   .acquisition = std::move(attempt),
                   .until = core::later(now, options_.call_timeout + core::ticket_life),
                   .from = now,
                   .next = now,
                   .ticket = number,
                   .may_appear = number == 0});
  keeper_.arm(now);
}

core::instant client_impl::next_errand() { return std::min(line_.beat_due(), departures_.next()); }

// One batch at a time: whatever holds a lock comes first.
void client_impl::run_errands(const driver::limits& until) noexcept try {
  const driver::limits soon{.deadline = std::min(until.deadline, core::later(driver::now(), longest_errand)),
                            .stop = until.stop};
  auto due = departures_.take_due(driver::now());
  for (; due.size() > runtime::batch_size; due.pop_back()) departures_.add(std::move(due.back()));
  leave_all(std::move(due), soon);
  if (line_.beat_due() <= driver::now()) keep_tickets(soon);
} catch (const std::exception&) {  // out of memory: tickets expire by themselves
}

void client_impl::leave_all(std::vector<runtime::undo_list::entry> tickets, const driver::limits& until) {
  std::vector<runtime::undo_list::entry> again;
  std::vector<runtime::undo_list::entry> known;
  for (auto& t : tickets) (t.ticket == 0 ? again : known).push_back(std::move(t));
  withdraw_all(again, until);
  const auto releases_before = releases_.load();
  const auto left = leave_at_once(known, until);
  ++leaves_;
  // A release of this client's that was under way with it took a ticket of its own for the next, and told nobody; or
  // this was under way with a release, which looks for it in the same way.
  if (releases_ != releases_before)
    for (const auto& t : known)
      if (t.ticket > 0) pass_on(t.name);
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (left[i]) {
      late_.remove(known[i].acquisition);
    } else {
      again.push_back(std::move(known[i]));
    }
  }
  departures_.put_back(std::move(again), driver::now());
}

// Of an earlier wait here: what comes after it stands behind it for no reason. Where the database does not take it away
// at once, the try is made all the same.
void client_impl::leave_behind_no_ticket(const lock_name& name, duration wait, const std::stop_token& stop) try {
  const auto now = driver::now();
  if (!late_.has(name, now)) return;
  const auto longest = wait <= duration::zero() ? longest_leaving : std::min(wait, longest_leaving);
  const driver::limits until{.deadline = core::later(now, std::max(longest, database_->least_call())), .stop = stop};
  leave_all(departures_.take_tickets(name), until);
  late_.wait(name, core::later(now, longest), stop);  // the maintenance thread may have taken it before
} catch (const std::exception&) {                     // out of memory
}

// Whether they are there, or come yet, nobody knows.
void client_impl::withdraw_all(const std::vector<runtime::undo_list::entry>& some, const driver::limits& until) noexcept
    try {
  if (some.empty()) return;
  on_session(
      until,
      [&](driver::session& on) {
        for (const auto& t : some)
          strategies::withdraw(sql_, on, {.name = t.name.view(), .attempt = t.acquisition}, until);
      },
      runtime::purpose::letting_go);
} catch (const std::exception&) {  // they are repeated anyway
}

std::vector<bool> client_impl::leave_at_once(const std::vector<runtime::undo_list::entry>& some,
                                             const driver::limits& until) try {
  if (some.empty()) return {};
  std::vector<strategies::ticket> batch;
  batch.reserve(some.size());
  for (const auto& t : some) batch.push_back({.name = t.name.view(), .attempt = t.acquisition, .number = t.ticket});
  return on_session(
      until, [&](driver::session& on) { return strategies::leave(sql_, on, batch, until); },
      runtime::purpose::letting_go);
} catch (const error&) {
  return std::vector<bool>(some.size());
}

// A ticket that it finds gone is replaced by whoever had it.
void client_impl::keep_tickets(const driver::limits& until) {
  line_.set_beat_due(core::instant::max());
  const auto all = line_.tickets();
  if (all.empty()) return;
  auto next = core::ticket_beat;
  try {
    runtime::in_batches(all, [&](std::span<const runtime::queue_ticket> some) {
      const auto stays = on_session(
          until, [&](driver::session& on) { return strategies::keep_alive(sql_, on, views(some), until); },
          runtime::purpose::letting_go);
      for (std::size_t i = 0; i < some.size(); ++i) {
        if (!stays[i].has_place) line_.displace(some[i]);
        if (stays[i].may_go) line_.hint(some[i].name);
      }
    });
  } catch (const std::exception&) {
    next = core::ticket_retry;
  }
  line_.set_beat_due(core::later(driver::now(), next));
}

// --- hints -----------------------------------------------------------------------------------------------------------

bool client_impl::is_told() const noexcept {
  if (sources_.empty()) return true;  // there are no others
  return std::any_of(sources_.begin(), sources_.end(), [](const auto& each) { return each->is_live(); });
}

runtime::subscription::sources client_impl::sources_of_hints() {
  runtime::subscription::sources all;
  const auto news = database_->news();
  if (news == driver::foreign_news::counted) all.push_back(watching_commits());
  if (news == driver::foreign_news::asked || news == driver::foreign_news::told) all.push_back(asking());
  if (news == driver::foreign_news::told) all.push_back(listening_and(*all.front()));
  return all;
}

// Whether any of the names has changed hands.
bool client_impl::hint_those_who_may_go(driver::session& on, const std::vector<runtime::queue_ticket>& some,
                                        const driver::limits& until) {
  bool has_changed = false;
  runtime::in_batches(some, [&](std::span<const runtime::queue_ticket> part) {
    const auto turns = strategies::look_at_queues(sql_, on, views(part), until);
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (line_.was_looked_at(part[i], turns[i].is_behind, turns[i].version)) has_changed = true;
      if (turns[i].looks_free && !turns[i].is_behind) line_.hint(part[i].name);
      if (!turns[i].looks_free) line_.hint_late(part[i], turns[i].left);
    }
  });
  return has_changed;
}

std::unique_ptr<runtime::hint_source> client_impl::watching_commits() {
  return std::make_unique<runtime::commit_watch>(runtime::commit_watch::hands{
      .open = [this](const driver::limits& until) { return timed(&driver::database::connect, until); },
      .look = [this](driver::session& on,
                     const driver::limits& until) { return hint_those_who_may_go(on, line_.firsts(), until); },
      .begin = [this] { line_.hint_all(); },
      .polling = [this](const error& why) { polling(why); }});
}

std::unique_ptr<runtime::hint_source> client_impl::asking() {
  return std::make_unique<runtime::queue_watch>(runtime::queue_watch::hands{
      .look =
          [this](const std::stop_token& stop) {
            const auto until = call_limits(stop);
            const auto due = line_.firsts_due(driver::now());
            on_session(until, [&](driver::session& on) { hint_those_who_may_go(on, due, until); });
          },
      .next = [this] { return is_listening_ ? core::instant::max() : line_.next_look(); }});
}

// What is told to somebody who has left is passed on, by leaving with a ticket that there never was: the release has
// told nobody else. Whoever may NOTIFY may tell anything: a name that nobody has waited for here is dropped.
std::unique_ptr<runtime::hint_source> client_impl::listening_and(runtime::hint_source& meanwhile) {
  return std::make_unique<runtime::listening>(
      runtime::listening::hands{
          .open = [this](const driver::limits& until) { return database_->listen(owner_, until); },
          .ring =
              [this](const driver::limits& until) {
                on_session(until, [&](driver::session& on) {
                  const driver::request asked{std::string_view{owner_}};
                  on.run(sql_[dialect::verb::ring], {&asked, 1}, until);
                });
              },
          .heard =
              [this](const std::string& name) {
                if (!line_.hint(name) && line_.take_left(name)) pass_on(name);
              },
          .begin =
              [this] {
                is_listening_ = true;
                line_.hint_all();
              },
          .end =
              [this, &meanwhile] {
                is_listening_ = false;
                meanwhile.look_sooner();
              },
          .warn = [this](const std::string& sentence) { report({events::warning{sentence}}); },
          .polling = [this](const error& why) { polling(why); }},
      options_.call_timeout);
}

void client_impl::pass_on(const lock_name& name) {
  if (!sql_[dialect::verb::tell_next].look.empty()) leave_later(name, ids_.next(), no_such_ticket);
}

void client_impl::was_released(const lock_name& name, std::uint64_t leaves_before) {
  ++releases_;
  line_.hint(name.view());
  if (leaves_ != leaves_before) pass_on(name);
}

}  // namespace rowlock::inline v1::detail
