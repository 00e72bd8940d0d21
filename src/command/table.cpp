#include "command/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rowlock::command {

namespace {

std::vector<std::size_t> widths_of(const std::vector<table_line>& lines) {
  std::vector<std::size_t> widths(lines.empty() ? 0 : lines.front().size());
  for (const auto& each : lines)
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], each[i].size());
  return widths;
}

}  // namespace

void write_table(std::ostream& out, const std::vector<table_line>& lines) {
  const auto widths = widths_of(lines);
  for (const auto& each : lines) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) line += fmt::format("{:{}}  ", each[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

}  // namespace rowlock::command
