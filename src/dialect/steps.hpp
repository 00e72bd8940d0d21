#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "dialect/dialect.hpp"

namespace rowlock::inline v1::dialect {

/// Calls `change(text)` for each text that the step has.
template <class Change>
void change_texts(step& of, Change change) {
  for (std::optional<std::string>* text : {&of.look, &of.act, &of.also, &of.told, &of.many, &of.many_also,
                                           &of.many_skipping, &of.many_told, &of.making, &of.many_making})
    if (*text) change(**text);
}

/// The steps of all topics, one topic after the other.
template <std::size_t... Sizes>
std::array<step, (Sizes + ...)> joined(std::array<step, Sizes>... topics) {
  std::array<step, (Sizes + ...)> out;
  auto* to = out.begin();
  ((to = std::move(topics.begin(), topics.end(), to)), ...);
  return out;
}

}  // namespace rowlock::inline v1::dialect
