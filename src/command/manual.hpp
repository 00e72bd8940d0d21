#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace rowlock::command {

/// What a page of the manual is written on. Parts come in the order in which they are read.
class paper {
 public:
  paper() = default;
  paper(const paper&) = delete;
  paper& operator=(const paper&) = delete;
  virtual ~paper() = default;

  virtual void heading(std::string_view title) = 0;
  /// Words, filled into lines.
  virtual void paragraph(std::string_view text) = 0;
  /// A line that stands as it is.
  virtual void line(std::string_view text) = 0;
  virtual void gap() = 0;
  /// An option or a subcommand, with the name of its value or its arguments, and what it does.
  virtual void item(std::string_view term, std::string_view arguments, std::string_view text) = 0;
};

/// The page of the program or of one of its subcommands: pages.cpp, and the options where they are declared.
void write_manual(paper& out, const CLI::App& app);

/// In the order in which they were declared.
std::vector<const CLI::App*> subcommands_of(const CLI::App& app);
/// nullptr: there is none of that name.
const CLI::App* find_subcommand(const CLI::App& app, std::string_view name);

/// Its options, without NAME and the like.
std::vector<const CLI::Option*> options_of(const CLI::App& app);

/// "rowlock-run", as the page is called.
std::string title_of(const CLI::App& app);

/// Help that reads like a page of the manual: pages.cpp, and the options where they are declared.
class manual_formatter final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

/// The page of the program or of one of its subcommands for man(1), in the macros of man(7).
std::string roff_page(const CLI::App& app);

}  // namespace rowlock::command
