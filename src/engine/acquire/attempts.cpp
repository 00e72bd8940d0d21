#include "engine/acquire/attempts.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/boot_clock.hpp"
#include "core/lease.hpp"
#include "store/inspection.hpp"
#include "store/leases.hpp"

namespace rowlock::inline v1::engine {

using strategies::verdict;

namespace {

strategies::answer refusal_of(store::turn& seen, std::optional<duration> yields_for, bool has_ticket) {
  return {.what = seen.looks_free ? verdict::behind : verdict::busy,
          .token = {},
          .left = seen.looks_free ? yields_for : seen.left,
          .is_behind = seen.is_behind,
          .has_ticket = has_ticket,
          .is_shared = core::is_shared(seen.holding),
          .is_marked = seen.is_marked,
          .holding = seen.looks_free ? std::string{} : std::move(seen.holding),
          .held_as = seen.version};
}

strategies::answer grant_of(fencing_token token, std::optional<duration> left) {
  return {.what = verdict::granted, .token = token, .left = left};
}

// What the database has of these, each by its own acquisition.
std::vector<std::optional<strategies::answer>> find_grants(std::span<const strategies::acquire_args> batch,
                                                           const store::access& db) {
  if (!batch[0].share.is_exclusive()) {
    const auto own = store::find_share(db, batch[0].name, batch[0].acquisition);
    if (!own) return {std::nullopt};
    return {grant_of(own->info.token, own->info.expires_in)};
  }
  std::vector<std::optional<strategies::answer>> out;
  for (const auto& row : strategies::look_at_all(db, batch)) {
    const bool is_own = row && row->is_held_by(batch[out.size()].acquisition);
    out.push_back(is_own ? std::optional{grant_of(row->token, row->left)} : std::nullopt);
  }
  return out;
}

}  // namespace

// --- making one ------------------------------------------------------------------------------------------------------

attempt_result attempts::make(const acquire_request& what, const driver::limits& until, int tries) {
  attempt_result out;
  const auto once = [&] { return what.is_any() ? try_any(what, until, out) : try_once(what, until, out); };
  retry_inconclusive(db_, until.stop, once, tries);
  return out;
}

// false: inconclusive.
bool attempts::try_once(const acquire_request& what, const driver::limits& until, attempt_result& out) {
  attempt one{*this, what};
  return read(one, send(one, until), until, out);
}

// In one statement where no queue has to be asked, and the row alone decides; else one name after the other.
bool attempts::try_any(const acquire_request& what, const driver::limits& until, attempt_result& out) {
  if (what.options.strategy == strategy::unique_index && !what.is_fair()) {
    attempt first{*this, what};
    auto answer = send(first, until);
    if (!answer.answer.is_waited_for()) return read(first, std::move(answer), until, out);
  }
  bool is_conclusive = true;
  for (const auto& name : what.names) {
    is_conclusive = try_once(what.of(name), db_.call_limits(until.stop), out) && is_conclusive;
    if (out.lease) return true;
  }
  return is_conclusive;
}

// What the holder of a set has already, it has again; the others are asked for.
attempts::attempt::attempt(attempts& maker, const acquire_request& request)
    : by{maker},
      what{request},
      liveness{what.options.strategy == strategy::for_update && !by.holds_by_transaction(what.options.strategy)
                   ? by.db_.database().liveness()
                   : std::string{}} {
  names.reserve(what.names.size());  // which the batch refers to
  batch.reserve(what.names.size());
  for (std::size_t i = 0; i < what.names.size(); ++i) {
    const auto& name = what.names[i];
    if (what.is_set() && what.is_reentrant)
      if (auto lease = by.locks_.registry().again(name, what.by, true, base::now())) {
        got.push_back(std::move(lease));
        continue;
      }
    const bool has_id = what.is_any() && i > 0;
    names.push_back({.name = name,
                     .queued = what.queued.empty() ? nullptr : what.queued[i],
                     .id = has_id ? names[0].id : by.who_.next_id()});
    batch.push_back({.name = name.view(),
                     .owner = by.who_.owner(),
                     .thread = what.by.text(),
                     .acquisition = names.back().id.text(),
                     .note = what.options.note,
                     .lease = what.options.lease,
                     .liveness = liveness,
                     .share = what.share});
  }
}

// Also where the client is closed meanwhile.
attempts::attempt::~attempt() {
  for (const auto& each : got) by.locks_.release_soon(each);
  try {
    for (; admitted < granted; ++admitted) by.leave_unresolved(what, names[admitted].name, names[admitted].id);
  } catch (const std::exception&) {  // out of memory: their leases end by themselves
  }
}

// --- sending it ------------------------------------------------------------------------------------------------------

attempts::reply attempts::send(attempt& a, const driver::limits& until) {
  db_.check_usable();
  if (a.batch.empty()) return {.answer = {.what = verdict::granted}};
  if (holds_by_transaction(a.what.options.strategy)) return hold(a, until);
  const auto began = base::now();
  combined_call_ptr left;
  try {
    return ask(a, until, left);
  } catch (const error& e) {
    if (!e.outcome_is_unknown()) throw;
    if (auto adopted = adopt(a, began, until)) return std::move(*adopted);
    for (const auto& each : a.names) leave_unresolved(a.what, each.name, each.id, left);
    throw;
  }
}

// A session is needed for an attempt, and is all there is to keep or to close: nothing was committed, so nothing is
// left to undo. If its end did not reach the server, the server is told by another session.
attempts::reply attempts::hold(attempt& a, const driver::limits& until) {
  if (locks_.registry().has(a.names[0].name)) return {.answer = {.what = verdict::busy}};
  locks_.prepare_transactions();
  const auto first = gateway::leaving_a_tenth(until);
  auto session = db_.lend_transaction(first);
  const store::access db{.sheet = db_.sheet(), .session = **session, .until = first};
  try {
    db_.require_fit_schema(db);
    reply out;
    if (a.what.asks_in_turn() && !look(a, a.place(), db, out)) return out;
    out.sent = base::now();
    out.answer = for_update_.acquire(db, a.batch[0]);
    if (out.answer.what != verdict::granted) return out;
    out.transaction = std::make_unique<held_transaction>(std::move(session));
    tickets_.leave(a.what.queued, until);
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

// First as if nobody waited, unless it waits itself, or in turn: that is one statement, which is combined with those of
// other threads where it is for one name alone. A name that is free but waited for is asked for by the queue then.
attempts::reply attempts::ask(attempt& a, const driver::limits& until, combined_call_ptr& left) {
  const auto first = gateway::leaving_a_tenth(until);
  bool in_turn = is_queued(a.what);
  if (!in_turn && a.what.is_plain()) {
    auto [sent, answer] =
        db_.run_combined(try_of(a.what.options.strategy), a.batch[0], {.until = first, .last = until.deadline}, left);
    if (!answer.is_waited_for()) return {.sent = sent, .answer = std::move(answer)};
    in_turn = true;
  }
  return db_.run(first, [&](const store::access& db) -> reply {
    const bool is_exclusive = a.what.share.is_exclusive();
    if (!in_turn) {
      auto out = take(a, db);
      const auto& answer = out.answer;
      const bool asks_the_queue = is_exclusive ? answer.is_waited_for() : answer.what == verdict::inconclusive;
      if (!asks_the_queue || a.what.is_any()) return out;
    }
    return is_exclusive ? take_in_turn(a, db) : share_in_turn(a, db);
  });
}

// A share is asked for in turn, too, where the row may be marked by those only who need not wait for it: readers that
// come and go would keep a writer from that.
bool attempts::is_queued(const acquire_request& what) const noexcept {
  const bool is_marked_for_sure = !db_.can().marks_waiting || db_.can().acquires_in_turn;
  return what.asks_in_turn() || what.ticket() != core::ticket_number::none ||
         (!what.share.is_exclusive() && !is_marked_for_sure);
}

attempts::reply attempts::take(const attempt& a, const store::access& db) {
  const auto sent = base::now();
  if (!a.what.share.is_exclusive()) return {.sent = sent, .answer = strategies::share(db, a.batch).at(0)};
  if (a.what.is_plain()) return {.sent = sent, .answer = try_of(a.what.options.strategy).ask(db, a.batch[0]).what};
  auto all = a.what.is_set() ? strategies::take_all(db, a.batch) : strategies::take_first_free(db, a.batch);
  return {.sent = sent, .answer = std::move(all.what), .which = all.which, .granted = std::move(all.granted)};
}

// A ticket that is committed between the look at the queue and the attempt came later: that it is not waited for is as
// if the attempt had been made at once. So it is only if nobody has the name in between, who may have seen that ticket:
// an attempt by a lease goes by the version that was seen.
attempts::reply attempts::take_in_turn(attempt& a, const store::access& db) {
  const auto& what = a.what;
  reply out{.sent = base::now()};
  if (asks_the_queue_too(what))
    a.batch[0].queued = {.ticket = what.ticket(), .turn = what.queue_position(), .patience = what.patience()};
  if (!must_look(what) || look(a, a.place(), db, out)) {
    out = take(a, db);
    if (!out.answer.is_marked) out.answer.is_marked = a.names[out.which].is_marked;
  }
  if (claim_grant(a, out, db)) return out;  // the ticket is the release's to delete
  if (out.answer.has_left) what.queued[0]->waiter().give_up_ticket();
  if (out.answer.what == verdict::granted) ticket_upkeep::leave(what.queued, db);
  return out;
}

bool attempts::asks_the_queue_too(const acquire_request& what) const noexcept {
  return what.options.strategy != strategy::for_update && what.is_plain() && db_.can().acquires_in_turn;
}

// A waiter that need not wait in turn, and is marked, is told by nobody else that others come first.
bool attempts::must_look(const acquire_request& what) const noexcept {
  if (asks_the_queue_too(what)) return false;
  return !what.is_plain() || what.asks_in_turn() || what.ticket() == core::ticket_number::none ||
         may_be_granted(what) || (!db_.can().marks_waiting && what.options.strategy != strategy::for_update);
}

bool attempts::may_be_granted(const acquire_request& what) const noexcept {
  if (what.queued.empty() || what.options.strategy == strategy::for_update || !what.is_plain()) return false;
  return what.is_fair() || driver::reaches_waiters(db_.database().news());
}

// true: it is its turn for all of the names, of which each must be as it was seen. Of the tickets of a set the look
// asks for the least one only; the others are found missing when they are refreshed.
bool attempts::look(attempt& a, const store::ticket_ref& own, const store::access& db, reply& out) {
  const auto place_of = [&](const strategies::acquire_args& one) {
    auto place = own;
    place.name = one.name;
    return place;
  };
  auto turns = store::with_each(std::span<const strategies::acquire_args>{a.batch}, place_of,
                                [&](std::span<const store::ticket_ref> all) { return store::look_at_queues(db, all); });
  const auto ticket = a.what.ticket();
  std::vector<strategies::acquire_args> missing;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    auto& seen = turns[i];
    auto& name = a.names[i];
    const bool is_asked_for = ticket != core::ticket_number::none && name.queued->waiter().ticket_number() == ticket;
    const bool has_ticket = seen.has_ticket || !is_asked_for;
    const auto yields_for = core::yields_for(seen.looks_free ? seen.left : std::nullopt, own.patience);
    const bool is_behind = seen.is_behind && yields_for != duration::zero();
    if (!seen.looks_free || is_behind || !has_ticket) {
      out.answer = refusal_of(seen, yields_for, has_ticket);
      out.which = i;
      return false;
    }
    a.batch[i].seen = seen.version;
    name.is_marked = seen.is_marked;
    if (!seen.has_row) missing.push_back(a.batch[i]);
  }
  if (missing.empty() || (a.what.is_plain() && !a.what.asks_in_turn())) return true;
  strategies::make_rows(db, missing);  // asked again, by what the rows say then
  out.answer = {};
  return false;
}

// A release has made the ticket of this waiter the owner, for a short time, in which it has to claim the lease that it
// asked for. Before that nobody relies on the grant, which need not be on disk; the claim is a renewal, which waits for
// the disk, and with it for the grant. Where the statement that was sent has claimed it, all of the lease is left.
// true: that is why it was refused; `r` says what has become of it.
bool attempts::claim_grant(const attempt& a, reply& r, const store::access& db) {
  if (r.answer.holding.empty() || !r.answer.left) return false;
  const auto& [name, queued, id, is_marked] = a.names[r.which];
  const bool is_unwanted = cleanup_.is_unwanted(name, r.answer.holding);
  if (!is_unwanted && (queued == nullptr || queued->waiter().ticket().attempt.text() != r.answer.holding)) return false;
  locks_.is_waited_for(name);
  const auto refused = std::exchange(r.answer, {});  // inconclusive: asked again
  const store::lease_ref own{.name = name.view(), .acquisition = refused.holding, .lease = a.what.options.lease};
  if (is_unwanted) return store::release(db, {&own, 1}), true;
  auto left = *refused.left;
  if (left < own.lease) {
    r.sent = base::now();
    const auto renewed = store::renew(db, {&own, 1}).at(0);
    if (renewed.what != store::standing::kept) return true;  // the row is locked, or not ours
    left = renewed.left;
  }
  r.answer = grant_of(refused.held_as, left);
  r.ticket = core::acquisition_id{refused.holding};
  return true;
}

// --- reading the answer ----------------------------------------------------------------------------------------------

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
    return true;  // a transaction pins it, perhaps the one that waits
  const bool is_free = answer.what == verdict::behind;
  const auto& queues = a.what.queued;
  const bool are_marked = !queues.empty() && std::all_of(queues.begin(), queues.end(),
                                                         [](auto* each) { return each->waiter().is_marked(); });
  out.why = {.left = is_free ? a.what.comes_again_after(answer.left) : answer.left,
             .is_free = is_free,
             .is_behind = answer.is_behind,
             .is_notified = wakeups_.is_told(are_marked)};
  return true;
}

// What a refusal says of that is believed: whoever saw no ticket may have taken off a mark that was read before. false:
// it was not, and is now. What was released meanwhile has told nobody, so the attempt is repeated.
bool attempts::is_marked(queued_waiter& by, bool says_so, const driver::limits& until) {
  auto& waiter = by.waiter();
  if (waiter.ticket_number() == core::ticket_number::none) return true;
  waiter.mark(says_so);
  if (says_so) return true;
  tickets_.mark(waiter, by.name(), until);
  return !waiter.is_marked();
}

// --- the outcome is unknown ------------------------------------------------------------------------------------------

// The reply was lost; were the names, too? A row that has the id is ours: of a set all of them have theirs, or none. If
// there is none, the statement may be under way yet: then it is undone, not believed in. What is adopted here is not
// given to the reconciler. It is renewed first: the grant may be seen here although no standby has it, where the wait
// for one was given up. The answer to a later commit says that all before it is as safe as that. If that does not come
// either, the grant is undone.
std::optional<attempts::reply> attempts::adopt(const attempt& a, base::instant sent,
                                               const driver::limits& until) noexcept try {
  if (base::now() >= until.deadline || until.stop.stop_requested()) return std::nullopt;
  return db_.run(
      until,
      [&](const store::access& db) -> std::optional<reply> {
        db_.database().end_lost_sessions(db.session, until);
        auto found = find_grants(a.batch, db);
        reply out{.sent = sent};
        std::vector<store::lease_ref> own;
        for (std::size_t i = 0; i < found.size(); ++i) {
          if (!found[i]) continue;
          const auto& one = a.batch[i];
          own.push_back({.name = one.name,
                         .acquisition = one.acquisition,
                         .lease = one.lease,
                         .is_share = !one.share.is_exclusive()});
          if (own.size() == 1) out.which = i;
          out.granted.push_back(std::move(*found[i]));
        }
        if (own.size() < (a.what.is_any() ? 1 : found.size())) return std::nullopt;
        if (out.granted[0].left)  // else a process holds it, in a file that is nowhere else
          for (std::size_t i = 0; const auto& each : store::renew(db, own)) {
            if (each.what != store::standing::kept) return std::nullopt;
            out.granted[i++].left = each.left;
          }
        out.answer = out.granted[0];
        return out;
      },
      purpose::releasing);
} catch (const std::exception&) {
  return std::nullopt;
}

// Of what it has left in a batch, nothing is sought any more: its answer says whether there is something to undo.
void attempts::leave_unresolved(const acquire_request& what, const lock_name& name, const core::acquisition_id& id,
                                const combined_call_ptr& left) {
  const bool has_lease = what.options.strategy != strategy::for_update;
  auto entry =
      locks_.unresolved_ones().entry_for(name, id, has_lease ? what.options.lease : duration::max(), base::now());
  entry.is_share = !what.share.is_exclusive();
  entry.may_appear = has_lease;  // a lock without a lease is in a file, where nothing comes late
  locks_.unresolved_ones().add_when_ended(left, std::move(entry));
}

// --- granted ---------------------------------------------------------------------------------------------------------

// nullptr: an answer took so long that its lease is not to be relied on. A set has none of its names then.
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
  if (what.options.hold_limit) lease->hold_limit = base::later(r.sent, *what.options.hold_limit);
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

// --- how a name is won -----------------------------------------------------------------------------------------------

bool attempts::holds_by_transaction(strategy s) noexcept {
  return s == strategy::for_update && db_.database().has_row_locks();
}

// What waited for others while the client was closed is not sent any more.
attempts::combined_try attempts::try_by(const strategies::algorithm& how) {
  return {purpose::usual,
          [this, &how](const store::access& db, std::span<const strategies::acquire_args> batch) {
            db_.check_usable();
            return how.acquire(db, batch);
          },
          [](const strategies::answer& a) { return a.what == verdict::granted; }};
}

// Those that write who has the name into the row; all of them are renewed and released alike.
attempts::combined_try& attempts::try_of(strategy s) noexcept {
  if (s == strategy::version_cas) return version_cas_try_;
  if (s == strategy::for_update) return liveness_rows_try_;
  return unique_index_try_;
}

}  // namespace rowlock::inline v1::engine
