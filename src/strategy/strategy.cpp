#include "strategy/strategy.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <utility>

#include "core/error_detail.hpp"
#include "store/leases.hpp"

namespace rowlock::inline v1::strategies {

namespace {

using store::field;

store::arguments arguments_of(const acquire_args& a) {
  store::arguments out{{field::name, a.name},           {field::owner, a.owner},
                       {field::thread, a.thread},       {field::acquisition, a.acquisition},
                       {field::lease, a.lease.count()}, {field::version, a.seen.value()}};
  if (!a.note.empty()) out.push_back({field::note, a.note});
  if (!a.liveness.empty()) out.push_back({field::liveness, a.liveness});
  if (!a.share.is_exclusive()) {
    out.push_back({field::permits, a.share.permits});
    out.push_back({field::room, a.share.max_other_permits});
  }
  if (a.queued) {
    out.push_back({field::ticket, core::to_integer(a.queued->ticket)});
    out.push_back({field::turn, core::to_integer(a.queued->before)});
    out.push_back({field::patience, a.queued->patience.count()});
  }
  return out;
}

answer answer_of(const store::record& r) {
  const auto version = r.maybe_integer(field::version);
  answer out{.what = version ? verdict::granted : verdict::busy,
             .token = fencing_token{version.value_or(0)},
             .left = r.maybe_duration(field::left)};
  if (!r.has(field::looks_free)) {
    out.is_shared = !version && r.is_true(field::permits);
    return out;
  }
  out.is_behind = r.is_true(field::is_behind);
  out.has_ticket = r.is_true(field::has_ticket);
  out.has_left = r.is_true(field::has_left);
  if (!version && r.is_true(field::looks_free)) out.what = verdict::behind;
  if (!version) out.is_marked = r.is_true(field::waiting);
  if (!r.has(field::held_as) || r.is_null(field::held_as)) return out;
  out.holding = r.text(field::holding);
  out.is_shared = core::is_shared(out.holding);
  out.held_as = fencing_token{r.integer(field::held_as)};
  return out;
}

// Each is a transaction of its own: if a later one fails, the work of the earlier ones remains.
store::records run_each_to_make(const store::access& db, sheets::verb how, std::span<const store::arguments> requests) {
  store::records out{db.sheet[how], db.session, {}};
  try {
    for (std::size_t i = 0; i < requests.size(); ++i) out.append(run_to_make(db, how, requests.subspan(i, 1)));
  } catch (const error& e) {
    if (out.empty() || e.outcome_is_unknown()) throw;
    throw detail::error_access::changed(e, [](auto& says) { says.outcome_unknown = true; });
  }
  return out;
}

store::arguments name_of(const acquire_args& a) { return {{field::name, a.name}}; }

}  // namespace

// A row that was made meanwhile and is kept in a transaction is skipped like any other that is locked. So that it is no
// obstacle to the others, each request of a batch is then sent alone. If there is no row, another session has locked
// the table, and that is a failure. Nothing was written in either case.
store::records run_to_make(const store::access& db, sheets::verb how, std::span<const store::arguments> requests) try {
  return db.run_batch(how, requests);
} catch (const error& e) {
  if (!db.sheet[how].waits_to_make || e.code() != errc::call_timed_out || e.connection_is_unusable()) throw;
  if (requests.size() > 1) return run_each_to_make(db, how, requests);
  if (db.run_batch(sheets::verb::inspect, requests).empty()) throw;
  return {db.sheet[how], db.session, {}};
}

namespace {

template <class Run>
std::vector<answer> answers_of(std::span<const acquire_args> batch, Run run) {
  std::vector<answer> answers(batch.size());
  store::correlate(batch, &acquire_args::acquisition, store::with_each(batch, arguments_of, run),
                   [&](std::size_t i, const store::record& r) { answers[i] = answer_of(r); });
  return answers;
}

}  // namespace

std::vector<answer> try_all(const store::access& db, sheets::verb how, std::span<const acquire_args> batch) {
  return answers_of(batch, [&](std::span<const store::arguments> all) { return run_to_make(db, how, all); });
}

namespace {

// "Busy" with nothing left of a lease is a row that has another version by now. The statement makes the token by the
// clock under the row lock, not by that of the look: a transaction may have held the name since, with a greater token,
// and its rollback leaves the row as it was.
std::vector<answer> compare_and_set(const store::access& db, std::span<const acquire_args> batch) {
  auto answers = try_all(db, sheets::verb::compare_and_set, batch);
  for (auto& each : answers)
    if (each.what == verdict::busy && !(each.left > duration::zero())) each = {};
  return answers;
}

// For one request: an attempt by a lease that decides by the queue, or by an earlier look at it. Both strategies write
// the same there, and only if no client has held the name since the queue was seen. nullopt: it is no such request.
std::optional<std::vector<answer>> try_in_turn(const store::access& db, std::span<const acquire_args> batch) {
  if (batch[0].queued) return try_all(db, sheets::verb::acquire_in_turn, batch);
  if (batch[0].seen != fencing_token{}) return compare_and_set(db, batch);
  return std::nullopt;
}

// A name that is free, but has waiters.
answer waited_for() { return {.what = verdict::busy, .left = duration::zero()}; }

// The answer to a waiter from the row of a name that is not free.
answer busy(const store::row_state& held) {
  return {.what = verdict::busy, .token = {}, .left = held.left, .is_shared = held.is_shared()};
}

std::vector<std::optional<store::row_state>> look_or_make(const store::access& db,
                                                          std::span<const acquire_args> batch) {
  auto rows = look_at_all(db, batch);
  std::vector<acquire_args> missing;
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (!rows[i]) missing.push_back(batch[i]);
  if (missing.empty()) return rows;
  make_rows(db, missing);
  return look_at_all(db, batch);
}

// After a refusal: makes rows for names that have none, and takes off dead sharers. true: that has changed something.
bool create_missing_rows_and_reap(const store::access& db, std::span<const acquire_args> batch,
                                  const std::vector<std::optional<store::row_state>>& rows) {
  std::vector<acquire_args> missing;
  std::vector<std::string_view> shared;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!rows[i]) missing.push_back(batch[i]);
    if (rows[i] && rows[i]->is_shared()) shared.push_back(batch[i].name);
  }
  if (!missing.empty()) make_rows(db, missing);
  return (!shared.empty() && store::reap_shares(db, shared)) || !missing.empty();
}

