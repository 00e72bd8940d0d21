#include "command/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

namespace rowlock::command {

namespace {

std::vector<std::size_t> widths_of(const std::vector<table_line>& lines) {
  std::vector<std::size_t> widths(lines.empty() ? 0 : lines.front().size());
  for (const auto& each : lines)
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], each[i].size());
  return widths;
}

}  // namespace

void print_table(const std::vector<table_line>& lines) {
  const auto widths = widths_of(lines);
  for (const auto& each : lines) {
    std::string out;
    for (std::size_t i = 0; i < widths.size(); ++i) out += fmt::format("{:{}}  ", each[i], widths[i]);
    out.erase(out.find_last_not_of(' ') + 1);
    std::cout << out << '\n';
  }
}

}  // namespace rowlock::command
