#pragma once

#include <CLI/CLI.hpp>

#include "command/options.hpp"

namespace rowlock::command {

/// Refuses options that CLI11 accepts and that contradict each other. Throws usage_error.
void refuse_contradictions(const CLI::App& app, const run_options& given);

}  // namespace rowlock::command
