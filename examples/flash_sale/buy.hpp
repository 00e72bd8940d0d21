#pragma once

#include <cstdint>

#include "sale.hpp"
#include "shop.hpp"

namespace flash_sale {

enum class outcome { bought, has_one_already, sold_out };

/// What a purchase is going to write, if its verdict is `bought`.
struct decision {
  outcome verdict = outcome::bought;
  std::int64_t left = 0;  ///< in stock, afterwards
};

// One purchase, "one order per user". It reads, thinks and writes, and is right only if nobody else does so meanwhile.

/// Reads and thinks.
decision decide(shop& from, const request& what);
/// Writes.
void carry_out(const decision& decided, shop& in, const request& what);
/// Both.
outcome buy(shop& from, const request& what);

}  // namespace flash_sale
