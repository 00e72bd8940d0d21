#include <algorithm>
#include <array>
#include <chrono>
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
#include "engine/acquire/acquirer.hpp"

namespace rowlock::inline v1::engine {

namespace {

// A call with less time makes its attempt first: it could end before it has a ticket.
constexpr duration time_for_a_ticket = std::chrono::milliseconds{10};

core::acquire_machine::wakeup wakeup_of(local_wait_queue::outcome o) {
  using enum core::acquire_machine::wakeup;
  if (o == local_wait_queue::outcome::stopped) return stopped;
  return o == local_wait_queue::outcome::out_of_time ? out_of_time : hinted;
}

// Whether another reader's caller can take the share as it is.
bool takes_share(const acquire_request& what) noexcept {
  return what.call != nullptr && what.share.is_reader() && !what.is_reentrant && !what.options.hold_limit &&
         what.options.at_least == duration::zero();
}

}  // namespace

/// The place of a waiting call: in the queue of a name, or of all names of a set.
struct acquirer::place {
  acquire_request& what;
  core::acquire_machine machine;
  lease_ptr offer{};
  core::acquire_machine::step step{};
  std::vector<queued_waiter*> queued{};  // while it waits

  bool is_hinted() const {
    return std::any_of(queued.begin(), queued.end(), [](auto* each) { return each->waiter().is_hinted(); });
  }
  void leave_with_lock(const lease_state& lease) {
    for (auto* each : queued) {
      each->waiter().leave_with_lock();
      if (lease.id == each->waiter().ticket().attempt) each->how = ticket_cleanup::ticket_fate::used;
    }
  }
};

task<lease_ptr> acquirer::wait_for(acquire_request& what, const std::stop_token& stop) {
  using enum core::acquire_machine::action;
  const auto now = base::now();
  const auto& name = what.names[0];
  const bool takes_handovers = what.call != nullptr && what.is_plain() && handover_.takes(what.options);
  place at{
      .what = what,
      .machine = {now, what.gives_up, takes_handovers ? std::optional{db_.options().handover_limit} : std::nullopt}};
  auto& machine = at.machine;
  lease_ptr lease;
  const bool may_try_briefly = what.is_plain() && !what.is_fair() && what.options.strategy != strategy::for_update;
  const bool is_brief = may_try_briefly && brief_.is_worth_trying(name.view());
  if (is_brief) machine.try_briefly();
  const bool others_wait_here = !queue_.is_empty(name);
  // If another client has waited lately, an attempt without a ticket would most likely fail.
  const bool takes_ticket = !others_wait_here && !is_brief && (what.is_fair() || may_try_briefly) &&
                            locks_.was_waited_for(name) && what.gives_up - now > time_for_a_ticket;
  at.step = takes_ticket
                ? core::acquire_machine::step{enter_queue}
                : machine.begin(others_wait_here, takes_handovers && handover_.held_until(name, what.options) > now);
  if (at.step.what == try_once) {
    lease = co_await try_while_waiting(what, machine, stop);
    at.step = machine.after_first_try(base::now());
  }
  if (!lease && at.step.what == enter_queue) {
    if (takes_handovers || takes_share(what)) at.offer = offer_of(what);
    lease = co_await wait_in_queues({&at, 1}, stop);
    if (!machine.has_tried_briefly()) {
      if (may_try_briefly) brief_.waited(name.view());
    } else if (lease || !machine.needed_no_ticket()) {
      brief_.tried(name.view(), machine.needed_no_ticket());
    }
  }
  if (!lease && !stop.stop_requested())
    machine.throw_if_never_answered(db_.options().call_timeout, db_.database().least_call() == duration::zero());
  co_return lease;
}

// It waits in the queues of at most this many names at a time. If there are more, it tries for all after this time, and
// moves to the queues of the next.
task<lease_ptr> acquirer::wait_for_any(const acquire_request& what, const std::stop_token& stop) {
  constexpr std::size_t most_queues = 32;
  constexpr duration longest_stay = std::chrono::seconds{1};
  const auto deadline = what.gives_up;
  int failures = 0;
  std::vector<lock_name> in_order{what.names.begin(), what.names.end()};
  const std::size_t queues = std::min(most_queues, in_order.size());
  while (!stop.stop_requested()) {
    base::instant comes_again{};
    try {
      const auto limits = db_.limits_of_wait(deadline, stop);
      auto first = co_await attempts_.make(what, limits);
      if (first.lease) co_return std::move(first.lease);
      const auto now = base::now();
      if (now >= deadline || stop.stop_requested()) co_return nullptr;
      const auto until = queues == in_order.size() ? deadline : std::min(deadline, base::later(now, longest_stay));
      std::vector<acquire_request> each;
      std::vector<place> places;
      each.reserve(queues);
      cleanup_.clear(std::span{in_order}.first(queues), until - now, stop);
      for (const auto& name : std::span{in_order}.first(queues)) {
        places.push_back({.what = each.emplace_back(what.of(name)), .machine = {now, until}});
      }
      auto lease = co_await wait_in_queues(places, stop);
      if (lease || base::now() >= deadline) co_return lease;
      std::rotate(in_order.begin(), in_order.begin() + static_cast<std::ptrdiff_t>(queues), in_order.end());
      failures = 0;
      continue;
    } catch (const error& e) {
      if (e.code() == errc::cancelled && stop.stop_requested()) co_return nullptr;
      // The holder of all transactions may be waiting for this very call to give up.
      const bool is_pool_full =
          e.code() == errc::pool_exhausted && attempts_.holds_by_transaction(what.options.strategy);
      if (is_pool_full || (!e.is_retryable() && !e.outcome_is_unknown()) || base::now() >= deadline) throw;
      comes_again = base::later(base::now(), core::error_pause(++failures, base::jitter()));
    }
    gateway::pause a_moment{db_, std::min(comes_again, deadline), stop};
    co_await what.on.until(a_moment);
    db_.check_usable();
  }
  co_return nullptr;
}

lease_ptr acquirer::offer_of(const acquire_request& what) const {
  auto offer = std::make_shared<lease_state>(what.names[0], what.reentrant(), what.by, what.options);
  offer->counts = &db_.events().numbers();
  offer->asked_at = what.call->began();
  offer->share_as(what.share);
  offer->is_released_in_background = !what.on.has_thread();
  return offer;
}

// A set asks the database whose turn it is: another one of its names may be the first in each queue here.
core::acquire_machine::position acquirer::position_of(const place& at) {
  const auto& what = at.what;
  if (what.is_set()) return {.is_first = true, .has_ticket = what.ticket() != core::ticket_number::none};
  const auto here = at.queued[0]->waiter().where(base::now());
  return {.is_first = here.is_first,
          .has_ticket = here.ticket != core::ticket_number::none,
          .yields_to_other_clients = here.yields_to_other_clients,
          .held_here_until =
              at.offer && here.is_first ? handover_.held_until(what.names[0], what.options) : base::instant::min()};
}

// Repeating the call would not help: the others wait for what its holder holds.
void acquirer::end_deadlocked(std::span<local_wait_queue::waiter* const> waiters) {
  const auto whose = std::find_if(waiters.begin(), waiters.end(), [](const auto* w) { return w->is_deadlocked(); });
  const auto e = detail::error_access::make(errc::deadlock,
                                            "waiting for " + base::quoted((*whose)->ticket().name) +
                                                " would never end: " + (*whose)->deadlock() +
                                                "; release what you hold, and begin again",
                                            {.retryable = false});
  db_.events().failed(e);
  throw error{e};
}

void acquirer::enter_queues(place& at, local_wait_queue::purpose wants, std::pmr::list<queued_waiter>& all) {
  auto& what = at.what;
  for (const auto& name : what.names) {
    auto* const beside = all.empty() ? nullptr : &all.back();
    at.queued.push_back(&all.emplace_back(queue_, cleanup_, name, wants, beside, what.on.wakes()));
  }
  what.queued = at.queued;
  for (auto* one : at.queued) {
    if (attempts_.may_be_granted(what)) one->how = ticket_cleanup::ticket_fate::abandoned;
    one->lease = what.options.lease;
    if (what.is_set() && what.is_reentrant && what.by == holder::this_thread()) one->waiter().reenter();
  }
}

// The call waits in the queue of one name; of each of several, and takes the first that it acquires; or of all names of
// a set, which it acquires together. It holds nothing while it waits here. When it ends, its remaining tickets are
// deleted, and a lock that was granted to one of them meanwhile is released.
task<lease_ptr> acquirer::wait_in_queues(std::span<place> places, const std::stop_token& stop) {
  using enum local_wait_queue::purpose;
  flow& on = places[0].what.on;
  std::optional<subscription> hints;
  alignas(std::max_align_t) std::array<std::byte, sizeof(queued_waiter) + 64> for_one_name;
  std::pmr::monotonic_buffer_resource memory{for_one_name.data(), for_one_name.size()};
  std::pmr::list<queued_waiter> entered{&memory};
  std::vector<local_wait_queue::waiter*> waiters;
  for (auto& at : places) enter_queues(at, at.what.is_set() ? all : places.size() > 1 ? any : one, entered);
  for (auto& each : entered) waiters.push_back(&each.waiter());
  for (auto& at : places) {
    if (auto lease = reenter(at.what))
      co_return lease;  // acquired since the first look, before another caller could hint this waiter
    at.step = at.machine.in_queue(base::now(), position_of(at));
  }
  for (;;) {
    auto until = base::instant::max();
    for (auto& at : places) {
      auto lease = co_await go_on(at, hints, stop);
      if (lease) co_return lease;
      if (at.step.what != core::acquire_machine::action::sleep) {
        if (on.has_thread())  // others need not wait for the tickets of one without to be deleted in the background
          queued_waiter::leave(entered);
        co_return nullptr;
      }
      until = std::min(until, at.step.until);
    }
    const auto& offer = places[0].offer;
    local_wait_queue::sleep asleep{waiters, until, stop, offer};
    co_await on.until(asleep);
    const auto outcome = asleep.how();
    if (outcome == local_wait_queue::outcome::handed) {  // so it is already registered, and kept
      if (places[0].what.options.as) queue_.hint_everybody(offer->name);
      co_return offer;
    }
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

// Until it has to sleep, or gives up.
task<lease_ptr> acquirer::go_on(place& at, std::optional<subscription>& hints, const std::stop_token& stop) {
  using enum core::acquire_machine::action;
  auto& what = at.what;
  auto& machine = at.machine;
  for (;;) {
    switch (at.step.what) {
      case take_ticket:
        if (!hints) hints.emplace(wakeups_.all());
        obtain_tickets(at, stop);
        what.expects_refusal = true;
        at.step = machine.after_ticket(position_of(at));
        break;
      case look:
        for (auto* each : at.queued) each->waiter().listen();
        if (auto lease = reenter(what)) co_return lease;
        at.step = machine.after_look(base::now(), position_of(at));
        break;
      case try_once: {
        what.yields_to_other_clients = position_of(at).yields_to_other_clients;
        what.passes_the_slow = machine.was_left_free(base::now()) && holds_something();
        auto lease = co_await try_while_waiting(what, machine, stop);
        what.expects_refusal = false;
        if (lease) {
          at.leave_with_lock(*lease);
          co_return lease;
        }
        if (what.is_for_transaction && machine.is_behind_transaction()) {
          at.step = {give_up};
          co_return nullptr;
        }
        if (hints) wakeups_.look_sooner();
        at.step = machine.in_queue(base::now(), position_of(at));
        break;
      }
      default:
        co_return nullptr;
    }
  }
}

// Waiters that come before may wait for that. Calls without a thread count what any of them has taken.
bool acquirer::holds_something() {
  bool out = false;
  const auto thread = calling_thread();
  locks_.registry().each([&](const lease_ptr& a) { out = out || a->taken_by == thread; });
  return out;
}

task<lease_ptr> acquirer::try_while_waiting(const acquire_request& what, core::acquire_machine& machine,
                                            const std::stop_token& stop) {
  try {
    const auto until = db_.limits_of_wait(machine.deadline(), stop);
    if (!attempts_.reads_the_mark(what))
      for (auto* each : what.queued) tickets_.mark(each->waiter(), each->name(), until);
    auto result = co_await attempts_.make(what, until);
    if (!result.lease) machine.was_refused(result.why, base::now(), base::jitter());
    co_return std::move(result.lease);
  } catch (const error& e) {
    machine.failed(e, stop.stop_requested(), attempts_.holds_by_transaction(what.options.strategy), base::now(),
                   base::jitter());
    co_return nullptr;
  }
}

void acquirer::obtain_tickets(place& at, const std::stop_token& stop) try {
  const auto& what = at.what;
  for (auto* each : at.queued) {
    if (each->waiter().ticket_number() != core::ticket_number::none) continue;
    each->leave_last_ticket();
    tickets_.take(each->waiter(), each->name(), what.by, what.options.note,
                  {.lease = attempts_.may_be_granted(what) ? std::optional{what.options.lease} : std::nullopt,
                   .max_other_permits = what.max_other_permits()},
                  db_.limits_of_wait(at.machine.deadline(), stop));
  }
  if (what.is_set()) at.queued[0]->waiter().hint();  // to try, wherever it is in the queues here
  deadlocks_.waits();
} catch (const error& e) {
  at.machine.failed(e, stop.stop_requested(), false, base::now(), base::jitter());
}

}  // namespace rowlock::inline v1::engine
