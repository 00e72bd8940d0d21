#include "engine/acquire/attempts.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/boot_clock.hpp"
#include "core/lease.hpp"
#include "store/guard.hpp"
#include "store/inspection.hpp"
#include "store/leases.hpp"

// The outcome of an attempt: how its answer is read, and what is done without one.

namespace rowlock::inline v1::engine {

using strategies::verdict;

namespace {

strategies::answer grant_of(fencing_token token, std::optional<duration> left, std::string_view acquisition) {
  return {.what = verdict::granted, .token = token, .left = left, .holding = std::string{acquisition}};
}

// The rows of these names that have the acquisition of the attempt, or of the ticket that a release has granted it to.
std::vector<std::optional<strategies::answer>> find_grants(std::span<const strategies::acquire_args> batch,
                                                           const core::acquisition_id& ticket,
                                                           const store::access& db) {
  if (!batch[0].share.is_exclusive()) {
    const auto own = store::find_share(db, batch[0].name, batch[0].acquisition);
    if (!own) return {std::nullopt};
    return {grant_of(own->info.token, own->info.expires_in, batch[0].acquisition)};
  }
  std::vector<std::optional<strategies::answer>> out;
  for (const auto& row : strategies::look_at_all(db, batch)) {
    auto& grant = out.emplace_back();
    for (const auto id : {batch[out.size() - 1].acquisition, ticket.text()})
      if (row && !id.empty() && row->is_held_by(id)) grant = grant_of(row->token, row->left, id);
  }
  return out;
}

// The rows show that this call holds the names, though no answer to its attempt did: the answer was lost, or a release
// has granted the name to its ticket. The grant may not be on disk yet, nor on any standby, so no holder relies on it
// before it is renewed: the answer to that later commit shows that all earlier commits are as safe. If that answer is
// lost, too, the grant is claimed once more, or undone. After a pause, the time counts from before the request, or the
// row is another client's: a renewal names the acquisition, and finds nothing. In a quarantine nothing is claimed: the
// grant may have ended on a server that is gone, and been given to another client there. false: a row is locked, or
// another client's, or a quarantine is on.
bool claim(std::span<const store::lease_ref> own, std::span<strategies::answer> granted, const store::access& db) {
  for (std::size_t i = 0; const auto& each : store::renew(db, own)) {
    if (each.what != store::standing::kept) return false;
    granted[i++].left = each.left;
  }
  return !db.is_guarded || store::grants(db);
}

}  // namespace

// --- reading the answer ----------------------------------------------------------------------------------------------

// A release has made the ticket of this waiter the owner, for a short time, in which it has to claim the lease that it
// asked for. If the attempt's own statement has claimed it, all of the lease is left. A grant to a ticket that is being
// given up is never claimed: the thread that gives it up releases it, at any time. true: the grant is why the attempt
// was refused; `r` has the outcome.
bool attempts::claim_grant(const attempt& a, reply& r, const store::access& db) {
  if (r.answer.holding.empty() || !r.answer.left) return false;
  const auto& [name, queued, id, is_marked] = a.names[r.which];
  const bool is_abandoned = cleanup_.is_abandoned(name, r.answer.holding);
  if (!is_abandoned && (queued == nullptr || queued->waiter().ticket().attempt.text() != r.answer.holding))
    return false;
  locks_.is_waited_for(name);
  const auto refused = std::exchange(r.answer, {});  // inconclusive: asked again
  if (is_abandoned) return cleanup_.release_grant(name, db), true;
  const store::lease_ref own{.name = name.view(), .acquisition = refused.holding, .lease = a.what.options.lease};
  auto grant = grant_of(refused.held_as, refused.left, refused.holding);
  grant.has_left = refused.has_left;
  if (*refused.left < own.lease) {
    r.sent = base::now();
    if (!claim({&own, 1}, {&grant, 1}, db)) return true;
  }
  r.answer = std::move(grant);
  r.ticket = core::acquisition_id{refused.holding};
  return true;
}

// false: inconclusive, so that it is asked again.
bool attempts::read(attempt& a, reply r, const driver::limits& until, attempt_result& out) {
  auto& answer = r.answer;
  if (answer.what == verdict::granted) return (out.lease = admit(a, r)) != nullptr;
  const auto& [name, queued, id, marked] = a.names[r.which];
  if (!answer.has_ticket) tickets_.displace(queued->waiter(), name);
  if (answer.what == verdict::inconclusive) return false;
  if (answer.is_shared && locks_.reap_shares({&name, 1}, until)) return false;
  if (answer.is_shared && queued != nullptr) answer.left = locks_.left_of_shares(name, answer.left, until);
  if (queued != nullptr && answer.is_marked && !is_marked(*queued, *answer.is_marked, until)) return false;
  if (a.what.is_for_transaction && locks_.unresolved_ones().permits(answer.holding, base::now()))
    return true;  // a transaction pins it, perhaps the waiting one
  const bool is_free = answer.what == verdict::behind;
  const auto& queues = a.what.queued;
  const bool are_marked = !queues.empty() && std::all_of(queues.begin(), queues.end(),
                                                         [](auto* each) { return each->waiter().is_marked(); });
  out.why = {.left = is_free ? a.what.comes_again_after(answer.left) : answer.left,
             .is_free = is_free,
             .is_behind = answer.is_behind,
             .is_shared = answer.is_shared,
             .is_notified = wakeups_.is_notified(are_marked)};
  return true;
}

// The refusal is right about the mark: a client that saw no ticket may have taken off a mark that was read before.
// false: the row was not marked, and is now. A release meanwhile has notified no client, so the attempt is repeated.
bool attempts::is_marked(queued_waiter& by, bool says_so, const driver::limits& until) {
  auto& waiter = by.waiter();
  if (waiter.ticket_number() == core::ticket_number::none) return true;
  waiter.mark(says_so);
  if (says_so) return true;
  tickets_.mark(waiter, by.name(), until);
  return !waiter.is_marked();
}

// --- the outcome is unknown ------------------------------------------------------------------------------------------

// The reply was lost, but the names may be granted. A row that has this id, or that of the waiter's ticket, is this
// client's: of a set all rows have theirs, or none. If there is none, the statement may be under way yet: then it is
// undone. An adopted acquisition is not given to the reconciler. It is claimed first.
std::optional<attempts::reply> attempts::adopt(const attempt& a, base::instant sent,
                                               const driver::limits& until) noexcept try {
  if (base::now() >= until.deadline || until.stop.stop_requested()) return std::nullopt;
  const auto ticket = may_be_granted(a.what) ? a.names[0].queued->waiter().ticket().attempt : core::acquisition_id{};
  return db_.run(
      until,
      [&](const store::access& db) -> std::optional<reply> {
        db_.database().end_lost_sessions(db.session, until);
        const auto found = find_grants(a.batch, ticket, db);
        reply out{.sent = sent};
        std::vector<store::lease_ref> own;
        for (std::size_t i = 0; i < found.size(); ++i) {
          if (!found[i]) continue;
          const auto& one = a.batch[i];
          own.push_back({.name = one.name,
                         .acquisition = found[i]->holding,
                         .lease = one.lease,
                         .is_share = !one.share.is_exclusive()});
          if (own.size() == 1) out.which = i;
          if (found[i]->holding != one.acquisition) out.ticket = core::acquisition_id{found[i]->holding};
          out.granted.push_back(*found[i]);  // `own` refers to it
        }
        if (own.size() < (a.what.is_any() ? 1 : found.size())) return std::nullopt;
        const bool has_lease = out.granted[0].left.has_value();  // otherwise a process holds it, in a file that exists
                                                                 // only here
        if (has_lease && !claim(own, out.granted, db)) return std::nullopt;
        out.answer = out.granted[0];
        return out;
      },
      purpose::releasing);
} catch (const std::exception&) {
  return std::nullopt;
}

// If the request was left in a batch, nothing is looked for: the batch's answer shows whether there is something to
// undo.
void attempts::leave_unresolved(const acquire_request& what, const lock_name& name, const core::acquisition_id& id,
                                const combined_call_ptr& left) {
  const bool has_lease = what.options.strategy != strategy::for_update;
  auto entry =
      locks_.unresolved_ones().entry_for(name, id, has_lease ? what.options.lease : duration::max(), base::now());
  entry.is_share = !what.share.is_exclusive();
  entry.may_appear = has_lease;  // a lock without a lease is in a file, where nothing arrives late
  locks_.unresolved_ones().add_when_ended(left, std::move(entry));
}

// --- granted ---------------------------------------------------------------------------------------------------------

// nullptr: an answer took so long that its lease must not be relied on. A set then holds none of its names.
lease_ptr attempts::admit(attempt& a, reply& r) {
  const auto& what = a.what;
  if (!what.is_set())
    return admit(what, a.names[r.which].name, r.ticket.is_none() ? a.names[r.which].id : r.ticket, r, r.answer);
  a.granted = r.granted.size();
  while (a.admitted < a.granted) {
    const auto i = a.admitted++;
    auto lease = admit(what, a.names[i].name, a.names[i].id, r, r.granted[i]);
    if (!lease) return nullptr;
    a.got.push_back(std::move(lease));
  }
  std::sort(a.got.begin(), a.got.end(), [](const lease_ptr& x, const lease_ptr& y) { return x->name < y->name; });
  *what.set = std::exchange(a.got, {});
  return what.set->front();
}

lease_ptr attempts::admit(const acquire_request& what, const lock_name& name, const core::acquisition_id& id, reply& r,
                          const strategies::answer& granted) {
  const bool has_lease = what.options.strategy != strategy::for_update;
  auto lease = has_lease ? std::make_shared<lease_state>(name, what.reentrant(), id, what.options)
                         : std::make_shared<lease_state>(name, what.reentrant(), id, what.options,
                                                         db_.options().transaction_limit, std::move(r.transaction));
  lease->counts = what.call == nullptr ? nullptr : &db_.events().numbers();
  lease->share_as(what.share);
  lease->is_released_in_background = !what.on.has_thread();
  if (what.options.hold_limit) lease->hold_limit = base::later(r.sent, *what.options.hold_limit);
  lease->term = db_.guard().term();
  begin(*lease, r.sent, granted);
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
  if (what.options.as) queue_.hint_everybody(name);  // the same holder may wait there more than once
  return lease;
}

// Before another thread sees it.
void attempts::begin(lease_state& lease, base::instant sent, const strategies::answer& granted) {
  lease.asked_at = sent;
  lease.token = granted.token;
  const auto left = granted.left.value_or(lease.time_to_live());
  lease.set_first_left(sent, left, base::now());
  lease.set_renewal_due(core::renewal_due(sent, std::min(left, lease.time_to_live())));
}

}  // namespace rowlock::inline v1::engine
