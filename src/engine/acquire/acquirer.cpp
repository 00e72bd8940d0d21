#include "engine/acquire/acquirer.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/boot_clock.hpp"
#include "core/checks.hpp"
#include "core/lease.hpp"
#include "engine/acquire/attempt.hpp"
#include "store/inspection.hpp"
#include "store/leases.hpp"
#include "store/sharing.hpp"
#include "strategy/strategy.hpp"

namespace rowlock::inline v1::engine {

lease_ptr acquirer::acquire(const lock_name& name, const lock_options& options, const std::optional<holder>& by,
                            duration wait, const std::stop_token& stop, core::sharing share) {
  if (db_.is_foreign()) db_.check_usable();
  locks_.optimists().refuse(name);
  counted_call call{db_.events().numbers(), options.strategy};
  auto lease = acquire({.name = name,
                        .options = options,
                        .by = by ? *by : holder::unique(),
                        .is_reentrant = by.has_value(),
                        .share = share,
                        .call = &call},
                       wait, stop);
  end(call, lease != nullptr, name, options.strategy, stop);
  return lease;
}

void acquirer::end(counted_call& call, bool is_granted, const lock_name& name, strategy by,
                   const std::stop_token& stop) {
  using enum counters::outcome;
  call.ends(is_granted ? acquired : stop.stop_requested() ? cancelled : busy);
  if (!is_granted && !stop.stop_requested())
    db_.events().tell([&] { return events::busy{.name = name, .strategy = by, .waited = call.elapsed()}; });
}

lease_ptr acquirer::try_for_client(const lock_name& name, const lock_options& options, const std::stop_token& stop) {
  return acquire({.name = name, .options = options, .by = holder::unique(), .is_reentrant = false}, duration::zero(),
                 stop);
}

lease_ptr acquirer::keep_for_transaction(const lock_name& name, const lock_options& options, const holder& by,
                                         duration wait, const std::stop_token& stop) {
  return acquire({.name = name, .options = options, .by = by, .is_reentrant = false, .is_for_transaction = true}, wait,
                 stop);
}

lease_ptr acquirer::acquire(const acquire_request& what, duration wait, const std::stop_token& stop) {
  core::check(what.options);
  core::check(what.share, what.options);
  const gateway::call under_way{db_};
  const auto deadline = base::later(base::now(), wait);
  const bool comes_after = wait > duration::zero() && comes_after_others(what, deadline, stop);
  if (stop.stop_requested()) return nullptr;
  if (auto lease = again(what)) return lease;
  cleanup_.clear(what.name, wait, stop);
  if (wait <= duration::zero()) return try_only_once(what, stop);
  auto wanted = what;
  wanted.comes_after_others = comes_after;
  return wait_for(std::move(wanted), deadline, stop);
}

// Only of a holder that threads may share.
bool acquirer::comes_after_others(const acquire_request& what, base::instant deadline, const std::stop_token& stop) {
  return what.options.as && what.is_reentrant && what.set == nullptr &&
         locks_.turns().comes_after_others(what.name, what.by, deadline, stop);
}

// A holder gets again what it has. Of a set that is for prepare().
lease_ptr acquirer::again(const acquire_request& what) {
  if (!what.is_reentrant || what.set != nullptr) return nullptr;
  auto lease = locks_.registry().again(what.name, what.by, what.share.is_exclusive(), base::now());
  if (lease && what.call != nullptr) what.call->ends_at_once();
  return lease;
}

// By a release, while it waits. Who need not wait in turn is granted it only where it is told of that at once.
bool acquirer::may_be_granted(const acquire_request& what) const noexcept {
  if (what.waiter == nullptr || what.options.strategy == strategy::for_update || !what.share.is_exclusive() ||
      what.set != nullptr)
    return false;
  return what.is_fair() || driver::reaches_waiters(db_.database().news());
}

acquirer::attempt_result acquirer::try_once(const acquire_request& what, const driver::limits& until, int tries) {
  if (what.set != nullptr) return try_all(what, until, tries);
  attempt_result out;
  const auto attempt = [&] {
    const auto id = who_.next_id();
    auto result = send(what, id, until);
    if (!result.answer.has_ticket) tickets_.displace(*what.waiter, what.name);
    switch (result.answer.what) {
      case strategies::verdict::granted:
        out.lease = admit(what, result.ticket.is_none() ? id : core::acquisition_id{result.ticket}, std::move(result));
        return out.lease != nullptr;
      case strategies::verdict::busy:
      case strategies::verdict::behind:
        if (result.answer.is_shared && locks_.reap_shares(what.name, until)) return false;
        if (result.answer.is_shared && what.waiter != nullptr)
          result.answer.left = locks_.left_of_shares(what.name, result.answer.left, until);
        if (!is_marked(what, result.answer, until)) return false;
        if (what.is_for_transaction && locks_.unresolved_ones().permits(result.answer.holding, base::now()))
          return true;  // a transaction pins it, perhaps the one that waits
        out.why = {.left = result.answer.what == strategies::verdict::behind
                               ? what.comes_again_after(result.answer.left)
                               : result.answer.left,
                   .is_free = result.answer.what == strategies::verdict::behind,
                   .is_behind = result.answer.is_behind,
                   .is_told = wakeups_.is_told(what.waiter != nullptr && what.waiter->is_marked())};
        return true;
      default:
        return false;
    }
  };
  retry_inconclusive(db_, until.stop, attempt, tries);
  return out;
}

strategies::acquire_args acquirer::args_of(const acquire_request& what, const core::acquisition_id& id) const {
  return {.name = what.name.view(),
          .owner = who_.owner(),
          .thread = what.by.text(),
          .acquisition = id.text(),
          .note = what.options.note,
          .lease = what.options.lease,
          .share = what.share};
}

// In the statement of the attempt, so that the row need not be marked before.
bool acquirer::asks_the_queue_too(const acquire_request& what) const noexcept {
  return what.options.strategy != strategy::for_update && what.share.is_exclusive() && what.set == nullptr &&
         db_.can().acquires_in_turn;
}

// What a refusal says of that is believed: whoever saw no ticket may have taken off a mark that was read before. false:
// it was not, and is now. What was released meanwhile has told nobody, so the attempt is repeated.
bool acquirer::is_marked(const acquire_request& what, const strategies::answer& refused, const driver::limits& until) {
  if (!refused.is_marked || what.ticket() == core::ticket_number::none) return true;
  what.waiter->mark(*refused.is_marked);
  if (*refused.is_marked) return true;
  tickets_.mark(*what.waiter, what.name, until);
  return !what.waiter->is_marked();
}

bool acquirer::holds_by_transaction(strategy s) noexcept {
  return s == strategy::for_update && db_.database().has_row_locks();
}

// What waited for others while the client was closed is not sent any more.
acquirer::combined_try acquirer::try_by(const strategies::algorithm& how) {
  return {purpose::usual,
          [this, &how](const store::access& db, std::span<const strategies::acquire_args> batch) {
            db_.check_usable();
            return how.acquire(db, batch);
          },
          [](const strategies::answer& a) { return a.what == strategies::verdict::granted; }};
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
  combined_call_ptr left;
  try {
    return ask(what, id, until, left);
  } catch (const error& e) {
    if (!e.outcome_is_unknown()) throw;
    if (const auto granted = adopt(what, id, until)) return {.sent = began, .answer = *granted};
    leave_unresolved(what, id, left);
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
  const store::access db{.sheet = db_.sheet(), .session = **session, .until = first};
  try {
    db_.require_fit_schema(db);
    if (auto seen = look_at_queue(what, db); seen.refused) return {.answer = std::move(*seen.refused)};
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
    if (e.connection_is_unusable()) db_.end_lost_sessions(until);
    if (e.code() == errc::schema_missing) db_.doubt_schema(e, until);
    throw;
  } catch (...) {
    if (session) session->discard();
    throw;
  }
}

acquirer::reply acquirer::ask(const acquire_request& what, const core::acquisition_id& id, const driver::limits& until,
                              combined_call_ptr& left) {
  if (!what.share.is_exclusive()) return ask_to_share(what, id, until);
  auto one = args_of(what, id);
  const auto liveness = what.options.strategy == strategy::for_update ? db_.database().liveness() : std::string{};
  one.liveness = liveness;
  const auto first = gateway::leaving_a_tenth(until);
  auto& by = try_of(what.options.strategy);
  const bool is_queued = what.asks_in_turn() || what.ticket() != core::ticket_number::none;
  if (!is_queued) {
    const auto [sent, answer] = db_.run_combined(by, one, {.until = first, .last = until.deadline}, left);
    if (!answer.is_waited_for()) return {.sent = sent, .answer = answer};
  }
  const bool with_queue = asks_the_queue_too(what);
  if (with_queue) one.queued = {.ticket = what.ticket(), .turn = what.turn(), .patience = what.patience()};
  return db_.run(first, [&](const store::access& db) -> reply {
    auto sent = base::now();
    auto seen = with_queue ? queue_look{} : is_queued ? look_at_queue(what, db) : look(what, db);
    if (seen.has_no_row) {
      strategies::make_rows(db, {&one, 1});
      return {.sent = sent};  // inconclusive: asked again, by what the row says then
    }
    if (!seen.refused) {
      one.seen = seen.version;
      auto asked = by.ask(db, one);
      sent = asked.sent;
      if (!asked.what.is_marked) asked.what.is_marked = seen.is_marked;
      seen.refused = std::move(asked.what);
    }
    const auto& answer = *seen.refused;
    if (auto granted = granted_by_release(what, sent, answer, db)) {
      locks_.is_waited_for(what.name);
      return std::move(*granted);
    }
    if (answer.has_left) what.waiter->give_up_ticket();
    if (answer.what == strategies::verdict::granted && what.waiter != nullptr) ticket_upkeep::leave(*what.waiter, db);
    return {.sent = sent, .answer = answer};
  });
}

// A release has made the ticket of this waiter the owner, for a short time, in which it has to claim the lease that it
// asked for. Before that nobody relies on the grant, which need not be on disk; the claim is a renewal, which waits for
// the disk, and with it for the grant. Where the statement that was sent has claimed it, all of the lease is left.
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
  if (*refused.left < what.options.lease) {
    const store::lease_ref own{
        .name = what.name.view(), .acquisition = ticket.attempt.text(), .lease = what.options.lease};
    out.sent = base::now();
    const auto renewed = store::renew(db, {&own, 1}).at(0);
    if (renewed.what != store::standing::kept)
      return reply{.sent = sent};  // the row is locked, or not ours: asked again
    out.answer.left = renewed.left;
  }
  return out;
}

// Of what it has left in a batch, nothing is sought any more: its answer says whether there is something to undo.
void acquirer::leave_unresolved(const acquire_request& what, const core::acquisition_id& id,
                                const combined_call_ptr& left) {
  const bool has_lease = what.options.strategy != strategy::for_update;
  auto entry =
      locks_.unresolved_ones().entry_for(what.name, id, has_lease ? what.options.lease : duration::max(), base::now());
  entry.is_share = !what.share.is_exclusive();
  entry.may_appear = has_lease;  // a lock without a lease is in a file, where nothing comes late
  locks_.unresolved_ones().add_when_ended(left, std::move(entry));
}

// For statements that do not ask the queue themselves. A ticket that is committed between this look and the attempt
// came later: that it is not waited for is as if the attempt had been made at once. So it is only if nobody has the
// name in between, who may have seen that ticket: an attempt by a lease goes by the version that was seen.
acquirer::queue_look acquirer::look_at_queue(const acquire_request& what, const store::access& db) const {
  const bool has_to_look =
      may_be_granted(what) || (!db_.can().marks_waiting && what.options.strategy != strategy::for_update);
  if (!what.asks_in_turn() && !(has_to_look && what.ticket() != core::ticket_number::none)) return {};
  return look(what, db);
}

store::ticket_ref acquirer::place_of(const acquire_request& what) {
  return {.name = what.name.view(),
          .attempt = {},
          .number = what.turn(),
          .room = what.share.room,
          .patience = what.patience()};
}

acquirer::queue_look acquirer::look(const acquire_request& what, const store::access& db) {
  return look(what, place_of(what), db);
}

acquirer::queue_look acquirer::look(const acquire_request& what, const store::ticket_ref& own,
                                    const store::access& db) {
  auto turn = store::look_at_queues(db, {&own, 1}).at(0);
  const bool has_ticket = what.ticket() == core::ticket_number::none || turn.has_ticket;
  const auto yields_for = core::yields_for(turn.looks_free ? turn.left : std::nullopt, own.patience);
  const bool is_behind = turn.is_behind && yields_for != duration::zero();
  if (turn.looks_free && !is_behind && has_ticket)
    return {.version = turn.version, .is_marked = turn.is_marked, .has_no_row = what.asks_in_turn() && !turn.has_row};
  return {.refused =
              strategies::answer{.what = turn.looks_free ? strategies::verdict::behind : strategies::verdict::busy,
                                 .token = {},
                                 .left = turn.looks_free ? yields_for : turn.left,
                                 .is_behind = turn.is_behind,
                                 .has_ticket = has_ticket,
                                 .is_shared = core::is_shared(turn.holding),
                                 .is_marked = turn.is_marked,
                                 .holding = turn.looks_free ? std::string{} : std::move(turn.holding),
                                 .held_as = turn.version}};
}

// The reply was lost; was the lock? A row that has the id is ours. If there is none, the statement may be under way
// yet: then it is undone, not believed in. What is adopted here is not given to the reconciler. It is renewed first:
// the grant may be seen here although no standby has it, where the wait for one was given up. The answer to a later
// commit says that all before it is as safe as that. If that does not come either, the grant is undone.
std::optional<strategies::answer> acquirer::adopt(const acquire_request& what, const core::acquisition_id& id,
                                                  const driver::limits& until) noexcept try {
  if (base::now() >= until.deadline || until.stop.stop_requested()) return std::nullopt;
  return db_.run(
      until,
      [&](const store::access& db) -> std::optional<strategies::answer> {
        db_.database().end_lost_sessions(db.session, until);
        auto found = find_granted(db, what, id.text());
        if (!found || !found->left) return found;  // held by a process, in a file that is nowhere else
        const store::lease_ref own{.name = what.name.view(),
                                   .acquisition = id.text(),
                                   .lease = what.options.lease,
                                   .is_share = !what.share.is_exclusive()};
        const auto kept = store::renew(db, {&own, 1}).at(0);
        if (kept.what != store::standing::kept) return std::nullopt;
        found->left = kept.left;
        return found;
      },
      purpose::releasing);
} catch (const std::exception&) {
  return std::nullopt;
}

std::optional<strategies::answer> acquirer::find_granted(const store::access& db, const acquire_request& what,
                                                         std::string_view id) {
  if (!what.share.is_exclusive()) return find_share(db, what.name.view(), id);
  const auto row = store::look_at(db, what.name.view());
  if (!row || !row->is_held_by(id)) return std::nullopt;
  return strategies::answer{.what = strategies::verdict::granted, .token = row->token, .left = row->left};
}

// nullptr: the answer took so long that the lease is not to be relied on.
lease_ptr acquirer::admit(const acquire_request& what, const core::acquisition_id& id, reply granted) {
  const bool has_lease = what.options.strategy != strategy::for_update;
  auto lease = has_lease
                   ? std::make_shared<lease_state>(what.name, what.reentrant(), id, what.options)
                   : std::make_shared<lease_state>(what.name, what.reentrant(), id, what.options,
                                                   db_.options().transaction_limit, std::move(granted.transaction));
  lease->counts = what.call == nullptr ? nullptr : &db_.events().numbers();
  lease->share_as(what.share);
  if (what.options.hold_limit) lease->hold_limit = base::later(granted.sent, *what.options.hold_limit);
  begin(*lease, granted.sent, granted.answer);
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

// Before another thread sees it.
void acquirer::begin(lease_state& lease, base::instant sent, const strategies::answer& granted) {
  lease.asked_at = sent;
  lease.token = granted.token;
  const auto left = granted.left.value_or(lease.time_to_live());
  lease.set_first_left(sent, left, base::now());
  lease.set_renewal_due(core::renewal_due(sent, std::min(left, lease.time_to_live())));
}

}  // namespace rowlock::inline v1::engine
