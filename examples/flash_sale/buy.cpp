#include "buy.hpp"

#include <thread>

namespace flash_sale {

decision decide(shop& from, const request& what) {
  const auto left = from.stock();
  if (left <= 0) return {.verdict = outcome::sold_out};
  if (from.has_order(what.user)) return {.verdict = outcome::has_one_already};
  std::this_thread::sleep_for(what.thinking);
  return {.verdict = outcome::bought, .left = left - 1};
}

void carry_out(const decision& decided, shop& in, const request& what) {
  in.write_stock(decided.left);
  in.add_order(what.user);
}

outcome buy(shop& from, const request& what) {
  const auto decided = decide(from, what);
  if (decided.verdict == outcome::bought) carry_out(decided, from, what);
  return decided.verdict;
}

}  // namespace flash_sale
