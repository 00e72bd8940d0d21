#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace rowlock::command {

/// For bash to source: subcommands, options and their values, and names of locks that are held.
std::string bash_completion(const CLI::App& whole);

}  // namespace rowlock::command
