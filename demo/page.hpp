#pragma once

#include <string>
#include <vector>

#include "run.hpp"
#include "sale.hpp"
#include "shop.hpp"

namespace flash_sale {

/// One HTML page with a timeline of every run that was recorded. It loads nothing from elsewhere.
std::string page_of(const sale& what, const database& where, const std::vector<run_result>& results);

}  // namespace flash_sale
