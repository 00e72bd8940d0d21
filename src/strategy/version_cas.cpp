#include "strategy/version_cas.hpp"

#include <algorithm>

#include "strategy/trying.hpp"

namespace rowlock::inline v1::strategies {

// The compare-and-set asks again whether the row is free: a lease that had expired when it was read, and was renewed
// since by nobody but its holder, has the same version.
std::vector<answer> version_cas::acquire(driver::session& on, std::span<const attempt> batch,
                                         const driver::limits& until) const {
  auto rows = look_at_all(sql(), on, batch, until);
  if (std::any_of(rows.begin(), rows.end(), [](const auto& r) { return !r; })) {
    std::vector<attempt> missing;
    for (std::size_t i = 0; i < batch.size(); ++i)
      if (!rows[i]) missing.push_back(batch[i]);
    make_rows(sql(), on, missing, until);
    rows = look_at_all(sql(), on, batch, until);
  }
  std::vector<answer> answers(batch.size());
  std::vector<attempt> free;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!rows[i]) continue;
    if (!rows[i]->is_free()) {
      answers[i] = busy(*rows[i]);
      continue;
    }
    free.push_back(batch[i]);
    free.back().seen = rows[i]->token;
    places.push_back(i);
  }
  if (free.empty()) return answers;
  const auto tried = try_all(sql(), dialect::verb::compare_and_set, on, free, until);
  // "Busy" with nothing left of a lease is a row that has another version by now.
  for (std::size_t i = 0; i < free.size(); ++i)
    if (tried[i].what == verdict::granted || tried[i].left > duration::zero()) answers[places[i]] = tried[i];
  return answers;
}

}  // namespace rowlock::inline v1::strategies
