#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace rowlock::command {

/// The page of the program or of one of its subcommands for man(1), in the macros of man(7).
std::string roff_page(const CLI::App& app);

}  // namespace rowlock::command
