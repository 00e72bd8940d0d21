#pragma once

#include <CLI/CLI.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::command {

/// The words of a command line, parted.
struct command_line {
  std::vector<std::string> ours{};     ///< options, subcommand, NAME; in reverse, as CLI11 takes them
  std::vector<std::string> command{};  ///< what is to be run, to the letter
  // What may come next.
  const CLI::App* subcommand = nullptr;
  const CLI::Option* open_option = nullptr;  ///< the last word, whose value is not there yet
  std::size_t arguments = 0;                 ///< how many the subcommand has, without options and the command
  bool has_ended_options = false;
  bool is_in_command = false;  ///< no word that follows is ours

  bool takes_command_next() const;
};

/// Parts them. No word after "--" is an option of ours. For `run` and `lead` the command is whatever comes after NAME
/// and is no option of ours: so flock(1) does it. Throws usage_error for an option or a subcommand that does not exist.
command_line part(const CLI::App& whole, std::span<const char* const> words);

/// Says so, and which one is meant.
std::string no_subcommand(const CLI::App& whole, std::string_view word);

}  // namespace rowlock::command
