#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "history/record.hpp"

namespace rowlock::test {

/// What is true of a name.
struct name_rules {
  bool excludes = true;      ///< nobody frees it by force, and no clock is set: so no two beliefs may overlap
  bool rolls_back = false;   ///< a clock is set, and somebody takes it by for_update: see docs/guarantees.md
  std::int64_t permits = 0;  ///< how many there are; 0: any number of readers
  bool has_tokens = true;
};

struct verdict_of_history {
  /// Each begins with a sentence. The first few have also the records of that name before and after it, in order.
  std::vector<std::string> violations{};
  std::size_t beliefs = 0;
  int double_holders = 0;            ///< how often one began to believe while another did
  std::int64_t longest_overlap = 0;  ///< of two of them, in microseconds
  /// How often a write without a transaction came behind one with a greater token: that is what fencing is for.
  int unfenced_overlaps = 0;
};

/// - no two believe at once that they have a name, but sharers and permits as many as there are;
/// - who has a name later has a greater token, and nobody has a token twice;
/// - fenced writes are in the order of their tokens, and none is lost that was committed;
/// - no call waits longer than `late` (microseconds) after its limit.
verdict_of_history judge(const history& all, const std::function<name_rules(std::string_view name)>& rules_of,
                         std::int64_t late);

}  // namespace rowlock::test
