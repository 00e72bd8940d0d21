#pragma once

#include <string>

namespace rowlock::inline v1::sheets {

/// Of a sheet that is printed: a verb, by its name, or, without a name, the prose that comes before it.
struct passage {
  std::string name{};
  std::string text{};
};

}  // namespace rowlock::inline v1::sheets
