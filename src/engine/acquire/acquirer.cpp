#include "engine/acquire/acquirer.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "base/boot_clock.hpp"
#include "base/jitter.hpp"
#include "core/checks.hpp"
#include "core/lease.hpp"
#include "store/inspection.hpp"

namespace rowlock::inline v1::engine {

struct acquirer::attempt_result {
  lease_ptr lease{};
  core::retry_backoff::refusal why{};
};

/// What was answered to an attempt that was sent at `sent`.
struct acquirer::reply {
  base::instant sent{};
  strategies::answer answer{};
  std::unique_ptr<held_transaction> transaction{};
  core::acquisition_id ticket{};  // by which a release has granted it; none: it was the attempt
};

namespace {

core::acquire_machine::wakeup wakeup_of(local_wait_queue::outcome o) {
  using enum core::acquire_machine::wakeup;
  if (o == local_wait_queue::outcome::stopped) return stopped;
  return o == local_wait_queue::outcome::out_of_time ? out_of_time : hinted;
}

}  // namespace

lease_ptr acquirer::acquire(const lock_name& name, const lock_options& options, const std::optional<holder>& by,
                            duration wait, const std::stop_token& stop) {
  if (db_.is_foreign()) db_.check_usable();
  counted_call call{db_.events().numbers(), options.strategy};
  auto lease = acquire({.name = name,
                        .options = options,
                        .by = by ? *by : holder::unique(),
                        .is_reentrant = by.has_value(),
                        .call = &call},
                       wait, stop);
  using enum counters::outcome;
  call.ends(lease ? acquired : stop.stop_requested() ? cancelled : busy);
  if (!lease && !stop.stop_requested())
    db_.events().tell(
        [&] { return events::busy{.name = name, .strategy = options.strategy, .waited = call.elapsed()}; });
  return lease;
}

lease_ptr acquirer::try_for_client(const lock_name& name, const lock_options& options, const std::stop_token& stop) {
  return acquire({.name = name, .options = options, .by = holder::unique(), .is_reentrant = false}, duration::zero(),
                 stop);
}

lease_ptr acquirer::acquire(const acquire_request& what, duration wait, const std::stop_token& stop) {
  core::check(what.options);
  const gateway::call under_way{db_};
  if (stop.stop_requested()) return nullptr;
  if (auto lease = again(what)) return lease;
  if (what.is_fair()) cleanup_.clear(what.name, wait, stop);
  if (wait <= duration::zero()) return try_only_once(what, stop);
  return wait_for(what, base::later(base::now(), wait), stop);
}

// A holder gets again what it has.
lease_ptr acquirer::again(const acquire_request& what) {
  if (!what.is_reentrant) return nullptr;
  auto lease = locks_.registry().again(what.name, what.by, base::now());
  if (lease && what.call != nullptr) what.call->ends_at_once();
  return lease;
}

// --- waiting ---------------------------------------------------------------------------------------------------------

lease_ptr acquirer::try_only_once(const acquire_request& what, const std::stop_token& stop) try {
  return try_once(what, db_.call_limits(stop)).lease;
} catch (const error& e) {
  if (e.code() == errc::cancelled && stop.stop_requested()) return nullptr;
  throw;
}

lease_ptr acquirer::wait_for(const acquire_request& what, base::instant deadline, const std::stop_token& stop) {
  using enum core::acquire_machine::action;
  const auto now = base::now();
  const bool takes_handovers = what.call != nullptr && handover_.takes(what.options);
  core::acquire_machine machine{now, deadline,
                                takes_handovers ? std::optional{db_.options().handover_limit} : std::nullopt};
  lease_ptr lease;
  // Where somebody else was seen to wait, a fair attempt without a ticket would be in vain.
  const bool others_wait = !queue_.is_empty(what.name) || (what.is_fair() && locks_.was_waited_for(what.name));
  auto step = machine.begin(others_wait, takes_handovers && handover_.held_until(what.name, what.options) > now);
  if (step.what == try_once) {
    lease = try_while_waiting(what, machine, stop);
    step = machine.after_first_try(base::now());
  }
  if (!lease && step.what == enter_queue)
    lease = wait_in_queue(what, machine, takes_handovers ? offer_of(what) : nullptr, stop);
  if (!lease && !stop.stop_requested())
    machine.throw_if_never_answered(db_.options().call_timeout, db_.database().least_call() == duration::zero());
  return lease;
}

lease_ptr acquirer::offer_of(const acquire_request& what) const {
  auto offer = std::make_shared<lease_state>(what.name, what.reentrant(), what.by, what.options);
  offer->counts = &db_.events().numbers();
  offer->asked_at = what.call->began();
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

lease_ptr acquirer::wait_in_queue(acquire_request what, core::acquire_machine& machine, const lease_ptr& offer,
                                  const std::stop_token& stop) {
  using enum core::acquire_machine::action;
  std::optional<subscription> hints;
  const auto listen_to_others = [&] {
    if (!hints) hints.emplace(wakeups_.all());
  };
  queued_waiter queued{queue_, cleanup_, what.name};
  auto& waiter = queued.waiter;
  what.waiter = &waiter;
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
        wakeups_.look_sooner();
        step = machine.in_queue(base::now(), position_of(what, offer));
        break;
      default:
        queued.how = ticket_cleanup::departure::unwanted;
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
  if (what.waiter != nullptr && !tells_of_marks(what)) tickets_.mark(*what.waiter, what.name, until);
  auto result = try_once(what, until);
  if (!result.lease) machine.was_refused(result.why, base::now(), base::jitter());
  return std::move(result.lease);
} catch (const error& e) {
  machine.failed(e, stop.stop_requested(), holds_by_transaction(what.options.strategy), base::now(), base::jitter());
  return nullptr;
}

void acquirer::obtain_ticket(const acquire_request& what, core::acquire_machine& machine,
                             const std::stop_token& stop) try {
  const bool may_be_granted =
      what.is_fair() && what.options.strategy == strategy::unique_index && db_.can().acquires_in_turn;
  tickets_.take(*what.waiter, what.name, what.by, what.options.note,
                may_be_granted ? std::optional{what.options.lease} : std::nullopt, limits_while_waiting(machine, stop));
} catch (const error& e) {
  machine.failed(e, stop.stop_requested(), false, base::now(), base::jitter());
}

// --- one attempt -----------------------------------------------------------------------------------------------------

acquirer::attempt_result acquirer::try_once(const acquire_request& what, const driver::limits& until) {
  attempt_result out;
  retry_inconclusive(db_, until.stop, [&] {
    const auto id = who_.next_id();
    auto result = send(what, id, until);
    if (!result.answer.has_ticket) queue_.displace(what.waiter->ticket());
    switch (result.answer.what) {
      case strategies::verdict::granted:
        out.lease = admit(what, result.ticket.is_none() ? id : core::acquisition_id{result.ticket}, std::move(result));
        return out.lease != nullptr;
      case strategies::verdict::busy:
      case strategies::verdict::behind:
        if (!is_marked(what, result.answer, until)) return false;
        out.why = {.left = result.answer.left,
                   .is_free = result.answer.what == strategies::verdict::behind,
                   .is_behind = result.answer.is_behind,
                   .is_told = wakeups_.is_told(what.waiter != nullptr && what.waiter->is_marked())};
        return true;
      default:
        return false;
    }
  });
  return out;
}

strategies::acquire_args acquirer::args_of(const acquire_request& what, const core::acquisition_id& id) const {
  return {.name = what.name.view(),
          .owner = who_.owner(),
          .thread = what.by.text(),
          .acquisition = id.text(),
          .note = what.options.note,
          .lease = what.options.lease};
}

// Whether a refusal says if the row is marked: then it need not be asked for before.
bool acquirer::tells_of_marks(const acquire_request& what) const noexcept {
  return what.options.strategy == strategy::unique_index && db_.can().acquires_in_turn;
}

// false: it was not, and is now. What was released meanwhile has told nobody, so the attempt is repeated.
bool acquirer::is_marked(const acquire_request& what, const strategies::answer& refused, const driver::limits& until) {
  if (what.waiter == nullptr || !tells_of_marks(what) || what.waiter->is_marked()) return true;
  if (refused.is_marked && what.ticket() != core::ticket_number::none) what.waiter->mark();
  if (what.waiter->is_marked()) return true;
  tickets_.mark(*what.waiter, what.name, until);
  return !what.waiter->is_marked();
}

bool acquirer::holds_by_transaction(strategy s) noexcept {
  return s == strategy::for_update && db_.database().has_row_locks();
}

// What waited for others while the client was closed is not sent any more.
acquirer::combined_try acquirer::try_by(const strategies::algorithm& how) {
  return {purpose::usual, [this, &how](const store::access& db, std::span<const strategies::acquire_args> batch) {
            db_.check_usable();
            return how.acquire(db, batch);
          }};
}

// Those that write who has the name into the row; all of them are renewed and released alike.
acquirer::combined_try& acquirer::try_of(strategy s) noexcept {
  if (s == strategy::version_cas) return version_cas_try_;
  if (s == strategy::for_update) return liveness_rows_try_;
  return unique_index_try_;
}

acquirer::reply acquirer::send(const acquire_request& what, const core::acquisition_id& id,
                               const driver::limits& until) {
  db_.check_usable();
  if (holds_by_transaction(what.options.strategy)) return hold(what, id, until);
  const auto began = base::now();
  try {
    return ask(what, id, until);
  } catch (const error& e) {
    if (!e.outcome_is_unknown()) throw;
    if (const auto granted = adopt(what, id, until)) return {.sent = began, .answer = *granted};
    leave_unresolved(what, id);
    throw;
  }
}

// A session is needed for an attempt, and is all there is to keep or to close: nothing was committed, so nothing is
// left to undo. If its end did not reach the server, the server is told by another session.
acquirer::reply acquirer::hold(const acquire_request& what, const core::acquisition_id& id,
                               const driver::limits& until) {
  if (locks_.registry().has(what.name)) return {.answer = {.what = strategies::verdict::busy}};
  locks_.prepare_transactions();
  const auto first = gateway::leaving_a_tenth(until);
  auto session = db_.lend_transaction(first);
  const store::access db{.sql = db_.sql(), .session = **session, .until = first};
  try {
    db_.require_fit_schema(db);
    if (const auto refused = refused_by_queue(what, db)) return {.answer = *refused};
    reply out{.sent = base::now()};
    out.answer = for_update_.acquire(db, args_of(what, id));
    if (out.answer.what == strategies::verdict::granted)
      out.transaction = std::make_unique<held_transaction>(std::move(session));
    if (out.transaction && what.waiter != nullptr) tickets_.leave(*what.waiter, until);
    return out;
  } catch (const error& e) {
    db_.events().failed(e);
    e.connection_is_unusable() ? session->lose() : session->discard();
    session.reset();
    if (e.code() == errc::schema_missing) db_.forget_schema();
    if (e.connection_is_unusable()) db_.end_lost_sessions(until);
    throw;
  } catch (...) {
    if (session) session->discard();
    throw;
  }
}

acquirer::reply acquirer::ask(const acquire_request& what, const core::acquisition_id& id,
                              const driver::limits& until) {
  auto one = args_of(what, id);
  const auto liveness = what.options.strategy == strategy::for_update ? db_.database().liveness() : std::string{};
  one.liveness = liveness;
  const auto first = gateway::leaving_a_tenth(until);
  auto& by = try_of(what.options.strategy);
  const bool is_queued = what.asks_in_turn() || what.ticket() != core::ticket_number::none;
  if (!is_queued) {
    const auto [sent, answer] = db_.run_combined(by, one, {.until = first, .last = until.deadline});
    return {.sent = sent, .answer = answer};
  }
  const bool database_asks = what.options.strategy == strategy::unique_index && db_.can().acquires_in_turn;
  if (database_asks)
    one.queued = {.ticket = what.ticket(), .turn = what.asks_in_turn() ? what.turn() : core::ticket_number::none};
  return db_.run(first, [&](const store::access& db) -> reply {
    if (!database_asks)
      if (const auto refused = refused_by_queue(what, db)) return {.answer = *refused};
    auto [sent, answer] = by.ask(db, one);
    if (auto granted = granted_by_release(what, sent, answer, db)) {
      locks_.is_waited_for(what.name);
      return std::move(*granted);
    }
    if (answer.has_left) what.waiter->give_up_ticket();
    if (answer.what == strategies::verdict::granted && what.waiter != nullptr) ticket_upkeep::leave(*what.waiter, db);
    return {.sent = sent, .answer = answer};
  });
}

// A release has made the ticket of this waiter the owner, for a short time, and no longer than the lease which the one
// before had. That is on disk, and the grant need not be: if a crash of the server undoes it, nobody can have the name
// before then. So the waiter believes in what is left of that, counted from this request of its own, and what is
// longer, it renews.
std::optional<acquirer::reply> acquirer::granted_by_release(const acquire_request& what, base::instant sent,
                                                            const strategies::answer& refused,
                                                            const store::access& db) {
  if (refused.holding.empty() || !refused.left) return std::nullopt;
  if (cleanup_.is_unwanted(what.name, refused.holding)) {
    const store::lease_ref unwanted{.name = what.name.view(), .acquisition = refused.holding};
    store::release(db, {&unwanted, 1});
    return reply{.sent = sent};  // inconclusive: asked again
  }
  if (what.waiter == nullptr) return std::nullopt;
  const auto ticket = what.waiter->ticket();
  if (ticket.attempt.text() != refused.holding) return std::nullopt;
  reply out{.sent = sent,
            .answer = {.what = strategies::verdict::granted, .token = refused.held_as, .left = refused.left},
            .ticket = ticket.attempt};
  const bool needs_all = !what.options.renew || what.options.at_least > duration::zero();
  if (needs_all || *refused.left < core::least_of_a_grant) {
    const store::lease_ref own{
        .name = what.name.view(), .acquisition = ticket.attempt.text(), .lease = what.options.lease};
    out.sent = base::now();
    const auto renewed = store::renew(db, {&own, 1}).at(0);
    if (renewed.what != store::standing::kept) return std::nullopt;
    out.answer.left = renewed.left;
  }
  return out;
}

void acquirer::leave_unresolved(const acquire_request& what, const core::acquisition_id& id) {
  const bool has_lease = what.options.strategy != strategy::for_update;
  auto entry =
      locks_.unresolved_ones().entry_for(what.name, id, has_lease ? what.options.lease : duration::max(), base::now());
  entry.may_appear = has_lease;  // a lock without a lease is in a file, where nothing comes late
  locks_.unresolved_ones().add(std::move(entry));
}

// For statements that do not ask the queue themselves. A ticket that is committed between this look and the attempt
// came later: that it is not waited for is as if the attempt had been made at once.
std::optional<strategies::answer> acquirer::refused_by_queue(const acquire_request& what,
                                                             const store::access& db) const {
  if (!what.asks_in_turn()) return std::nullopt;
  const store::ticket_ref own{.name = what.name.view(), .attempt = {}, .number = what.turn()};
  const auto turn = store::look_at_queues(db, {&own, 1}).at(0);
  const bool has_ticket = what.ticket() == core::ticket_number::none || turn.has_ticket;
  if (!turn.is_behind && has_ticket) return std::nullopt;
  return strategies::answer{.what = turn.looks_free ? strategies::verdict::behind : strategies::verdict::busy,
                            .token = {},
                            .left = turn.looks_free ? std::nullopt : turn.left,
                            .is_behind = turn.is_behind,
                            .has_ticket = has_ticket};
}

// The reply was lost; was the lock? A row that has the id is ours. If there is none, the statement may be under way
// yet: then it is undone, not believed in. What is adopted here is not given to the reconciler.
std::optional<strategies::answer> acquirer::adopt(const acquire_request& what, const core::acquisition_id& id,
                                                  const driver::limits& until) noexcept try {
  if (base::now() >= until.deadline || until.stop.stop_requested()) return std::nullopt;
  return db_.run(
      until,
      [&](const store::access& db) -> std::optional<strategies::answer> {
        db_.database().end_lost_sessions(db.session, until);
        const auto row = store::look_at(db, what.name.view());
        if (!row || !row->is_held_by(id.text())) return std::nullopt;
        return strategies::answer{.what = strategies::verdict::granted, .token = row->token, .left = row->left};
      },
      purpose::releasing);
} catch (const std::exception&) {
  return std::nullopt;
}

// nullptr: the answer took so long that the lease is not to be relied on.
lease_ptr acquirer::admit(const acquire_request& what, const core::acquisition_id& id, reply granted) {
  const bool has_lease = what.options.strategy != strategy::for_update;
  auto lease = has_lease
                   ? std::make_shared<lease_state>(what.name, what.reentrant(), id, what.options)
                   : std::make_shared<lease_state>(what.name, what.reentrant(), id, what.options,
                                                   db_.options().transaction_limit, std::move(granted.transaction));
  lease->counts = what.call == nullptr ? nullptr : &db_.events().numbers();
  lease->asked_at = granted.sent;
  lease->token = granted.answer.token;
  if (what.options.hold_limit) lease->hold_limit = base::later(granted.sent, *what.options.hold_limit);
  const auto left = granted.answer.left.value_or(lease->time_to_live());
  lease->set_first_left(granted.sent, left, base::now());
  lease->set_renewal_due(core::renewal_due(granted.sent, std::min(left, lease->time_to_live())));
  if (lease->deadline() <= base::now()) {
    if (!lease->transaction) locks_.unresolved_ones().add(locks_.unresolved_ones().entry_for(*lease));
    return nullptr;
  }
  // At least as much time has passed at the database since the grant as here since its answer.
  lease->stays_until = base::later(base::now(), lease->at_least);
  const auto report = [&] {
    if (what.call == nullptr) return;
    db_.events().tell([&] {
      return events::acquired{
          .name = lease->name, .token = lease->token, .strategy = lease->strategy, .waited = what.call->elapsed()};
    });
  };
  locks_.admit(lease, std::ref(report));
  if (what.options.as) queue_.hint_everybody(what.name);  // the same holder may wait there more than once
  return lease;
}

}  // namespace rowlock::inline v1::engine
