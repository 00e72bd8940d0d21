#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::command {

/// What may come next on a command line that is being typed. `rowlock __complete WORD...`, which shells call, prints
/// it: `manner` in the first line, then a candidate in each, with its description after a tab.
struct completion {
  struct candidate {
    std::string word;
    std::string description{};
  };
  /// "words"; "beginnings", after which the word goes on; "files TEXT", any file with TEXT before its path; "command
  /// N", what follows the word N (0: the program) is a command line of its own; "nothing".
  std::string manner = "words";
  std::vector<candidate> candidates{};
  std::optional<std::string> begun_name{};  ///< the names of locks that begin with it, too
  std::string before_names{};               ///< what stands before each of them in the same word
};

/// `words`: the program, and all that was typed up to the cursor; the last is the one to complete.
completion complete(const CLI::App& whole, std::span<const char* const> words);

/// For a shell (bash, zsh, fish) to source: it calls `rowlock __complete`.
std::string_view completion_for(std::string_view shell);

}  // namespace rowlock::command
