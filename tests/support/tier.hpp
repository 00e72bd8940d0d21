#pragma once

#include <cstdlib>
#include <string_view>

#include "support/slowness.hpp"

namespace rowlock::test {

/// Whether every test is wanted with everything it can be run for (./test.sh --all), or what gives confidence in ten
/// minutes.
inline bool is_full_tier() {
  const char* said = std::getenv("ROWLOCK_TEST_TIER");
  return said != nullptr && std::string_view{said} == "all";
}

/// How many of something a test makes: all in the full tier, where nothing slows it down, else a few.
inline int many(int all, int few) {
#ifdef NDEBUG
  return is_full_tier() && !is_sanitized ? all : few;
#else
  static_cast<void>(all);
  return few;
#endif
}

}  // namespace rowlock::test
