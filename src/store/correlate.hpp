#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

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

}  // namespace rowlock::inline v1::store
