#pragma once

#include <rowlock/options.hpp>

#include <array>
#include <optional>
#include <string_view>

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

/// What `--strategy` and the table call the run that takes no lock.
inline constexpr std::string_view without_lock = "none";

/// nullopt: no lock.
constexpr std::optional<rowlock::strategy> find_strategy(std::string_view name) {
  for (const auto& each : strategies)
    if (each.name == name) return each.value;
  return std::nullopt;
}

}  // namespace flash_sale
