#pragma once

#include <string>
#include <vector>

#include "messages.hpp"
#include "run.hpp"
#include "sale.hpp"
#include "shop.hpp"

namespace flash_sale {

/// What the workers of a run are to do.
task task_for(const sale& what, const database& where, const std::string& run);

/// Fills the shop, and makes the tables of the locks where the run has any.
void prepare(const task& what);

/// By what the shop has and what the buyers say. Throws std::runtime_error where the two do not agree.
run_result result_of(const task& what, const totals& found, const std::vector<message>& messages);

}  // namespace flash_sale