bool is_waited_for(const std::vector<std::optional<store::row_state>>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const auto& row) { return row && row->is_free() && row->is_waited_for; });
}

bool is_taken(const std::optional<store::row_state>& row) { return row && !row->is_free(); }

}  // namespace

answer_of_several take_first_free(const store::access& db, std::span<const acquire_args> batch) {
  answer_of_several out;
  const auto take = [&] {
    const auto run = [&](std::span<const store::arguments> all) {
      return db.run_batch(sheets::verb::acquire_any, all);
    };
    store::correlate(batch, &acquire_args::name, store::with_each(batch, arguments_of, run),
                     [&](std::size_t i, const store::record& r) { out = {.what = answer_of(r), .which = i}; });
    return out.what.what == verdict::granted;
  };
  if (take()) return out;
  const auto rows = look_at_all(db, batch);
  if (create_missing_rows_and_reap(db, batch, rows) && take()) return out;
  if (is_waited_for(rows)) {
    out.what = waited_for();
  } else if (std::all_of(rows.begin(), rows.end(), is_taken)) {
    out.what.what = verdict::busy;
  }
  return out;
}

answer_of_several take_all(const store::access& db, std::span<const acquire_args> batch) {
  answer_of_several out;
  const auto take = [&] {
    out.granted = try_all(db, sheets::verb::acquire_all, batch);
    const bool has_all =
        std::all_of(out.granted.begin(), out.granted.end(), [](const answer& a) { return a.what == verdict::granted; });
    if (has_all) out.what.what = verdict::granted;
    return has_all;
  };
  if (take()) return out;
  auto rows = look_at_all(db, batch);
  if (create_missing_rows_and_reap(db, batch, rows)) {
    if (take()) return out;
    rows = look_at_all(db, batch);
  }
  out.granted.clear();
  if (const auto taken = std::find_if(rows.begin(), rows.end(), is_taken); taken != rows.end()) {
    out.which = static_cast<std::size_t>(taken - rows.begin());
    out.what = busy(**taken);
    out.what.is_shared = false;  // dead sharers were taken off just now
  } else if (is_waited_for(rows)) {
    out.what = waited_for();
  }
  return out;
}

