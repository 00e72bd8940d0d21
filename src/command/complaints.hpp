#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace rowlock::command {

/// What CLI11 refused, as a sentence that has the words that were typed and says what to write. `words` are those that
/// it was given, in whichever order.
std::string complaint_about(const CLI::App& whole, const CLI::ParseError& refused,
                            const std::vector<std::string>& words);

/// The sentence with "see <page>" after it.
std::string with_page(const std::string& sentence, const std::string& page);

}  // namespace rowlock::command
