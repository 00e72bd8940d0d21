#pragma once

#include <CLI/CLI.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::command {

/// The words of a command line, parted.
struct command_line {
  std::vector<std::string> ours{};     ///< options, subcommand, NAME; in reverse, as CLI11 takes them
  std::vector<std::string> command{};  ///< what is to be run, to the letter
};

/// Parts them. No word after "--" is an option of ours. For `run` and `lead` the command is whatever comes after NAME
/// and is no option of ours: so flock(1) does it. Throws usage_error for an option or a subcommand that does not exist.
command_line part(const CLI::App& whole, std::span<const char* const> words);

/// Says so, and which one is meant.
std::string no_subcommand(const CLI::App& whole, std::string_view word);

}  // namespace rowlock::command