std::vector<std::optional<store::row_state>> look_at_all(const store::access& db, std::span<const acquire_args> batch) {
  const auto look = [&](std::span<const store::arguments> all) { return db.run_batch(sheets::verb::inspect, all); };
  std::vector<std::optional<store::row_state>> states(batch.size());
  store::correlate(batch, &acquire_args::name, store::with_each(batch, name_of, look),
                   [&](std::size_t i, const store::record& r) { states[i] = store::row_state_of(r); });
  return states;
}

namespace {

// After a wait for it: nothing was written.
bool was_refused_the_row(const error& e) {
  return e.code() == errc::call_timed_out && !e.connection_is_unusable() && !e.outcome_is_unknown();
}

}  // namespace

// It waits for the row as long as other sharers may lock it; a client that locks it for longer holds it exclusively.
std::vector<answer> share(const store::access& db, std::span<const acquire_args> batch) try {
  return try_all(db, sheets::verb::share, batch);
} catch (const error& e) {
  if (!was_refused_the_row(e)) throw;
  return std::vector<answer>(batch.size(), {.what = verdict::busy});
}

std::vector<answer> share_skipping(const store::access& db, std::span<const acquire_args> batch) try {
  return answers_of(
      batch, [&](std::span<const store::arguments> all) { return db.run_batch_skipping(sheets::verb::share, all); });
} catch (const error& e) {
  if (!was_refused_the_row(e)) throw;
  return std::vector<answer>(batch.size());
}

void make_rows(const store::access& db, std::span<const acquire_args> batch) {
  const auto make = [&](std::span<const store::arguments> all) { return run_to_make(db, sheets::verb::make, all); };
  store::with_each(batch, name_of, make);
}

// --- by a row --------------------------------------------------------------------------------------------------------

std::vector<answer> algorithm::acquire(const store::access& db, std::span<const acquire_args> batch) const {
  if (how_.looks != way::look::never)
    if (auto answers = try_in_turn(db, batch)) return std::move(*answers);
  auto answers = looks_first(db, batch) ? look_and_try(db, batch) : try_rows(db, batch);
  if (remembers_refusals(db))
    for (std::size_t i = 0; i < batch.size(); ++i)
      answers[i].what == verdict::granted ? refused_.remove(batch[i].name) : refused_.add(batch[i].name);
  return answers;
}

// A row that exists costs less to take than one that may have to be made.
std::vector<answer> algorithm::try_rows(const store::access& db, std::span<const acquire_args> batch) const {
  if (how_.verb != sheets::verb::acquire || !db.sheet[sheets::verb::acquire_existing].write)
    return try_all(db, how_.verb, batch);
  const auto was_granted = [&](const acquire_args& a) { return granted_.may_have(a.name); };
  auto answers =
      std::all_of(batch.begin(), batch.end(), was_granted) ? try_existing(db, batch) : try_all(db, how_.verb, batch);
  for (std::size_t i = 0; i < batch.size(); ++i)
    answers[i].what == verdict::granted ? granted_.remember(batch[i].name) : granted_.forget(batch[i].name);
  return answers;
}

