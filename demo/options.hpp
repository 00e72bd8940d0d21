#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sale.hpp"

namespace flash_sale {

struct options {
  flash_sale::sale sale;
  std::optional<std::string> database;  ///< absent: a file in a temporary folder
  std::vector<std::string> runs;        ///< of the table, by name
  bool shows_mistakes = true;
  std::optional<std::string> json;
  std::optional<std::string> report;  ///< the file for the timeline
};

struct parsed_options {
  flash_sale::options options;
  /// Set where nothing is to be done: --help was asked for, or the arguments were wrong, and that was printed.
  std::optional<int> exit_status;
};

parsed_options parse_options(int argc, const char* const* argv);

}  // namespace flash_sale
