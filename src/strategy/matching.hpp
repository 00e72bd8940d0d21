#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "driver/session.hpp"

namespace rowlock::inline v1::strategies {

/// Calls `use(index, row)` for every row, with the index of the request whose `key` stands in the row's first column.
template <class Request, class Use>
void match(std::span<const Request> batch, std::string_view Request::*key, const std::vector<driver::row>& rows,
           Use use) {
  const auto key_of = [](const driver::row& r) -> std::string_view { return std::get<std::string>(r.at(0)); };
  if (batch.size() == 1) {
    for (const auto& r : rows)
      if (key_of(r) == batch[0].*key) use(std::size_t{0}, r);
    return;
  }
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < batch.size(); ++i) places.emplace(batch[i].*key, i);
  for (const auto& r : rows)
    if (const auto at = places.find(key_of(r)); at != places.end()) use(at->second, r);
}

}  // namespace rowlock::inline v1::strategies
