#pragma once

#include <CLI/CLI.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command/options.hpp"

namespace rowlock::command {

/// A command line, split into rowlock's own words and the command to run.
struct command_line {
  std::vector<std::string> ours{};     ///< options, subcommand, NAME; in reverse, as CLI11 takes them
  std::vector<std::string> command{};  ///< unchanged
  // The state after the last word, for completion.
  const CLI::App* app = nullptr;             ///< the subcommand, or the program while there is none
  const CLI::Option* open_option = nullptr;  ///< the last word, if its value is still missing
  std::size_t arguments = 0;                 ///< the number of NAMEs and the like so far
  bool has_ended_options = false;
  bool is_in_command = false;  ///< all later words belong to the command

  bool has_subcommand() const { return app->get_parent() != nullptr; }
  /// Whether the subcommand runs a command.
  bool takes_command() const { return app->get_option_no_throw("--command") != nullptr; }
  bool takes_command_next() const { return arguments > 0 && takes_command(); }
};

/// Splits the words. No word after "--" is an option of rowlock. For `run` and `lead` the command begins with the first
/// word after NAME that is no option, as in flock(1). Throws usage_error for an unknown option or subcommand.
command_line part(const CLI::App& whole, std::span<const char* const> words);

/// Refuses options of a subcommand that CLI11 accepts and that contradict each other. Throws usage_error.
void refuse_contradictions(const CLI::App& taking, const options& given);

/// The message about an unknown subcommand; it suggests the nearest known one.
std::string no_subcommand(const CLI::App& whole, std::string_view word);

}  // namespace rowlock::command
