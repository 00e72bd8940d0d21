#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "command/options.hpp"

namespace rowlock::command {

/// What CLI11 refused, as a sentence that has the words that were typed and says what to write. `words` are those that
/// it was given, in whichever order.
std::string complaint_about(const CLI::App& whole, const CLI::ParseError& refused,
                            const std::vector<std::string>& words);

/// The sentence with "see <page>" after it.
std::string with_page(const std::string& sentence, const std::string& page);

/// What CLI11 let pass; throws usage_error.
void refuse_contradictions(const CLI::App& app, const run_options& given);

}  // namespace rowlock::command
