#pragma once

#include <rowlock/duration.hpp>

#include <functional>
#include <string>
#include <string_view>

#include "core/checks.hpp"

namespace rowlock::inline v1::core {

/// How sentences about options write them: as members of a struct, unless the caller has other names for them.
struct wording {
  std::function<std::string(std::string_view option)> name = [](std::string_view option) {
    return std::string{option};
  };
  std::function<std::string(std::string_view option, duration d)> value = [](std::string_view /*option*/, duration d) {
    return in_milliseconds(d);
  };

  /// "every is 999 ms"
  std::string given(std::string_view option, duration d) const { return name(option) + " is " + value(option, d); }
};

}  // namespace rowlock::inline v1::core
