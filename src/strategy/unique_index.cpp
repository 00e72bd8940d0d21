#include "strategy/unique_index.hpp"

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

}  // namespace

std::vector<answer> unique_index::acquire(driver::session& on, std::span<const attempt> batch,
                                          const driver::limits& until) const {
  std::vector<driver::request> requests;
  requests.reserve(batch.size());
  for (const attempt& a : batch) requests.push_back(request_of(a));
  std::vector<answer> answers(batch.size());
  const auto rows = on.run(sql()[dialect::verb::acquire], requests, until);
  match(batch, &attempt::acquisition, rows, [&](std::size_t i, const driver::row& r) { answers[i] = answer_of(r); });
  return answers;
}

}  // namespace rowlock::inline v1::strategies
