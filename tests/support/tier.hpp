#pragma once

#include <cstdlib>
#include <string_view>

#include "support/slowness.hpp"

namespace rowlock::test {

/// Whether all tests run with all parameters (./test.sh --all), rather than a selection for ten minutes.
inline bool is_full_tier() {
  const char* said = std::getenv("ROWLOCK_TEST_TIER");
  return said != nullptr && std::string_view{said} == "all";
}

/// The size of a test: `all` in the full tier of a fast build, otherwise `few`.
inline int many(int all, int few) {
#ifdef NDEBUG
  return is_full_tier() && !is_sanitized ? all : few;
#else
  static_cast<void>(all);
  return few;
#endif
}

}  // namespace rowlock::test
