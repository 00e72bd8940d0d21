#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/boot_clock.hpp"
#include "base/jitter.hpp"
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

lease_ptr acquirer::try_only_once(const acquire_request& what, const std::stop_token& stop) try {
  return try_once(what, db_.call_limits(stop)).lease;
} catch (const error& e) {
  if (e.code() == errc::cancelled && stop.stop_requested()) return nullptr;
  throw;
}

lease_ptr acquirer::wait_for(const acquire_request& what, base::instant deadline, const std::stop_token& stop) {
  using enum core::acquire_machine::action;
  const auto now = base::now();
  const bool takes_handovers =
      what.call != nullptr && what.share.is_exclusive() && what.set == nullptr && handover_.takes(what.options);
  const bool offers = takes_handovers || takes_share(what);
  core::acquire_machine machine{now, deadline,
                                takes_handovers ? std::optional{db_.options().handover_limit} : std::nullopt};
  lease_ptr lease;
  // Where somebody else was seen to wait, a fair attempt without a ticket would be in vain.
  const bool others_wait = !queue_.is_empty(what.name) || (what.is_fair() && locks_.was_waited_for(what.name)) ||
                           (what.set != nullptr && what.set->was_refused);
  auto step = machine.begin(others_wait, takes_handovers && handover_.held_until(what.name, what.options) > now);
  if (step.what == try_once) {
    lease = try_while_waiting(what, machine, stop);
    if (what.has_moved()) return lease;
    step = machine.after_first_try(base::now());
  }
  if (!lease && step.what == enter_queue) lease = wait_in_queue(what, machine, offers ? offer_of(what) : nullptr, stop);
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

core::acquire_machine::position acquirer::position_of(const acquire_request& what, const lease_ptr& offer) {
  const auto at = what.waiter->where(base::now());
  return {
      .is_first = at.is_first,
      .has_ticket = at.ticket != core::ticket_number::none,
      .gives_way = at.gives_way,
      .held_here_until = offer && at.is_first ? handover_.held_until(what.name, what.options) : base::instant::min()};
}

// It is registered, and kept, since it was handed over.
lease_ptr acquirer::was_handed(const acquire_request& what, const lease_ptr& offer) {
  if (what.options.as) queue_.hint_everybody(what.name);
  return offer;
}

// To repeat the call would not help: what it has is what the others wait for.
void acquirer::end_deadlocked(const acquire_request& what) {
  const auto e = detail::error_access::make(errc::deadlock,
                                            "waiting for \"" + std::string{what.name.view()} +
                                                "\" would last for ever: " + what.waiter->deadlock() +
                                                "; release what you have, and begin again",
                                            {.retryable = false});
  db_.events().failed(e);
  throw error{e};
}

lease_ptr acquirer::wait_in_queue(acquire_request what, core::acquire_machine& machine, const lease_ptr& offer,
                                  const std::stop_token& stop) {
  using enum core::acquire_machine::action;
  std::optional<subscription> hints;
  const auto listen_to_others = [&] {
    if (!hints) hints.emplace(wakeups_.all());
  };
  queued_waiter queued{queue_, cleanup_, what.name};
  auto& waiter = queued.waiter();
  what.waiter = &waiter;
  if (may_be_granted(what)) queued.how = ticket_cleanup::departure::unwanted;
  queued.lease = what.options.lease;
  if (auto lease = again(what)) return lease;  // since the first look, before anybody could tell this waiter
  auto step = machine.in_queue(base::now(), position_of(what, offer));
  for (;;) {
    switch (step.what) {
      case take_ticket:
        listen_to_others();
        obtain_ticket(what, machine, stop);
        step = machine.after_ticket(position_of(what, offer));
        break;
      case sleep: {
        const auto outcome = waiter.wait(step.until, stop, offer);
        if (outcome == local_wait_queue::outcome::handed) return was_handed(what, offer);
        if (outcome == local_wait_queue::outcome::deadlocked) end_deadlocked(what);
        db_.check_usable();
        step = machine.after_sleep(base::now(), wakeup_of(outcome));
        break;
      }
      case look:
        waiter.listen();
        if (auto lease = again(what)) return lease;
        step = machine.after_look(base::now(), position_of(what, offer));
        break;
      case try_once:
        listen_to_others();
        what.gives_way = waiter.where(base::now()).gives_way;
        if (auto lease = try_while_waiting(what, machine, stop)) {
          waiter.leave_with_lock();
          if (lease->id == waiter.ticket().attempt) queued.how = ticket_cleanup::departure::spent;
          return lease;
        }
        if (what.has_moved()) return nullptr;
        if (what.is_for_transaction && machine.is_behind_transaction()) {
          queued.leave();
          return nullptr;
        }
        wakeups_.look_sooner();
        step = machine.in_queue(base::now(), position_of(what, offer));
        break;
      default:
        queued.leave();
        return nullptr;
    }
  }
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
  if (what.waiter != nullptr && !asks_the_queue_too(what)) tickets_.mark(*what.waiter, what.name, until);
  auto result = try_once(what, until);
  if (!result.lease) machine.was_refused(result.why, base::now(), base::jitter());
  return std::move(result.lease);
} catch (const error& e) {
  machine.failed(e, stop.stop_requested(), holds_by_transaction(what.options.strategy), base::now(), base::jitter());
  return nullptr;
}

void acquirer::obtain_ticket(const acquire_request& what, core::acquire_machine& machine,
                             const std::stop_token& stop) try {
  tickets_.take(
      *what.waiter, what.name, what.by, what.options.note,
      {.lease = may_be_granted(what) ? std::optional{what.options.lease} : std::nullopt, .room = what.share.room},
      limits_while_waiting(machine, stop));
  deadlocks_.waits();
} catch (const error& e) {
  machine.failed(e, stop.stop_requested(), false, base::now(), base::jitter());
}

}  // namespace rowlock::inline v1::engine
