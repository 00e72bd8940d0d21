#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace rowlock::command {

/// The manual page of rowlock or of a subcommand, without its options.
struct page {
  std::string_view name;
  std::string_view synopsis;
  std::string_view summary;
  /// "## TITLE" begins a section; OPTIONS and SUBCOMMANDS are generated. An empty line separates paragraphs, which are
  /// wrapped. A line that begins with a space is printed unchanged. "@name" inserts shared_text(name).
  std::string_view text;
};

/// "rowlock" or the name of a subcommand.
const page& page_of(std::string_view name);
std::string_view shared_text(std::string_view name);

/// All subcommands, in the order of their declaration.
std::vector<const CLI::App*> subcommands_of(const CLI::App& app);
/// nullptr: there is no subcommand of this name.
const CLI::App* find_subcommand(const CLI::App& app, std::string_view name);
/// The options that may follow, without NAME and the like: those of a subcommand, then those of the program.
std::vector<const CLI::Option*> options_of(const CLI::App& app);
/// One of them; nullptr: there is none of this name.
const CLI::Option* find_option(const CLI::App& app, const std::string& name);

/// The page of the program or of a subcommand as --help prints it: the text of pages.cpp with the declared options.
std::string plain_page(const CLI::App& app);
/// The same for man(1), in the macros of man(7).
std::string roff_page(const CLI::App& app);

}  // namespace rowlock::command
