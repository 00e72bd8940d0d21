#include "strategy/unique_index.hpp"

#include <algorithm>

#include "strategy/trying.hpp"

namespace rowlock::inline v1::strategies {

// Where a refused try keeps the row locked for as long as it takes, a name is tried blindly only by who was not refused
// it lately: so no crowd that tries again and again can lock out the holder's renewals.
std::vector<answer> unique_index::acquire(driver::session& on, std::span<const attempt> batch,
                                          const driver::limits& until) const {
  if (batch.size() == 1 && batch[0].queued) return try_all(sql(), dialect::verb::acquire_in_turn, on, batch, until);
  constexpr auto how = dialect::verb::acquire;
  if (!sql()[how].locks_where_refused) return try_all(sql(), how, on, batch, until);
  const bool was_refused =
      std::any_of(batch.begin(), batch.end(), [&](const attempt& a) { return refused_.may_contain(a.name); });
  auto answers = was_refused ? look_first(on, batch, until) : try_all(sql(), how, on, batch, until);
  for (std::size_t i = 0; i < batch.size(); ++i)
    answers[i].what == verdict::granted ? refused_.remove(batch[i].name) : refused_.add(batch[i].name);
  return answers;
}

std::vector<answer> unique_index::look_first(driver::session& on, std::span<const attempt> batch,
                                             const driver::limits& until) const {
  std::vector<answer> answers(batch.size());
  const auto rows = look_at_all(sql(), on, batch, until);
  std::vector<attempt> rest;
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
  const auto tried = try_all(sql(), dialect::verb::acquire, on, rest, until);
  for (std::size_t i = 0; i < rest.size(); ++i) answers[places[i]] = tried[i];
  return answers;
}

}  // namespace rowlock::inline v1::strategies
