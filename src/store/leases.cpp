#include "store/leases.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "core/error_detail.hpp"
#include "core/identity.hpp"

namespace rowlock::inline v1::store {

namespace {

// After a failover to a clock that is behind, more may be left than was asked for. If a second failover forgets this
// answer's commit, its quarantine must outlast the holder's belief.
duration left_of(const record& r, const access& db) {
  return std::min(duration{r.integer(field::left)}, db.longest_lease);
}

arguments asked_of(const lease_ref& r) {
  return {{field::name, r.name},
          {field::acquisition, r.acquisition},
          {field::lease, r.lease.count()},
          {field::expired, std::int64_t{0}}};
}

records run_each(sheets::verb how, const access& db, std::span<const lease_ref> batch) {
  return with_each(batch, asked_of, [&](std::span<const arguments> all) { return db.run_batch(how, all); });
}

bool are_shares(std::span<const lease_ref> batch) noexcept { return !batch.empty() && batch[0].is_share; }

renewal lost(loss_reason why) { return {.what = standing::lost, .left = {}, .why = why}; }

// For some requests there was no row in the answer. A second look, at all of them at once, shows why.
void explain_silence(const access& db, std::span<const lease_ref> batch, std::vector<renewal>& answers) {
  std::vector<bool> seen(batch.size());
  correlate(batch, &lease_ref::name, run_each(sheets::verb::inspect, db, batch), [&](std::size_t i, const record& r) {
    seen[i] = true;
    if (answers[i].what != standing::kept) answers[i] = standing_of(row_state_of(r), batch[i].acquisition);
  });
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (!seen[i] && answers[i].what != standing::kept) answers[i] = standing_of(std::nullopt, batch[i].acquisition);
}

// The shares of these names that have not ended, and the names that have a row.
struct shares_seen {
  std::set<std::string, std::less<>> acquisitions{};
  std::set<std::string, std::less<>> names{};
};
shares_seen look_at_shares(const access& db, std::span<const lease_ref> batch) {
  std::set<std::string_view> known;
  std::vector<lease_ref> once;
  for (const auto& each : batch)
    if (known.insert(each.name).second) once.push_back({.name = each.name, .acquisition = {}});
  shares_seen out;
  for (const auto& r : run_each(sheets::verb::sharers, db, once)) out.acquisitions.insert(r.text(field::acquisition));
  for (const auto& r : run_each(sheets::verb::inspect, db, once)) out.names.insert(r.text(field::name));
  return out;
}

// Some were not prolonged. If such a share still exists, other transactions had its row locked.
void explain_silence_of_shares(const access& db, std::span<const lease_ref> batch, std::vector<renewal>& answers) {
  const auto seen = look_at_shares(db, batch);
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (answers[i].what != standing::kept && !seen.acquisitions.contains(batch[i].acquisition))
      answers[i] = lost(seen.names.contains(batch[i].name) ? loss_reason::taken_over : loss_reason::row_vanished);
}

std::vector<renewal> prolong_once(sheets::verb how, const access& db, std::span<const lease_ref> batch) {
  std::vector<renewal> answers(batch.size());
  const auto rows = run_each(how, db, batch);
  correlate(batch, &lease_ref::acquisition, rows,
            [&](std::size_t i, const record& r) { answers[i] = {.what = standing::kept, .left = left_of(r, db)}; });
  if (rows.size() < batch.size())
    are_shares(batch) ? explain_silence_of_shares(db, batch, answers) : explain_silence(db, batch, answers);
  return answers;
}

std::vector<renewal> prolong(sheets::verb how, const access& db, std::span<const lease_ref> batch) {
  auto answers = prolong_once(how, db, batch);
  ask_elsewhere(
      db, batch, answers, [](const renewal& r) { return is_vanished(r); },
      [&](const access& there, std::span<const lease_ref> some) { return prolong_once(how, there, some); });
  return answers;
}

// A row that another transaction keeps locked is skipped, like one of another holder, and like one whose lease has
// ended and would be revived by a deferred release.
void find_pinned(sheets::verb how, const access& db, std::span<const lease_ref> batch,
                 std::vector<release_outcome>& outcomes) {
  for (auto& each : outcomes)
    if (!is_released(each)) each = release_outcome::vanished;
  correlate(batch, &lease_ref::name, run_each(sheets::verb::inspect, db, batch), [&](std::size_t i, const record& r) {
    const auto row = row_state_of(r);
    if (is_released(outcomes[i])) return;
    const bool is_over = how == sheets::verb::defer_release && row.is_free();
    outcomes[i] = !row.is_held_by(batch[i].acquisition) ? release_outcome::gone
                  : is_over                             ? release_outcome::released
                                                        : release_outcome::pinned;
  });
}

void find_pinned_shares(const access& db, std::span<const lease_ref> batch, std::vector<release_outcome>& outcomes) {
  const auto seen = look_at_shares(db, batch);
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (!is_released(outcomes[i]))
      outcomes[i] = seen.acquisitions.contains(batch[i].acquisition) ? release_outcome::pinned
                    : seen.names.contains(batch[i].name)             ? release_outcome::gone
                                                                     : release_outcome::vanished;
}

/// Further circumstances of a release.
struct queue_news {
  bool is_left_over = false;  ///< a client waits, or did lately
  release_observer* observer = nullptr;
};

void note_released(const records& rows, std::span<const lease_ref> batch, const queue_news& news,
                   std::vector<release_outcome>& outcomes) {
  correlate(batch, &lease_ref::acquisition, rows, [&](std::size_t i, const record& r) {
    const bool answers_waiting = r.has(field::waiting);
    const bool is_waited_for = answers_waiting ? r.is_true(field::waiting) : news.is_left_over;
    const bool is_unnotified = is_waited_for && (!answers_waiting || r.is_null(field::notified));
    outcomes[i] = is_unnotified ? release_outcome::released_unnotified : release_outcome::released;
    if (news.observer == nullptr || !answers_waiting) return;
    auto& waited_for = news.observer->waited_for;
    is_waited_for ? waited_for.add(batch[i].name) : waited_for.remove(batch[i].name);
  });
}

std::vector<release_outcome> end_once(sheets::verb how, const access& db, std::span<const lease_ref> batch,
                                      const queue_news& news) {
  std::vector<release_outcome> outcomes(batch.size(), release_outcome::gone);
  const auto rows = run_each(how, db, batch);
  note_released(rows, batch, news, outcomes);
  if (rows.size() < batch.size())
    are_shares(batch) ? find_pinned_shares(db, batch, outcomes) : find_pinned(how, db, batch, outcomes);
  return outcomes;
}

std::vector<release_outcome> end(sheets::verb how, const access& db, std::span<const lease_ref> batch,
                                 const queue_news& news = {}) {
  auto outcomes = end_once(how, db, batch, news);
  ask_elsewhere(
      db, batch, outcomes, [](release_outcome o) { return is_vanished(o); },
      [&](const access& there, std::span<const lease_ref> some) { return end_once(how, there, some, news); });
  return without_vanished(std::move(outcomes));
}

// The requests of the batch for whose names no waiter is seen.
void release_unless_waited_for(const access& db, std::span<const lease_ref> batch,
                               std::vector<release_outcome>& outcomes) {
  correlate(batch, &lease_ref::acquisition, run_each(sheets::verb::release_alone, db, batch),
            [&](std::size_t i, const record& /*r*/) { outcomes[i] = release_outcome::released; });
}

// The requests that are not released yet.
void release_remaining(const access& db, std::span<const lease_ref> batch, const queue_news& news,
                       std::vector<release_outcome>& outcomes) {
  constexpr auto how = sheets::verb::release;
  if (std::none_of(outcomes.begin(), outcomes.end(), is_released)) {
    outcomes = end(how, db, batch, news);
    return;
  }
  std::vector<lease_ref> rest;
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (!is_released(outcomes[i])) rest.push_back(batch[i]);
  if (rest.empty()) return;
  const auto ended = end(how, db, rest, news);
  auto next = ended.begin();
  for (auto& each : outcomes)
    if (!is_released(each)) each = *next++;
}

// false: it was granted to no client, or is not this client's any more. If the first waiter has left meanwhile, the
// name is granted to no client for a while: a leaving waiter releases what was granted to it.
bool grant_to_the_first(const access& db, const lease_ref& one, release_observer& observer) {
  if (!db.sheet.can().grants_to_a_ticket) return false;
  const auto first = db.run(sheets::verb::first_in_turn, {{field::name, one.name}});
  if (first.empty() || first[0].is_null(field::lease)) return false;
  const auto attempt = first[0].text(field::attempt);
  const auto granted = db.run(sheets::verb::grant, {{field::name, one.name},
                                                    {field::acquisition, one.acquisition},
                                                    {field::ticket, first[0].integer(field::ticket)},
                                                    {field::attempt, attempt}});
  if (granted.empty()) return false;
  observer.waited_for.add(one.name);
  const auto owner = first[0].text(field::owner);
  if (!core::is_of(owner, one.acquisition)) observer.granted_to(db, owner);
  return true;
}

// First as if no client waited, which is nearly always so and costs least; unless one did lately. Each statement is a
// transaction of its own: if a later one fails, the work of the earlier ones remains.
std::vector<release_outcome> release_leases(const access& db, std::span<const lease_ref> batch,
                                            release_observer* observer) {
  const auto was_waited_for = [&](const lease_ref& r) {
    return observer != nullptr && observer->waited_for.may_contain(r.name);
  };
  const bool is_left_over = std::any_of(batch.begin(), batch.end(), was_waited_for);
  const bool has_two_ways = db.sheet[sheets::verb::release_alone].write.has_value();
  std::vector<release_outcome> outcomes(batch.size(), release_outcome::gone);
  try {
    if (!is_left_over && has_two_ways) release_unless_waited_for(db, batch, outcomes);
    for (std::size_t i = 0; observer != nullptr && i < batch.size(); ++i)
      if (!is_released(outcomes[i]) && (!is_left_over || was_waited_for(batch[i])) &&
          grant_to_the_first(db, batch[i], *observer))
        outcomes[i] = release_outcome::released;
    release_remaining(db, batch, {.is_left_over = has_two_ways, .observer = observer}, outcomes);
    return outcomes;
  } catch (const error& e) {
    if (std::none_of(outcomes.begin(), outcomes.end(), is_released) || e.outcome_is_unknown()) throw;
    throw detail::error_access::changed(e, [](auto& says) { says.outcome_unknown = true; });
  }
}

}  // namespace

std::vector<renewal> renew(const access& db, std::span<const lease_ref> batch) {
  std::vector<lease_ref> some{batch.begin(), batch.end()};
  for (auto& each : some) each.lease = std::min(each.lease, db.longest_lease);  // it may be older than the guard
  return prolong(are_shares(batch) ? sheets::verb::renew_share : sheets::verb::renew, db, some);
}

std::vector<renewal> extend(const access& db, std::span<const lease_ref> batch) {
  return prolong(are_shares(batch) ? sheets::verb::extend_share : sheets::verb::extend, db, batch);
}

std::vector<release_outcome> release(const access& db, std::span<const lease_ref> batch, release_observer* observer) {
  if (!are_shares(batch)) return release_leases(db, batch, observer);
  return end(sheets::verb::release_share, db, batch, {.is_left_over = true});
}

std::vector<release_outcome> end_shares_skipping(const access& db, std::span<const lease_ref> batch) {
  std::vector<release_outcome> outcomes(batch.size(), release_outcome::pinned);
  const auto end = [&](std::span<const arguments> all) {
    return db.run_batch_skipping(sheets::verb::release_share, all);
  };
  note_released(with_each(batch, asked_of, end), batch, {.is_left_over = true}, outcomes);
  return outcomes;
}

std::optional<reservation> reserve(const access& db, const lease_ref& one, std::int64_t number) {
  const auto rows = db.run(sheets::verb::reserve, {{field::name, one.name},
                                                   {field::acquisition, one.acquisition},
                                                   {field::lease, std::min(one.lease, db.longest_lease).count()},
                                                   {field::number, number}});
  if (rows.empty()) return std::nullopt;
  return reservation{.last = fencing_token{rows[0].integer(field::version)},
                     .left = left_of(rows[0], db),
                     .others_wait = rows[0].is_true(field::others_wait)};
}

std::vector<release_outcome> defer_release(const access& db, std::span<const lease_ref> batch) {
  return end(sheets::verb::defer_release, db, batch);
}

renewal standing_of(const std::optional<row_state>& row, std::string_view acquisition) {
  if (!row) return lost(loss_reason::row_vanished);
  if (row->acquisition != acquisition) return lost(loss_reason::taken_over);
  if (row->is_vacant) return lost(loss_reason::forced);
  if (!row->left) return {.what = standing::kept, .left = {}, .why = {}};  // without a lease, nothing is prolonged
  if (*row->left <= duration::zero()) return lost(loss_reason::expired);
  return {};  // still held: another transaction had the row locked just then
}

// --- sharing ---------------------------------------------------------------------------------------------------------

namespace {

std::optional<converted> convert_once(sheets::verb how, const access& db, const conversion& what) {
  const auto rows = db.run(how, {{field::name, what.lease.name},
                                 {field::acquisition, what.lease.acquisition},
                                 {field::owner, what.owner},
                                 {field::thread, what.thread},
                                 {field::note, what.note.empty() ? driver::argument{} : driver::argument{what.note}},
                                 {field::attempt, what.attempt},
                                 {field::permits, what.permits}});
  if (rows.empty()) return std::nullopt;
  return converted{.token = fencing_token{rows[0].integer(field::version)}, .left = left_of(rows[0], db)};
}

std::optional<converted> convert(sheets::verb how, const access& db, const conversion& what) {
  auto out = convert_once(how, db, what);
  if (out || db.spare == nullptr || look_at(db, what.lease.name)) return out;
  return convert_once(how, db.elsewhere(), what);
}

}  // namespace

std::optional<converted> upgrade_share(const access& db, const conversion& what) {
  return convert(sheets::verb::upgrade_share, db, what);
}

std::optional<converted> downgrade(const access& db, const conversion& what) {
  return convert(sheets::verb::downgrade, db, what);
}

namespace {

records sharers_of(const access& db, std::span<const std::string_view> names, bool expired) {
  const auto one = [&](std::string_view name) -> arguments {
    return {{field::name, name}, {field::expired, std::int64_t{expired}}};
  };
  return with_each(names, one,
                   [&](std::span<const arguments> all) { return db.run_batch(sheets::verb::sharers, all); });
}

}  // namespace

// Only leases that are still over when their row is locked. If other clients have that row locked, they may already
// have taken them off.
bool reap_shares(const access& db, std::span<const std::string_view> names) try {
  constexpr std::size_t most = 1024;
  const auto dead = sharers_of(db, names, true);
  std::vector<arguments> batch;
  for (std::size_t i = 0; i < std::min(dead.size(), most); ++i)
    batch.push_back({{field::name, dead[i].key()},
                     {field::acquisition, std::string_view{std::get<std::string>(dead[i].at(field::acquisition))}},
                     {field::expired, std::int64_t{1}}});
  return !batch.empty() && !db.run_batch(sheets::verb::release_share, batch).empty();
} catch (const error& e) {
  if (e.code() != errc::call_timed_out || e.connection_is_unusable()) throw;
  return false;
}

std::vector<sharer> sharers(const access& db, std::string_view name) {
  std::vector<sharer> out;
  for (const auto& r : sharers_of(db, {&name, 1}, false))
    out.push_back({.info = info_of(r), .acquisition = r.text(field::acquisition)});
  return out;
}

std::optional<duration> left_of_shares(const access& db, std::string_view name, std::optional<duration> left) {
  for (const auto& each : sharers(db, name))
    if (const auto& end = each.info.expires_in; end && (!left || *end < *left)) left = *end;
  return left;
}

std::optional<sharer> find_share(const access& db, std::string_view name, std::string_view acquisition) {
  for (auto& each : sharers(db, name))
    if (each.acquisition == acquisition) return std::move(each);
  return std::nullopt;
}

bool has_share(const access& db, std::string_view name, std::string_view acquisition) {
  if (find_share(db, name, acquisition)) return true;
  return db.spare != nullptr && !look_at(db, name) && find_share(db.elsewhere(), name, acquisition);
}

}  // namespace rowlock::inline v1::store
