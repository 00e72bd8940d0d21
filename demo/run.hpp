#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "crew.hpp"
#include "sale.hpp"
#include "shop.hpp"
#include "timeline.hpp"

namespace flash_sale {

/// What one run came to.
struct run_result {
  std::string strategy;
  std::int64_t units = 0;
  std::int64_t sold = 0;
  std::int64_t double_orders = 0;  ///< orders beyond one per user
  std::int64_t lost_updates = 0;   ///< orders that the stock does not show
  std::chrono::duration<double> took{};
  std::optional<std::chrono::microseconds> wait_p50{};  ///< of the lock; absent without one
  std::optional<std::chrono::microseconds> wait_p99{};
  std::optional<timeline> recorded{};

  std::int64_t oversold() const noexcept { return sold > units ? sold - units : 0; }
  std::int64_t unsold() const noexcept { return sold < units ? units - sold : 0; }
  /// How wrong it went; 0: exactly all units were sold, one per user.
  std::int64_t errors() const noexcept {
    return oversold() + unsold() + double_orders + (lost_updates < 0 ? -lost_updates : lost_updates);
  }
  double orders_per_second() const noexcept { return took.count() > 0 ? static_cast<double>(sold) / took.count() : 0; }
};

/// Whether a run has a timeline.
enum class recording { off, on };

/// Sells everything once, in the way of that name (ways.hpp).
run_result run(const sale& what, const database& where, const std::string& strategy, const interrupts& signals,
               recording mode = recording::off);

/// Two mistakes that are made with locks, each beside what is right, and a line about each. Mistakes are races: they
/// are repeated a few times until they show. What comes back are the results of what is right.
std::vector<run_result> show_mistakes(const sale& what, const database& where, const interrupts& signals);

}  // namespace flash_sale
