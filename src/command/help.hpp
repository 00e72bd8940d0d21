#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace rowlock::command {

/// Help that reads like a page of the manual: pages.cpp, and the options where they are declared.
class manual_formatter final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace rowlock::command
