#include "bookkeeping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <optional>
#include <stdexcept>

#include "strategies.hpp"
#include "way.hpp"

namespace flash_sale {
namespace {

std::optional<std::chrono::microseconds> percentile(const std::vector<std::int64_t>& sorted, double share) {
  if (sorted.empty()) return std::nullopt;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return std::chrono::microseconds{sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1]};
}

void add_waits(run_result& result, const std::vector<message>& messages) {
  std::vector<std::int64_t> waits;
  for (const auto& each : messages) waits.insert(waits.end(), each.waits_us.begin(), each.waits_us.end());
  std::sort(waits.begin(), waits.end());
  result.wait_p50 = percentile(waits, 0.50);
  result.wait_p99 = percentile(waits, 0.99);
}

void add_totals(run_result& result, const totals& found, const std::vector<message>& messages) {
  std::size_t bought = 0;
  for (const auto& each : messages) bought += each.bought;
  if (found.orders != static_cast<std::int64_t>(bought))
    throw std::runtime_error{fmt::format("the buyers made {} orders, but the shop has {}", bought, found.orders)};
  result.sold = found.orders;
  result.double_orders = found.orders - found.buyers;
  result.lost_updates = found.orders - (result.units - found.left);
}

}  // namespace

task task_for(const sale& what, const database& where, const std::string& run) {
  return {.sale = what,
          .strategy = run,
          .shop_url = where.shop_url,
          .locks_url = locks_beside_shop(run) ? where.shop_url : where.locks_url};
}

void prepare(const task& what) {
  open_shop(what.shop_url)->reset(what.sale.units);
  if (what.strategy != without_lock) connect(what.locks_url).migrate();
}

run_result result_of(const task& what, const totals& found, const std::vector<message>& messages) {
  run_result result{.strategy = what.strategy, .units = static_cast<std::int64_t>(what.sale.units)};
  add_waits(result, messages);
  add_totals(result, found, messages);
  return result;
}

}  // namespace flash_sale
