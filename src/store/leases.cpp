#include "store/leases.hpp"

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

std::vector<release_outcome> end(dialect::verb how, const access& db, std::span<const lease_ref> batch) {
  std::vector<release_outcome> outcomes(batch.size(), release_outcome::gone);
  const auto rows = run(how, db, batch);
  correlate(batch, &lease_ref::acquisition, rows, [&](std::size_t i, const record& r) {
    const bool is_untold = r.is_true(field::waiting) && r.is_null(field::told);
    outcomes[i] = is_untold ? release_outcome::released_untold : release_outcome::released;
  });
  if (rows.size() < batch.size()) find_pinned(how, db, batch, outcomes);
  return outcomes;
}

// Where the statement cannot answer what the row says: those for whose names nobody waits first, as nearly always.
std::vector<release_outcome> end_alone(const access& db, std::span<const lease_ref> batch) {
  std::vector<release_outcome> outcomes(batch.size(), release_outcome::released_untold);
  const auto rows = run(dialect::verb::release_alone, db, batch);
  correlate(batch, &lease_ref::acquisition, rows,
            [&](std::size_t i, const record& /*r*/) { outcomes[i] = release_outcome::released; });
  if (rows.size() == batch.size()) return outcomes;
  std::vector<lease_ref> rest;
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (outcomes[i] != release_outcome::released) rest.push_back(batch[i]);
  const auto ended = end(dialect::verb::release, db, rest);
  auto next = ended.begin();
  for (auto& each : outcomes) {
    if (each == release_outcome::released) continue;
    if (*next != release_outcome::released) each = *next;
    ++next;
  }
  return outcomes;
}

}  // namespace

std::vector<renewal> renew(const access& db, std::span<const lease_ref> batch) {
  return prolong(dialect::verb::renew, db, batch);
}

std::vector<renewal> extend(const access& db, std::span<const lease_ref> batch) {
  return prolong(dialect::verb::extend, db, batch);
}

std::vector<release_outcome> release(const access& db, std::span<const lease_ref> batch) {
  return db.sql[dialect::verb::release_alone].act ? end_alone(db, batch) : end(dialect::verb::release, db, batch);
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
