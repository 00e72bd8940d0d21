#pragma once

#include <rowlock/rowlock.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recorder.hpp"
#include "shop.hpp"

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

/// What all locks here are about.
inline constexpr const char* item = "item/1";

/// What one buyer did.
struct buyer_notes {
  std::size_t bought = 0;
  std::vector<std::int64_t> waits_us{};  ///< how long each lock was waited for
  recorder trace;
};

/// How purchases are kept from getting in each other's way, or are not. All threads of a process share one.
class way {
 public:
  way() = default;
  way(const way&) = delete;
  way& operator=(const way&) = delete;
  virtual ~way() = default;

  /// One purchase. Notes in `mine` how long a lock was waited for, if there was one, and when the order was written.
  virtual outcome buy(shop& from, const request& what, buyer_notes& mine) = 0;
};

/// By the name of a run above. Throws std::invalid_argument where there is none of that name.
std::unique_ptr<way> make_way(const std::string& run, const std::string& locks_url);

inline rowlock::client connect(const std::string& locks_url) {
  return rowlock::client::connect(locks_url, {.application = "flash_sale"});
}

}  // namespace flash_sale
