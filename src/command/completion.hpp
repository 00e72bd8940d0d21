#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::command {

/// The possible next words of a partial command line. Shells call `rowlock __complete WORD...`, which prints `manner`
/// on the first line and then one candidate a line, with its description after a tab.
struct completion {
  struct candidate {
    std::string word;
    std::string description{};
  };
  /// "words"; "beginnings": no space follows a candidate; "files TEXT": any file, with TEXT before its path; "command
  /// N": word N (0: the program) begins another command line; "nothing".
  std::string manner = "words";
  std::vector<candidate> candidates{};
  std::optional<std::string> begun_name{};  ///< also offer names in the database that begin with it
  std::string before_names{};               ///< the text before each of these names in the same word
  bool offers_locks = true;                 ///< names of held locks
  bool offers_jobs = false;                 ///< names of jobs that have run
};

/// `words`: the program and the words up to the cursor; the last one is to be completed.
completion complete(const CLI::App& whole, std::span<const char* const> words);

/// The script for a shell (bash, zsh, fish) to source; it calls `rowlock __complete`.
std::string_view completion_for(std::string_view shell);

}  // namespace rowlock::command
