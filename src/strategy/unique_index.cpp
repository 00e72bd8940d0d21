#include "strategy/unique_index.hpp"

#include <algorithm>

#include "strategy/inspection.hpp"
#include "strategy/matching.hpp"

namespace rowlock::inline v1::strategies {

namespace {

driver::request request_of(const attempt& a) {
  driver::request out{a.name, a.owner, a.thread, a.acquisition, a.lease.count()};
  if (!a.note.empty()) out[5] = a.note;
  return out;
}

// acquisition, version (NULL: busy), left
answer answer_of(const driver::row& r) {
  const auto version = driver::maybe_integer(r.at(1));
  const auto left = driver::maybe_integer(r.at(2));
  return {.what = version ? verdict::granted : verdict::busy,
          .token = fencing_token{version.value_or(0)},
          .left = left ? std::optional{duration{*left}} : std::nullopt};
}

std::vector<driver::request> names_of(std::span<const attempt> batch) {
  std::vector<driver::request> out;
  out.reserve(batch.size());
  for (const attempt& a : batch) out.push_back({a.name});
  return out;
}

}  // namespace

std::vector<answer> unique_index::try_all(driver::session& on, std::span<const attempt> batch,
                                          const driver::limits& until) const {
  std::vector<driver::request> requests;
  requests.reserve(batch.size());
  for (const attempt& a : batch) requests.push_back(request_of(a));
  std::vector<answer> answers(batch.size());
  const auto rows = on.run(sql()[dialect::verb::acquire], requests, until);
  match(batch, &attempt::acquisition, rows, [&](std::size_t i, const driver::row& r) { answers[i] = answer_of(r); });
  return answers;
}

// Where a refused try keeps the row locked for as long as it takes, a name is tried blindly only by who was not refused
// it lately: so no crowd that tries again and again can lock out the holder's renewals.
std::vector<answer> unique_index::acquire(driver::session& on, std::span<const attempt> batch,
                                          const driver::limits& until) const {
  if (!sql()[dialect::verb::acquire].locks_where_refused) return try_all(on, batch, until);
  const bool was_refused =
      std::any_of(batch.begin(), batch.end(), [&](const attempt& a) { return refused_.may_contain(a.name); });
  auto answers = was_refused ? look_first(on, batch, until) : try_all(on, batch, until);
  for (std::size_t i = 0; i < batch.size(); ++i)
    answers[i].what == verdict::granted ? refused_.remove(batch[i].name) : refused_.add(batch[i].name);
  return answers;
}

std::vector<answer> unique_index::look_first(driver::session& on, std::span<const attempt> batch,
                                             const driver::limits& until) const {
  std::vector<answer> answers(batch.size());
  const auto rows = on.run(sql()[dialect::verb::inspect], names_of(batch), until);
  match(batch, &attempt::name, rows, [&](std::size_t i, const driver::row& r) {
    const auto state = row_state_of(r);
    if (!state.is_free()) answers[i] = {.what = verdict::busy, .token = {}, .left = state.left};
  });
  std::vector<attempt> rest;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (answers[i].what == verdict::busy) continue;
    rest.push_back(batch[i]);
    places.push_back(i);
  }
  if (rest.empty()) return answers;
  const auto tried = try_all(on, rest, until);
  for (std::size_t i = 0; i < rest.size(); ++i) answers[places[i]] = tried[i];
  return answers;
}

}  // namespace rowlock::inline v1::strategies
