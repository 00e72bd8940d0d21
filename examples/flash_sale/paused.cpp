#include "paused.hpp"

#include <chrono>
#include <stdexcept>

#include "bookkeeping.hpp"
#include "buy.hpp"
#include "crew.hpp"
#include "way.hpp"

namespace flash_sale {
namespace {

constexpr sale last_unit{.units = 1, .processes = 1, .threads = 1};

message buy_the_last_unit(const database& where) {
  auto locks = connect(where.shop_url);
  const auto shop = open_shop(where.shop_url);
  const auto held = locks.try_acquire_for(item, std::chrono::seconds{20});
  if (!held) throw std::runtime_error{"the lock of a process that stands still did not become free"};
  if (buy(*shop, {.user = 2}) != outcome::bought) throw std::runtime_error{"the last unit was not there"};
  return {.bought = 1};
}

}  // namespace

run_result run_paused(const database& where, const std::string& name, const interrupts& signals) {
  const auto what = task_for(last_unit, where, name);
  prepare(what);
  crew late{what, signals};
  late.wait_until_ready();
  late.pause();
  const auto other = buy_the_last_unit(where);
  late.resume();
  late.start();
  auto messages = late.finish([] {});
  messages.push_back(other);
  return result_of(what, open_shop(where.shop_url)->count(), messages);
}

}  // namespace flash_sale
