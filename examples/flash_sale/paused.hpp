#pragma once

#include <string>

#include "interrupts.hpp"
#include "run.hpp"
#include "shop.hpp"

namespace flash_sale {

/// The last unit: one process takes the lock, sees that there is a unit left, and is stopped (SIGSTOP). When its lease
/// is over another one buys the unit; then the first one is let go on (SIGCONT), and sells what it believes is there.
/// `name` is paused_without_confirm or paused_with_confirm.
run_result run_paused(const database& where, const std::string& name, const interrupts& signals);

}  // namespace flash_sale
