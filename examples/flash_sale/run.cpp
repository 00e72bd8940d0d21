#include "run.hpp"

#include "bookkeeping.hpp"
#include "crew.hpp"
#include "progress.hpp"

namespace flash_sale {

run_result run(const sale& what, const database& where, const std::string& strategy, const interrupts& signals) {
  // No connection of this process is open while it starts others.
  const auto common = task_for(what, where, strategy);
  prepare(common);
  crew workers{common, signals};
  workers.wait_until_ready();
  const auto shop = open_shop(where.shop_url);
  progress_line progress{strategy, what.units};
  const auto began = std::chrono::steady_clock::now();
  workers.start();
  const auto messages = workers.finish([&] { progress.show(*shop); });
  const auto took = std::chrono::steady_clock::now() - began;
  auto result = result_of(common, shop->count(), messages);
  result.took = took;
  return result;
}

}  // namespace flash_sale
