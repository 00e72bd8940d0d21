#pragma once

#include <rowlock/options.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flash_sale {

struct named_strategy {
  std::string_view name;
  rowlock::strategy value;
};

/// Every strategy there is; a new one is one more line.
inline constexpr std::array strategies{
    named_strategy{"unique_index", rowlock::strategy::unique_index},
    named_strategy{"for_update", rowlock::strategy::for_update},
    named_strategy{"version_cas", rowlock::strategy::version_cas},
};

// What `--strategy` and the table call the other runs.
inline constexpr std::string_view without_lock = "none";
inline constexpr std::string_view by_lock_in = "lock_in";
inline constexpr std::string_view by_optimism = "optimistically";

// Those that are not in the table, but in what is shown below it.
inline constexpr std::string_view unlocked_too_early = "unlock, commit";
inline constexpr std::string_view unlocked_after_commit = "commit, unlock";
inline constexpr std::string_view paused_without_confirm = "paused";
inline constexpr std::string_view paused_with_confirm = "paused, confirm";

/// nullopt: it is no strategy of a lock that is held.
constexpr std::optional<rowlock::strategy> find_strategy(std::string_view name) {
  for (const auto& each : strategies)
    if (each.name == name) return each.value;
  return std::nullopt;
}

/// Whether the run needs its locks in the shop's own database: rowlock then works in the shop's transactions.
constexpr bool locks_beside_shop(std::string_view run) {
  return run == by_lock_in || run == by_optimism || run == paused_without_confirm || run == paused_with_confirm;
}

/// The runs of the table.
inline std::vector<std::string> all_runs() {
  std::vector<std::string> names{std::string{without_lock}};
  for (const auto& each : strategies) names.emplace_back(each.name);
  for (const auto each : {by_lock_in, by_optimism}) names.emplace_back(each);
  return names;
}

}  // namespace flash_sale