// Each of the two is a transaction of its own: if the second fails, the work of the first remains.
std::vector<answer> algorithm::try_existing(const store::access& db, std::span<const acquire_args> batch) const {
  auto answers = try_all(db, sheets::verb::acquire_existing, batch);
  std::vector<acquire_args> rest;
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (answers[i].what != verdict::granted) rest.push_back(batch[i]);
  if (rest.empty()) return answers;
  try {
    const auto tried = try_all(db, how_.verb, rest);
    auto next = tried.begin();
    for (auto& each : answers)
      if (each.what != verdict::granted) each = *next++;
    return answers;
  } catch (const error& e) {
    if (rest.size() == batch.size() || e.outcome_is_unknown()) throw;
    throw detail::error_access::changed(e, [](auto& says) { says.outcome_unknown = true; });
  }
}

bool algorithm::remembers_refusals(const store::access& db) const {
  return how_.looks == way::look::after_a_refusal && db.sheet[how_.verb].locks_where_refused;
}

bool algorithm::looks_first(const store::access& db, std::span<const acquire_args> batch) const {
  const auto was_refused = [&](const acquire_args& a) { return refused_.may_contain(a.name); };
  return how_.looks == way::look::always ||
         (remembers_refusals(db) && std::any_of(batch.begin(), batch.end(), was_refused));
}

std::vector<answer> algorithm::look_and_try(const store::access& db, std::span<const acquire_args> batch) const {
  const bool goes_by_version = how_.verb == sheets::verb::compare_and_set;
  const auto rows = goes_by_version ? look_or_make(db, batch) : look_at_all(db, batch);
  std::vector<answer> answers(batch.size());
  std::vector<acquire_args> rest;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (rows[i] && !rows[i]->is_free()) {
      answers[i] = busy(*rows[i]);
    } else if (goes_by_version && rows[i] && rows[i]->is_waited_for) {
      answers[i] = waited_for();
    } else if (rows[i] || !goes_by_version) {
      rest.push_back(batch[i]);
      if (rows[i]) rest.back().seen = rows[i]->token;
      places.push_back(i);
    }
  }
  if (rest.empty()) return answers;
  const auto tried = goes_by_version ? compare_and_set(db, rest) : try_all(db, how_.verb, rest);
  for (std::size_t i = 0; i < rest.size(); ++i) answers[places[i]] = tried[i];
  return answers;
}

// --- by a transaction ------------------------------------------------------------------------------------------------

namespace {

answer why_refused(const store::access& db, const acquire_args& what) {
  const auto row = store::look_at(db, what.name);
  if (!row) make_rows(db, {&what, 1});
  return row && !row->is_free() ? busy(*row) : answer{};
}

}  // namespace

// Nothing is committed before the release, so no lost reply can leave a lock behind: when the server ends the session
// at the latest, the row is as it was. Nevertheless the next holder's token is greater, since it is at least the clock
// after the lock was taken.
answer for_update::acquire(const store::access& db, const acquire_args& what) const {
  if (refused_.may_contain(what.name)) {  // a look costs less
    const auto row = store::look_at(db, what.name);
    if (row && !row->is_free()) return busy(*row);
  }
  db.session.begin(db.until);
  if (const auto rows = db.run(sheets::verb::hold, {{field::name, what.name}}); !rows.empty()) {
    refused_.remove(what.name);
    return {.what = verdict::granted,
            .token = fencing_token{rows[0].integer(field::version)},
            .is_marked = rows[0].is_true(field::waiting)};
  }
  db.session.rollback(db.until);
  refused_.add(what.name);
  return why_refused(db, what);
}

void for_update::beat(const store::access& db, std::string_view name) { store::look_at(db, name); }

void for_update::release(const store::access& db, std::string_view name, std::string_view acquisition) {
  const auto& next = db.sheet[sheets::verb::first_waiter];
  const store::arguments given{{field::name, name}, {field::attempt, acquisition}};
  db.session.commit_and_tell(next, store::positional(next, given), db.until);
}

}  // namespace rowlock::inline v1::strategies
