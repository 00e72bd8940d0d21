#pragma once

#include <rowlock/options.hpp>

#include <array>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::inline v1 {

/// For the messages of tests.
inline std::ostream& operator<<(std::ostream& out, strategy s) { return out << to_string(s); }

}  // namespace rowlock::inline v1

namespace rowlock::test {

inline constexpr std::array all_strategies{strategy::unique_index, strategy::for_update, strategy::version_cas};

/// Throws std::runtime_error if there is no strategy of this name.
inline strategy strategy_named(std::string_view name) {
  for (const auto each : all_strategies)
    if (to_string(each) == name) return each;
  throw std::runtime_error{"there is no strategy " + std::string{name}};
}

/// Two strategies used on the same name.
struct strategy_pair {
  strategy first;
  strategy second;

  std::string name() const { return std::string{to_string(first)} + "_and_" + std::string{to_string(second)}; }
  friend std::ostream& operator<<(std::ostream& out, const strategy_pair& pair) { return out << pair.name(); }
};

/// All pairs, including equal ones; if the order does not matter, each pair once.
inline std::vector<strategy_pair> ordered_pairs() {
  std::vector<strategy_pair> out;
  for (const auto first : all_strategies)
    for (const auto second : all_strategies) out.push_back({first, second});
  return out;
}
inline std::vector<strategy_pair> unordered_pairs() {
  std::vector<strategy_pair> out;
  for (const auto& pair : ordered_pairs())
    if (pair.first <= pair.second) out.push_back(pair);
  return out;
}

}  // namespace rowlock::test
