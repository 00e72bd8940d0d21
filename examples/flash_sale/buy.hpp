#pragma once

#include <stop_token>

#include "sale.hpp"
#include "shop.hpp"

namespace flash_sale {

enum class outcome { bought, has_one_already, sold_out };

/// One purchase, "one order per user". It reads, thinks and writes, and is right only if nobody else does so meanwhile.
/// Writes nothing after `lost` has fired, and throws.
outcome buy(shop& from, const request& what, const std::stop_token& lost);

}  // namespace flash_sale
