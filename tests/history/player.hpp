#pragma once

#include <cstdint>
#include <string_view>

#include "history/checker.hpp"

// What the players of a history play: the names, and what is true of them.

namespace rowlock::test {

inline constexpr int names_of_a_kind = 3;
inline constexpr std::int64_t all_permits = 3;

/// Where a player has this in its environment, it goes by a pooler.
inline constexpr const char* transaction_pooling = "ROWLOCK_TEST_TRANSACTION_POOLING";

/// The same for one that keeps names for longer, and by leases of several lengths.
inline constexpr const char* long_holds = "ROWLOCK_TEST_LONG_HOLDS";

/// "alone/0", …: by leases, also several at once, and handed over between threads. "shared/0", …: also by readers.
/// "permits/0", …: also by permits. "freed/0", …: by all strategies; they are freed by force, and sessions are ended.
inline name_rules rules_of(std::string_view name) {
  return {.excludes = !name.starts_with("freed/"), .permits = name.starts_with("permits/") ? all_permits : 0};
}

}  // namespace rowlock::test
