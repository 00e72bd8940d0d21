#pragma once

#include <vector>

#include "interrupts.hpp"
#include "run.hpp"
#include "sale.hpp"
#include "shop.hpp"

namespace flash_sale {

/// Two mistakes that are made with locks, each beside what is right, and a line about each. Mistakes are races: they
/// are repeated a few times until they show. What comes back are the results of what is right.
std::vector<run_result> show_mistakes(const sale& what, const database& where, const interrupts& signals);

}  // namespace flash_sale
