#pragma once

#include <string>

namespace rowlock::inline v1::sheets {

/// A part of a printed sheet: a verb, by its name, or, without a name, the prose that precedes it.
struct passage {
  std::string name{};
  std::string text{};
};

}  // namespace rowlock::inline v1::sheets
