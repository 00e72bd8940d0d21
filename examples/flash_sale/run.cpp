#include "run.hpp"

#include <rowlock/rowlock.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <vector>

#include "crew.hpp"
#include "progress.hpp"
#include "strategies.hpp"

namespace flash_sale {
namespace {

void prepare(const sale& what, const database& where, const std::string& strategy) {
  open_shop(where.shop_url)->reset(what.units);
  if (strategy == without_lock) return;
  auto locks = rowlock::client::connect(where.locks_url);
  locks.migrate();
}

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

run_result run(const sale& what, const database& where, const std::string& strategy, const interrupts& signals) {
  // No connection of this process is open while it starts others.
  prepare(what, where, strategy);
  crew workers{{.sale = what, .strategy = strategy, .shop_url = where.shop_url, .locks_url = where.locks_url}, signals};
  workers.wait_until_ready();
  const auto shop = open_shop(where.shop_url);
  progress_line progress{strategy, what.units};
  const auto began = std::chrono::steady_clock::now();
  workers.start();
  const auto messages = workers.finish([&] { progress.show(*shop); });
  run_result result{.strategy = strategy, .units = static_cast<std::int64_t>(what.units)};
  result.took = std::chrono::steady_clock::now() - began;
  add_waits(result, messages);
  add_totals(result, shop->count(), messages);
  return result;
}

}  // namespace flash_sale
