#pragma once

#include <chrono>
#include <cstdlib>
#include <string_view>

#include "support/slowness.hpp"

namespace rowlock::test {

/// Whether all tests run with all parameters (./test.sh --all), rather than a selection.
inline bool is_full_tier() {
  const char* said = std::getenv("ROWLOCK_TEST_TIER");
  return said != nullptr && std::string_view{said} == "all";
}

/// The length of the soak that this is (./test.sh --soak, ROWLOCK_TEST_SOAK); 0: it is none.
inline std::chrono::seconds soak_time() {
  const char* said = std::getenv("ROWLOCK_TEST_SOAK");
  return std::chrono::seconds{said != nullptr ? std::atoi(said) : 0};
}
inline bool is_soak() { return soak_time() > std::chrono::seconds::zero(); }

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
