#include "strategy/lease_rows.hpp"

#include "strategy/matching.hpp"

namespace rowlock::inline v1::strategies {

namespace {

std::vector<driver::request> requests(std::span<const held> batch) {
  std::vector<driver::request> out;
  out.reserve(batch.size());
  for (const held& h : batch) out.push_back({h.name, h.acquisition, h.lease.count()});
  return out;
}

renewal lost(loss_reason why) { return {.what = standing::lost, .left = {}, .why = why}; }

}  // namespace

renewal standing_of(const std::optional<row_state>& row, std::string_view acquisition) {
  if (!row) return lost(loss_reason::row_vanished);
  if (row->acquisition != acquisition) return lost(loss_reason::taken_over);
  if (row->is_vacant) return lost(loss_reason::forced);
  if (!row->left)
    return {.what = standing::kept, .left = {}, .why = {}};  // without a lease there is nothing to prolong
  if (*row->left <= duration::zero()) return lost(loss_reason::expired);
  return {};  // still ours: somebody had the row locked just then
}

std::vector<renewal> lease_rows::renew(driver::session& on, std::span<const held> batch,
                                       const driver::limits& until) const {
  return prolong(dialect::verb::renew, on, batch, until);
}

std::vector<renewal> lease_rows::extend(driver::session& on, std::span<const held> batch,
                                        const driver::limits& until) const {
  return prolong(dialect::verb::extend, on, batch, until);
}

std::vector<renewal> lease_rows::prolong(dialect::verb how, driver::session& on, std::span<const held> batch,
                                         const driver::limits& until) const {
  std::vector<renewal> answers(batch.size());
  const auto rows = on.run(sql_[how], requests(batch), until);
  match(batch, &held::acquisition, rows, [&](std::size_t i, const driver::row& r) {
    answers[i] = {.what = standing::kept, .left = duration{driver::integer(r.at(1))}};
  });
  if (rows.size() < batch.size()) explain_silence(on, batch, until, answers);
  return answers;
}

// No row came back for some. A second look, at all of them at once, tells why.
void lease_rows::explain_silence(driver::session& on, std::span<const held> batch, const driver::limits& until,
                                 std::vector<renewal>& answers) const {
  const auto rows = on.run(sql_[dialect::verb::inspect], requests(batch), until);
  std::vector<bool> seen(batch.size());
  match(batch, &held::name, rows, [&](std::size_t i, const driver::row& r) {
    seen[i] = true;
    if (answers[i].what != standing::kept) answers[i] = standing_of(row_state_of(r), batch[i].acquisition);
  });
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (!seen[i] && answers[i].what != standing::kept) answers[i] = standing_of(std::nullopt, batch[i].acquisition);
}

std::vector<letting_go> lease_rows::release(driver::session& on, std::span<const held> batch,
                                            const driver::limits& until) const {
  return let_go(dialect::verb::release, on, batch, until);
}

std::vector<letting_go> lease_rows::linger(driver::session& on, std::span<const held> batch,
                                           const driver::limits& until) const {
  return let_go(dialect::verb::linger, on, batch, until);
}

std::vector<letting_go> lease_rows::let_go(dialect::verb how, driver::session& on, std::span<const held> batch,
                                           const driver::limits& until) const {
  std::vector<letting_go> outcomes(batch.size(), letting_go::gone);
  const auto rows = on.run(sql_[how], requests(batch), until);
  match(batch, &held::acquisition, rows,
        [&](std::size_t i, const driver::row& /*r*/) { outcomes[i] = letting_go::released; });
  if (rows.size() < batch.size()) find_pinned(how, on, batch, until, outcomes);
  return outcomes;
}

// A row that somebody's transaction keeps locked is skipped like one that is not ours, and like one that would have to
// come to life again in order to linger.
void lease_rows::find_pinned(dialect::verb how, driver::session& on, std::span<const held> batch,
                             const driver::limits& until, std::vector<letting_go>& outcomes) const {
  const auto rows = on.run(sql_[dialect::verb::inspect], requests(batch), until);
  match(batch, &held::name, rows, [&](std::size_t i, const driver::row& r) {
    const auto row = row_state_of(r);
    if (outcomes[i] != letting_go::gone || !row.is_held_by(batch[i].acquisition)) return;
    const bool is_over = how == dialect::verb::linger && row.is_free();
    outcomes[i] = is_over ? letting_go::released : letting_go::pinned;
  });
}

}  // namespace rowlock::inline v1::strategies
