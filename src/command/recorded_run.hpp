#pragma once

#include "command/options.hpp"
#include "command/signals.hpp"

namespace rowlock::command {

/// rowlock run --every: runs the command unless it has succeeded in this period, and records what becomes of it.
/// Returns the exit status. Call it on the main thread, while there is no other.
int run_once_a_period(const options& given, const signals& taken);

}  // namespace rowlock::command
