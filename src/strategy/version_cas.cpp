#include "strategy/version_cas.hpp"

#include <utility>

#include "strategy/acquire_step.hpp"

namespace rowlock::inline v1::strategies {

namespace {

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

}  // namespace

// The compare-and-set asks again whether the row is free: a lease that had expired when it was read, and that nobody
// but its holder has renewed since, has the same version.
std::vector<answer> version_cas::acquire(const store::access& db, std::span<const acquire_args> batch) const {
  if (auto answers = try_in_turn(db, batch)) return std::move(*answers);
  const auto rows = look_or_make(db, batch);
  std::vector<answer> answers(batch.size());
  std::vector<acquire_args> free;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!rows[i]) continue;
    if (!rows[i]->is_free()) {
      answers[i] = busy(*rows[i]);
      continue;
    }
    if (rows[i]->is_waited_for) {
      answers[i] = waited_for();
      continue;
    }
    free.push_back(batch[i]);
    free.back().seen = rows[i]->token;
    places.push_back(i);
  }
  if (free.empty()) return answers;
  const auto tried = compare_and_set(db, free);
  for (std::size_t i = 0; i < free.size(); ++i) answers[places[i]] = tried[i];
  return answers;
}

}  // namespace rowlock::inline v1::strategies
