#include "strategy/unique_index.hpp"

#include <algorithm>
#include <utility>

#include "strategy/acquire_step.hpp"

namespace rowlock::inline v1::strategies {

namespace {

std::vector<answer> look_first(const store::access& db, std::span<const acquire_args> batch) {
  std::vector<answer> answers(batch.size());
  const auto rows = look_at_all(db, batch);
  std::vector<acquire_args> rest;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (rows[i] && !rows[i]->is_free()) {
      answers[i] = busy(*rows[i]);
    } else {
      rest.push_back(batch[i]);
      places.push_back(i);
    }
  }
  if (rest.empty()) return answers;
  const auto tried = try_all(db, sql::verb::acquire, rest);
  for (std::size_t i = 0; i < rest.size(); ++i) answers[places[i]] = tried[i];
  return answers;
}

}  // namespace

// Where a refused try keeps the row locked for as long as it takes, a name is tried without a look only if it was not
// refused lately: so a crowd that tries again and again cannot lock out the holder's renewals.
std::vector<answer> unique_index::acquire(const store::access& db, std::span<const acquire_args> batch) const {
  if (auto answers = try_in_turn(db, batch)) return std::move(*answers);
  constexpr auto how = sql::verb::acquire;
  if (!db.sheet[how].locks_where_refused) return try_all(db, how, batch);
  const bool was_refused =
      std::any_of(batch.begin(), batch.end(), [&](const auto& a) { return refused_.may_contain(a.name); });
  auto answers = was_refused ? look_first(db, batch) : try_all(db, how, batch);
  for (std::size_t i = 0; i < batch.size(); ++i)
    answers[i].what == verdict::granted ? refused_.remove(batch[i].name) : refused_.add(batch[i].name);
  return answers;
}

}  // namespace rowlock::inline v1::strategies
