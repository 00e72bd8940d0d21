#include "buy.hpp"

#include <stdexcept>
#include <thread>

namespace flash_sale {

outcome buy(shop& from, const request& what, const std::stop_token& lost) {
  const auto left = from.stock();
  if (left <= 0) return outcome::sold_out;
  if (from.has_order(what.user)) return outcome::has_one_already;
  std::this_thread::sleep_for(what.thinking);
  if (lost.stop_requested()) throw std::runtime_error{"the lock was lost during a purchase"};
  from.write_stock(left - 1);
  from.add_order(what.user);
  return outcome::bought;
}

}  // namespace flash_sale
