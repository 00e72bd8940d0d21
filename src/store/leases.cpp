#include "store/leases.hpp"

#include <algorithm>

#include "store/correlate.hpp"

namespace rowlock::inline v1::store {

namespace {

records run(dialect::verb how, const access& db, std::span<const lease_ref> batch) {
  const auto arguments_of = [](const lease_ref& r) -> arguments {
    return {{field::name, r.name}, {field::acquisition, r.acquisition}, {field::lease, r.lease.count()}};
  };
  return with_each(batch, arguments_of, [&](std::span<const arguments> all) { return db.run_batch(how, all); });
}

renewal lost(loss_reason why) { return {.what = standing::lost, .left = {}, .why = why}; }

// No row came back for some. A second look, at all of them at once, tells why.
void explain_silence(const access& db, std::span<const lease_ref> batch, std::vector<renewal>& answers) {
  std::vector<bool> seen(batch.size());
  correlate(batch, &lease_ref::name, run(dialect::verb::inspect, db, batch), [&](std::size_t i, const record& r) {
    seen[i] = true;
    if (answers[i].what != standing::kept) answers[i] = standing_of(row_state_of(r), batch[i].acquisition);
  });
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (!seen[i] && answers[i].what != standing::kept) answers[i] = standing_of(std::nullopt, batch[i].acquisition);
}

std::vector<renewal> prolong(dialect::verb how, const access& db, std::span<const lease_ref> batch) {
  std::vector<renewal> answers(batch.size());
  const auto rows = run(how, db, batch);
  correlate(batch, &lease_ref::acquisition, rows, [&](std::size_t i, const record& r) {
    answers[i] = {.what = standing::kept, .left = duration{r.integer(field::left)}};
  });
  if (rows.size() < batch.size()) explain_silence(db, batch, answers);
  return answers;
}

// A row that somebody's transaction keeps locked is skipped, like one that is not ours, and like one that would have to
// come to life again for its release to be deferred.
void find_pinned(dialect::verb how, const access& db, std::span<const lease_ref> batch,
                 std::vector<release_outcome>& outcomes) {
  correlate(batch, &lease_ref::name, run(dialect::verb::inspect, db, batch), [&](std::size_t i, const record& r) {
    const auto row = row_state_of(r);
    if (outcomes[i] != release_outcome::gone || !row.is_held_by(batch[i].acquisition)) return;
    const bool is_over = how == dialect::verb::defer_release && row.is_free();
    outcomes[i] = is_over ? release_outcome::released : release_outcome::pinned;
  });
}

/// What else concerns a release.
struct queue_news {
  bool is_left_over = false;                 ///< somebody waits, or did lately
  base::recent_names* waited_for = nullptr;  ///< to be told
};

std::vector<release_outcome> end(dialect::verb how, const access& db, std::span<const lease_ref> batch,
                                 const queue_news& news = {}) {
  std::vector<release_outcome> outcomes(batch.size(), release_outcome::gone);
  const auto rows = run(how, db, batch);
  correlate(batch, &lease_ref::acquisition, rows, [&](std::size_t i, const record& r) {
    const bool is_told_here = r.has(field::waiting);
    const bool is_waited_for = is_told_here ? r.is_true(field::waiting) : news.is_left_over;
    const bool is_untold = is_waited_for && (!is_told_here || r.is_null(field::told));
    outcomes[i] = is_untold ? release_outcome::released_untold : release_outcome::released;
    if (news.waited_for == nullptr || !is_told_here) return;
    is_waited_for ? news.waited_for->add(batch[i].name) : news.waited_for->remove(batch[i].name);
  });
  if (rows.size() < batch.size()) find_pinned(how, db, batch, outcomes);
  return outcomes;
}

// Those of the batch that nobody is seen to wait for; true where it was released.
std::vector<bool> end_alone(const access& db, std::span<const lease_ref> batch) {
  std::vector<bool> out(batch.size());
  correlate(batch, &lease_ref::acquisition, run(dialect::verb::release_alone, db, batch),
            [&](std::size_t i, const record& /*r*/) { out[i] = true; });
  return out;
}

}  // namespace

std::vector<renewal> renew(const access& db, std::span<const lease_ref> batch) {
  return prolong(dialect::verb::renew, db, batch);
}

std::vector<renewal> extend(const access& db, std::span<const lease_ref> batch) {
  return prolong(dialect::verb::extend, db, batch);
}

// First as if nobody waited, which is nearly always so and costs least; unless somebody did lately.
std::vector<release_outcome> release(const access& db, std::span<const lease_ref> batch,
                                     base::recent_names* waited_for) {
  constexpr auto how = dialect::verb::release;
  const bool has_two_ways = db.sql[dialect::verb::release_alone].act.has_value();
  const bool was_waited_for = waited_for != nullptr && std::any_of(batch.begin(), batch.end(), [&](const lease_ref& r) {
                                return waited_for->may_contain(r.name);
                              });
  if (!has_two_ways || was_waited_for)
    return end(how, db, batch, {.is_left_over = was_waited_for, .waited_for = waited_for});
  std::vector<release_outcome> out(batch.size(), release_outcome::released);
  const auto is_over = end_alone(db, batch);
  std::vector<lease_ref> rest;
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (!is_over[i]) rest.push_back(batch[i]);
  if (rest.empty()) return out;
  const auto ended = end(how, db, rest, {.is_left_over = true, .waited_for = waited_for});
  auto next = ended.begin();
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (!is_over[i]) out[i] = *next++;
  return out;
}

std::optional<reservation> reserve(const access& db, const lease_ref& one, std::int64_t number) {
  const auto rows = db.run(dialect::verb::reserve, {{field::name, one.name},
                                                    {field::acquisition, one.acquisition},
                                                    {field::lease, one.lease.count()},
                                                    {field::number, number}});
  if (rows.empty()) return std::nullopt;
  return reservation{.last = fencing_token{rows[0].integer(field::version)},
                     .left = duration{rows[0].integer(field::left)},
                     .others_wait = rows[0].is_true(field::others_wait)};
}

std::vector<release_outcome> defer_release(const access& db, std::span<const lease_ref> batch) {
  return end(dialect::verb::defer_release, db, batch);
}

renewal standing_of(const std::optional<row_state>& row, std::string_view acquisition) {
  if (!row) return lost(loss_reason::row_vanished);
  if (row->acquisition != acquisition) return lost(loss_reason::taken_over);
  if (row->is_vacant) return lost(loss_reason::forced);
  if (!row->left) return {.what = standing::kept, .left = {}, .why = {}};  // without a lease, nothing is prolonged
  if (*row->left <= duration::zero()) return lost(loss_reason::expired);
  return {};  // still ours: somebody had the row locked just then
}

}  // namespace rowlock::inline v1::store
