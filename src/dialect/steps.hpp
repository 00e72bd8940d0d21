#pragma once

#include <optional>
#include <string>

#include "dialect/dialect.hpp"

namespace rowlock::inline v1::dialect {

/// Calls `change(text)` for each text that the step has.
template <class Change>
void change_texts(step& of, Change change) {
  for (std::optional<std::string>* text : {&of.read, &of.write, &of.then, &of.read_back, &of.batch, &of.batch_then,
                                           &of.batch_skipping, &of.batch_read_back, &of.making, &of.batch_making})
    if (*text) change(**text);
}

}  // namespace rowlock::inline v1::dialect
