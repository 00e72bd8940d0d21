#include "engine/acquire/attempts.hpp"

#include <algorithm>
#include <utility>

#include "base/boot_clock.hpp"

namespace rowlock::inline v1::engine {

using strategies::verdict;

namespace {

// The client may have learned just now that the guard is on: inconclusive attempts are made again, and then a lease
// that is too long is refused.
bool are_short(std::span<const strategies::acquire_args> batch, const store::access& db) {
  return std::all_of(batch.begin(), batch.end(), [&](const auto& one) { return one.lease <= db.longest_lease; });
}

}  // namespace

// --- making one ------------------------------------------------------------------------------------------------------

task<attempt_result> attempts::make(const acquire_request& what, const driver::limits& until, int tries) {
  attempt_result out;
  const auto once = [&]() -> task<bool> {
    if (const auto left = db_.quarantine_for(what.options)) {
      out.why = {.left = left};
      co_return true;
    }
    auto one = what.is_any() ? try_any(what, until, out) : try_once(what, until, out);
    const bool is_conclusive = co_await one;
    if (!is_conclusive) db_.guard().doubt();
    co_return is_conclusive;
  };
  auto all = retry_inconclusive(db_, what.on, until.stop, once, tries);
  co_await all;
  co_return out;
}

// false: inconclusive.
task<bool> attempts::try_once(const acquire_request& what, const driver::limits& until, attempt_result& out) {
  attempt one{*this, what};
  auto answer = co_await send(one, until);
  co_return read(one, std::move(answer), until, out);
}

// In one statement if no queue must be asked, and the row alone decides; otherwise one name after the other.
task<bool> attempts::try_any(const acquire_request& what, const driver::limits& until, attempt_result& out) {
  if (what.options.strategy == strategy::unique_index && !what.is_fair()) {
    attempt first{*this, what};
    auto answer = co_await send(first, until);
    if (!answer.answer.is_waited_for()) co_return read(first, std::move(answer), until, out);
  }
  bool is_conclusive = true;
  for (const auto& name : what.names) {
    const auto one = what.of(name);
    const auto soon = db_.limits_of_wait(what.gives_up, until.stop);
    const bool is_known = co_await try_once(one, soon, out);
    is_conclusive = is_known && is_conclusive;
    if (out.lease || what.gives_up <= base::now()) co_return true;
  }
  co_return is_conclusive;
}

// The names of a set that its holder already holds are reentered; the others are asked for.
attempts::attempt::attempt(attempts& maker, const acquire_request& request)
    : by{maker},
      what{request},
      liveness{what.options.strategy == strategy::for_update && !by.holds_by_transaction(what.options.strategy)
                   ? by.db_.database().liveness()
                   : std::string{}} {
  names.reserve(what.names.size());  // the batch refers to its elements
  batch.reserve(what.names.size());
  for (std::size_t i = 0; i < what.names.size(); ++i) {
    const auto& name = what.names[i];
    if (what.is_set() && what.is_reentrant)
      if (auto lease = by.locks_.registry().reenter(name, what.by, true, base::now())) {
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

// Also if the client is closed meanwhile.
attempts::attempt::~attempt() {
  for (const auto& each : got) by.locks_.release_soon(each);
  try {
    for (; admitted < granted; ++admitted) by.leave_unresolved(what, names[admitted].name, names[admitted].id);
  } catch (const std::exception&) {  // out of memory: their leases end by themselves
  }
}

// --- sending it ------------------------------------------------------------------------------------------------------

task<attempts::reply> attempts::send(attempt& a, const driver::limits& until) {
  db_.check_usable();
  if (a.batch.empty()) co_return reply{.answer = {.what = verdict::granted}};
  if (holds_by_transaction(a.what.options.strategy)) co_return hold(a, until);
  const auto began = base::now();
  combined_call_ptr left;
  try {
    co_return co_await ask(a, until, left);
  } catch (const error& e) {
    if (!e.outcome_is_unknown()) throw;
    if (auto adopted = adopt(a, began, until)) co_return std::move(*adopted);
    for (const auto& each : a.names) leave_unresolved(a.what, each.name, each.id, left);
    throw;
  }
}

// An attempt needs a session, and either keeps it or closes it: nothing was committed, so nothing must be undone. If
// the end of the session did not reach the server, another session asks the server to end it.
attempts::reply attempts::hold(attempt& a, const driver::limits& until) {
  if (locks_.registry().has(a.names[0].name)) return {.answer = {.what = verdict::busy}};
  locks_.prepare_transactions();
  const auto first = gateway::leaving_a_tenth(until);
  auto session = db_.lend_transaction(first);
  const store::access plain{.sheet = db_.sheet(), .session = **session, .until = first};
  try {
    db_.require_fit_schema(plain);
    const auto db = db_.guard().look(plain);
    reply out;
    if (db_.options().transaction_limit > db.longest_lease) return out;
    if (a.what.asks_in_turn() && !look(a, a.place(), db, out)) return out;
    out.sent = base::now();
    out.answer = for_update_.acquire(db, a.batch[0]);
    db_.guard().require_fresh(db, plain);
    if (out.answer.what != verdict::granted) return out;
    out.transaction = std::make_unique<held_transaction>(std::move(session), out.answer.is_marked.value_or(false));
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

// First as if no client waited, unless the caller itself waits, or asks in turn: that is one statement, which is
// combined with those of other threads if it is for one name alone. If the name is free but has waiters, it is asked
// for by the queue. So is a share that is not granted at once.
task<attempts::reply> attempts::ask(attempt& a, const driver::limits& until, combined_call_ptr& left) {
  const auto first = gateway::leaving_a_tenth(until);
  bool in_turn = is_queued(a.what);
  if (!in_turn && a.what.is_plain()) {
    const combined_limits both{.until = first, .last = until.deadline};
    auto got = co_await db_.run_combined(a.what.on, try_of(a.what.options.strategy), a.batch[0], both, left);
    if (!got.what.is_waited_for()) co_return reply{.sent = got.sent, .answer = std::move(got.what)};
    in_turn = true;
  }
  if (comes_as_a_reader(a.what)) {
    const combined_limits both{.until = first, .last = until.deadline};
    auto got = co_await db_.run_combined_skipping(a.what.on, share_skipping_try_, a.batch[0], both, left);
    if (!got || got->what.what == verdict::inconclusive)
      got = co_await db_.run_combined_by_name(a.what.on, share_try_, a.batch[0], both, left);
    if (in_turn || got->what.what != verdict::inconclusive)
      co_return reply{.sent = got->sent, .answer = std::move(got->what)};
    in_turn = true;
  }
  co_return db_.run(first, [&](const store::access& db) -> reply {
    if (!are_short(a.batch, db)) return {.sent = base::now()};
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

bool attempts::is_queued(const acquire_request& what) const noexcept {
  return what.asks_in_turn() || what.ticket() != core::ticket_number::none ||
         (!what.share.is_exclusive() && !is_marked_for_sure());
}

// If callers that need not wait in turn must mark the row for it, a share is asked for in turn: otherwise readers that
// come and go would keep a writer from marking it.
bool attempts::is_marked_for_sure() const noexcept { return !db_.can().marks_waiting || db_.can().acquires_in_turn; }

// Readers that have not waited yet are in the same place, so those of one name are asked for together.
bool attempts::comes_as_a_reader(const acquire_request& what) noexcept {
  return what.share.is_reader() && what.queued.empty() && !what.asks_in_turn();
}

attempts::reply attempts::take(const attempt& a, const store::access& db) {
  const auto sent = base::now();
  if (!a.what.share.is_exclusive()) return {.sent = sent, .answer = strategies::share(db, a.batch).at(0)};
  if (a.what.is_plain()) return {.sent = sent, .answer = try_of(a.what.options.strategy).ask(db, a.batch[0]).what};
  auto all = a.what.is_set() ? strategies::take_all(db, a.batch) : strategies::take_first_free(db, a.batch);
  return {.sent = sent, .answer = std::move(all.what), .which = all.which, .granted = std::move(all.granted)};
}

// A ticket that is committed between the look at the queue and the attempt came later: passing it has the same result
// as an attempt at the time of the look. This is true only if no client that may have seen the ticket has held the name
// in between. Therefore an attempt by a lease requires the version that was seen.
attempts::reply attempts::take_in_turn(attempt& a, const store::access& db) {
  const auto& what = a.what;
  reply out{.sent = base::now()};
  if (asks_the_queue_too(what))
    a.batch[0].queued = {.ticket = what.ticket(), .before = what.queue_position(), .patience = what.patience()};
  if (!must_look(what) || look(a, a.place(), db, out)) {
    out = take(a, db);
    if (!out.answer.is_marked) out.answer.is_marked = a.names[out.which].is_marked;
  }
  const bool is_claim = claim_grant(a, out, db);
  if (is_claim && !db_.can().acquires_in_turn) return out;  // a ticket with a grant is marked, and may be deleted later
  if (out.answer.has_left) what.queued[0]->waiter().give_up_ticket();
  if (out.answer.what == verdict::granted) ticket_upkeep::leave(what.queued, db);
  return out;
}

bool attempts::reads_the_mark(const acquire_request& what) const noexcept {
  return what.is_plain() && what.options.strategy != strategy::for_update &&
         (asks_the_queue_too(what) || must_look(what));
}

bool attempts::asks_the_queue_too(const acquire_request& what) const noexcept {
  return what.options.strategy != strategy::for_update && what.is_plain() && db_.can().acquires_in_turn;
}

// A waiter that need not wait in turn, and is marked, learns in no other way that others come first.
bool attempts::must_look(const acquire_request& what) const noexcept {
  if (asks_the_queue_too(what)) return what.expects_refusal;
  return !what.is_plain() || what.asks_in_turn() || what.ticket() == core::ticket_number::none ||
         may_be_granted(what) || (!db_.can().marks_waiting && what.options.strategy != strategy::for_update);
}

bool attempts::may_be_granted(const acquire_request& what) const noexcept {
  if (what.queued.empty() || what.options.strategy == strategy::for_update || !what.is_plain()) return false;
  return what.is_fair() || driver::reaches_waiters(db_.database().news());
}

std::optional<strategies::answer> attempts::refusal_of(store::queue_position& seen, duration patience,
                                                       bool has_ticket) {
  const auto yields_for = core::yields_for(seen.looks_free ? seen.left : std::nullopt, patience);
  const bool is_behind = seen.is_behind && yields_for != duration::zero();
  if (seen.looks_free && !is_behind && has_ticket) return std::nullopt;
  return strategies::answer{.what = seen.looks_free ? verdict::behind : verdict::busy,
                            .token = {},
                            .left = seen.looks_free ? yields_for : seen.left,
                            .is_behind = seen.is_behind,
                            .has_ticket = has_ticket,
                            .is_shared = core::is_shared(seen.holding),
                            .is_marked = seen.is_marked,
                            .holding = seen.looks_free ? std::string{} : std::move(seen.holding),
                            .held_as = seen.version};
}

// true: it is its turn for all of the names, and each must be as it was seen. Of the tickets of a set only the least
// one is looked for; if the others are missing, their refresh finds that.
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
    if (auto refusal = refusal_of(seen, own.patience, seen.has_ticket || !is_asked_for)) {
      out.answer = std::move(*refusal);
      out.which = i;
      return false;
    }
    a.batch[i].seen = seen.version;
    name.is_marked = seen.is_marked;
    if (!seen.has_row) missing.push_back(a.batch[i]);
  }
  if (missing.empty() || (a.what.is_plain() && !a.what.asks_in_turn())) return true;
  strategies::make_rows(db, missing);  // asked again, with the new contents of the rows
  out.answer = {};
  return false;
}

// --- how a name is won -----------------------------------------------------------------------------------------------

bool attempts::holds_by_transaction(strategy s) noexcept {
  return s == strategy::for_update && db_.database().has_row_locks();
}

// After the client has closed, requests that wait for a line are not sent any more.
attempts::combined_try attempts::try_by(combined_try::function how) {
  return {purpose::usual,
          [this, how = std::move(how)](const store::access& db, std::span<const strategies::acquire_args> batch) {
            db_.check_usable();
            return are_short(batch, db) ? how(db, batch) : std::vector<strategies::answer>(batch.size());
          },
          [](const strategies::answer& a) { return a.what == verdict::granted; }};
}

// The strategies that write the holder into the row; all of them are renewed and released alike.
attempts::combined_try& attempts::try_of(strategy s) noexcept {
  if (s == strategy::version_cas) return version_cas_try_;
  if (s == strategy::for_update) return liveness_rows_try_;
  return unique_index_try_;
}

}  // namespace rowlock::inline v1::engine
