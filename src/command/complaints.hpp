#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "command/options.hpp"

namespace rowlock::command {

/// The sentence with "see <page>" after it.
std::string with_page(const std::string& sentence, const std::string& page);

/// Refuses options that CLI11 accepts and that contradict each other. Throws usage_error.
void refuse_contradictions(const CLI::App& app, const run_options& given);

}  // namespace rowlock::command
