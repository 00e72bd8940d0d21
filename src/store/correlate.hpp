#pragma once

#include <rowlock/error.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/error_detail.hpp"
#include "store/access.hpp"

namespace rowlock::inline v1::store {

/// Calls `use(index, row)` for each row, with the index of the request whose `key` the row has as its key.
template <class Request, class Use>
void correlate(std::span<const Request> batch, std::string_view Request::*key, const records& rows, Use use) {
  if (batch.size() == 1) {
    for (const auto& r : rows)
      if (r.key() == batch[0].*key) use(std::size_t{0}, r);
    return;
  }
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < batch.size(); ++i) places.emplace(batch[i].*key, i);
  for (const auto& r : rows)
    if (const auto at = places.find(r.key()); at != places.end()) use(at->second, r);
}

/// Asks again, on another connection, about those whose answer is of this kind: `ask(there, some)` answers each. If
/// that fails, the outcome is unknown: the others may have been carried out.
template <class Request, class Answer, class IsOfKind, class Ask>
void ask_elsewhere(const access& db, std::span<const Request> batch, std::vector<Answer>& answers, IsOfKind is_of_kind,
                   Ask ask) try {
  std::vector<Request> some;
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (is_of_kind(answers[i])) some.push_back(batch[i]);
  if (some.empty() || db.spare == nullptr) return;
  const std::vector<Answer> second = ask(db.elsewhere(), std::span<const Request>{some});
  auto next = second.begin();
  for (auto& each : answers)
    if (is_of_kind(each)) each = *next++;
  if (std::all_of(second.begin(), second.end(), is_of_kind)) db.spare->agrees();
} catch (const error& e) {
  throw detail::error_access::changed(e, [](auto& says) { says.outcome_unknown = true; });
}

}  // namespace rowlock::inline v1::store
