#include <algorithm>
#include <array>
#include <cstddef>
#include <list>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/boot_clock.hpp"
#include "base/text.hpp"
#include "base/waits.hpp"
#include "core/error_detail.hpp"
#include "engine/acquire/attempt.hpp"

namespace rowlock::inline v1::engine {

namespace {

core::acquire_machine::wakeup wakeup_of(local_wait_queue::outcome o) {
  using enum core::acquire_machine::wakeup;
  if (o == local_wait_queue::outcome::stopped) return stopped;
  return o == local_wait_queue::outcome::out_of_time ? out_of_time : hinted;
}

}  // namespace

// What has a free row locked is most likely a holder where transactions hold the name.
lease_ptr acquirer::try_only_once(const acquire_request& what, const std::stop_token& stop) try {
  const bool may_be_held = what.is_for_transaction || holds_by_transaction(what.options.strategy);
  const int tries = may_be_held ? core::inconclusive_tries : core::inconclusive_only_tries;
  const auto until = db_.call_limits(stop);
  auto lease = try_once(what, until, tries).lease;
  const std::span names = what.set != nullptr ? std::span<const lock_name>{what.set->names} : std::span{&what.name, 1};
  if (lease || !take_back(names, until)) return lease;
  return try_once(what, until, tries).lease;
} catch (const error& e) {
  if (e.code() == errc::cancelled && stop.stop_requested()) return nullptr;
  throw;
}

bool acquirer::take_back(std::span<const lock_name> names, const driver::limits& until) {
  bool out = false;
  for (const auto& name : names) {
    const auto take_one = [&] {
      const auto outcome = cleanup_.take_back(name, until);
      out = out || outcome;
      return outcome != store::release_outcome::pinned;  // by the maintenance thread, which releases it as well
    };
    retry_inconclusive(db_, until.stop, take_one, core::inconclusive_only_tries);
  }
  return out;
}

lease_ptr acquirer::wait_for(acquire_request wanted, base::instant deadline, const std::stop_token& stop) {
  using enum core::acquire_machine::action;
  const auto now = base::now();
  const bool takes_handovers =
      wanted.call != nullptr && wanted.share.is_exclusive() && wanted.set == nullptr && handover_.takes(wanted.options);
  place at{.what = std::move(wanted),
           .machine = {now, deadline, takes_handovers ? std::optional{db_.options().handover_limit} : std::nullopt}};
  const auto& what = at.what;
  const bool offers = takes_handovers || takes_share(what);
  auto& machine = at.machine;
  lease_ptr lease;
  // Where somebody else was seen to wait, a fair attempt without a ticket would be in vain.
  const bool others_wait = !queue_.is_empty(what.name) || (what.is_fair() && locks_.was_waited_for(what.name));
  at.step = machine.begin(others_wait, takes_handovers && handover_.held_until(what.name, what.options) > now);
  if (at.step.what == try_once) {
    lease = try_while_waiting(what, machine, stop);
    at.step = machine.after_first_try(base::now());
  }
  if (!lease && at.step.what == enter_queue) {
    if (offers) at.offer = offer_of(what);
    lease = wait_in_queues({&at, 1}, stop);
  }
  if (!lease && !stop.stop_requested())
    machine.throw_if_never_answered(db_.options().call_timeout, db_.database().least_call() == duration::zero());
  return lease;
}

lease_ptr acquirer::offer_of(const acquire_request& what) const {
  auto offer = std::make_shared<lease_state>(what.name, what.reentrant(), what.by, what.options);
  offer->counts = &db_.events().numbers();
  offer->asked_at = what.call->began();
  offer->share_as(what.share);
  return offer;
}

// A set asks the database whose turn it is: of its names, another one may be the first in each queue here.
core::acquire_machine::position acquirer::position_of(const place& at) {
  const auto& what = at.what;
  if (what.set != nullptr) return {.is_first = true, .has_ticket = what.ticket() != core::ticket_number::none};
  const auto here = what.waiter->where(base::now());
  return {.is_first = here.is_first,
          .has_ticket = here.ticket != core::ticket_number::none,
          .gives_way = here.gives_way,
          .held_here_until =
              at.offer && here.is_first ? handover_.held_until(what.name, what.options) : base::instant::min()};
}

// It is registered, and kept, since it was handed over.
lease_ptr acquirer::was_handed(const acquire_request& what, const lease_ptr& offer) {
  if (what.options.as) queue_.hint_everybody(what.name);
  return offer;
}

// To repeat the call would not help: what it has is what the others wait for.
void acquirer::end_deadlocked(std::span<local_wait_queue::waiter* const> waiters) {
  const auto whose = std::find_if(waiters.begin(), waiters.end(), [](const auto* w) { return w->is_deadlocked(); });
  const auto e = detail::error_access::make(errc::deadlock,
                                            "waiting for " + base::quoted((*whose)->ticket().name) +
                                                " would last for ever: " + (*whose)->deadlock() +
                                                "; release what you have, and begin again",
                                            {.retryable = false});
  db_.events().failed(e);
  throw error{e};
}

void acquirer::enter_queues(place& at, local_wait_queue::purpose wants, std::pmr::list<queued_waiter>& all) {
  auto& what = at.what;
  const auto enter = [&](const lock_name& name) {
    auto* const beside = all.empty() ? nullptr : &all.back();
    at.queued.push_back(&all.emplace_back(queue_, cleanup_, name, wants, beside));
    return &all.back().waiter();
  };
  if (what.set == nullptr) {
    what.waiter = enter(what.name);
  } else {
    for (const auto& name : what.set->names) what.set->waiters.push_back(enter(name));
    what.waiter = what.set->waiters.front();
  }
  for (auto* one : at.queued) {
    if (may_be_granted(what)) one->how = ticket_cleanup::departure::unwanted;
    one->lease = what.options.lease;
  }
}

// The call waits in the queue of one name; of each of several, whichever it gets first; or of all names of a set, which
// it gets together. Nobody has anything while it waits here. Once it is over, tickets that are left are deleted, and
// what was granted to one of them meanwhile is released.
lease_ptr acquirer::wait_in_queues(std::span<place> places, const std::stop_token& stop) {
  using enum local_wait_queue::purpose;
  std::optional<subscription> hints;
  alignas(std::max_align_t) std::array<std::byte, sizeof(queued_waiter) + 64> for_one_name;
  std::pmr::monotonic_buffer_resource memory{for_one_name.data(), for_one_name.size()};
  std::pmr::list<queued_waiter> entered{&memory};
  std::vector<local_wait_queue::waiter*> waiters;
  for (auto& at : places) enter_queues(at, at.what.set != nullptr ? all : places.size() > 1 ? any : one, entered);
  for (auto& each : entered) waiters.push_back(&each.waiter());
  for (auto& at : places) {
    if (auto lease = again(at.what)) return lease;  // since the first look, before anybody could tell this waiter
    at.step = at.machine.in_queue(base::now(), position_of(at));
  }
  for (;;) {
    auto until = base::instant::max();
    for (auto& at : places) {
      if (auto lease = go_on(at, hints, stop)) return lease;
      if (at.step.what != core::acquire_machine::action::sleep) {
        for (auto& each : places) each.leave();
        return nullptr;
      }
      until = std::min(until, at.step.until);
    }
    const auto& offer = places[0].offer;
    const auto outcome = waiters.size() == 1 ? waiters[0]->wait(until, stop, offer)
                                             : local_wait_queue::waiter::wait_for_several(waiters, until, stop);
    if (outcome == local_wait_queue::outcome::handed) return was_handed(places[0].what, offer);
    if (outcome == local_wait_queue::outcome::deadlocked) end_deadlocked(waiters);
    db_.check_usable();
    const auto now = base::now();
    const bool is_stopped = outcome == local_wait_queue::outcome::stopped;
    for (auto& at : places) {
      const bool is_hinted = !is_stopped && at.is_hinted();
      if (is_stopped || is_hinted || at.step.until <= now)
        at.step = at.machine.after_sleep(now, wakeup_of(is_hinted ? local_wait_queue::outcome::hinted : outcome));
    }
  }
}

// Until there is nothing to do but to sleep, or it gives up.
lease_ptr acquirer::go_on(place& at, std::optional<subscription>& hints, const std::stop_token& stop) {
  using enum core::acquire_machine::action;
  auto& what = at.what;
  auto& machine = at.machine;
  const auto listen_to_others = [&] {
    if (!hints) hints.emplace(wakeups_.all());
  };
  for (;;) {
    switch (at.step.what) {
      case take_ticket:
        listen_to_others();
        obtain_tickets(at, stop);
        at.step = machine.after_ticket(position_of(at));
        break;
      case look:
        for (auto* each : at.queued) each->waiter().listen();
        if (auto lease = again(what)) return lease;
        at.step = machine.after_look(base::now(), position_of(at));
        break;
      case try_once:
        listen_to_others();
        what.gives_way = what.set == nullptr && what.waiter->where(base::now()).gives_way;
        what.passes_the_slow = machine.was_left_free(base::now()) && holds_something();
        if (auto lease = try_while_waiting(what, machine, stop)) {
          at.leave_with_lock(*lease);
          return lease;
        }
        if (what.is_for_transaction && machine.is_behind_transaction()) {
          at.step = {give_up};
          return nullptr;
        }
        wakeups_.look_sooner();
        at.step = machine.in_queue(base::now(), position_of(at));
        break;
      default:
        return nullptr;
    }
  }
}

// Those who come before may wait for that.
bool acquirer::holds_something() {
  bool out = false;
  locks_.registry().each([&](const lease_ptr& a) { out = out || a->taken_by == std::this_thread::get_id(); });
  return out;
}

driver::limits acquirer::limits_while_waiting(const core::acquire_machine& machine, const std::stop_token& stop) {
  driver::limits until = db_.call_limits(stop);
  const auto least = base::later(base::now(), db_.database().least_call());
  until.deadline = std::min(until.deadline, std::max(machine.deadline(), least));
  return until;
}

lease_ptr acquirer::try_while_waiting(const acquire_request& what, core::acquire_machine& machine,
                                      const std::stop_token& stop) try {
  const auto until = limits_while_waiting(machine, stop);
  if (what.set != nullptr) {
    for (std::size_t i = 0; i < what.set->waiters.size(); ++i)
      tickets_.mark(*what.set->waiters[i], what.set->names[i], until);
  } else if (what.waiter != nullptr && !asks_the_queue_too(what)) {
    tickets_.mark(*what.waiter, what.name, until);
  }
  auto result = try_once(what, until);
  if (!result.lease) machine.was_refused(result.why, base::now(), base::jitter());
  return std::move(result.lease);
} catch (const error& e) {
  machine.failed(e, stop.stop_requested(), holds_by_transaction(what.options.strategy), base::now(), base::jitter());
  return nullptr;
}

void acquirer::obtain_tickets(place& at, const std::stop_token& stop) try {
  const auto& what = at.what;
  for (auto* each : at.queued) {
    if (each->waiter().ticket_number() != core::ticket_number::none) continue;
    tickets_.take(
        each->waiter(), each->name(), what.by, what.options.note,
        {.lease = may_be_granted(what) ? std::optional{what.options.lease} : std::nullopt, .room = what.room()},
        limits_while_waiting(at.machine, stop));
  }
  if (what.set != nullptr) what.waiter->hint();  // to try, wherever it is in the queues here
  deadlocks_.waits();
} catch (const error& e) {
  at.machine.failed(e, stop.stop_requested(), false, base::now(), base::jitter());
}

}  // namespace rowlock::inline v1::engine
