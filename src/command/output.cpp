#include "command/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>

#include "base/text.hpp"

namespace rowlock::command {

namespace {

std::vector<std::size_t> widths_of(const std::vector<table_line>& lines) {
  std::vector<std::size_t> widths(lines.empty() ? 0 : lines.front().size());
  for (const auto& each : lines)
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], each[i].size());
  return widths;
}

}  // namespace

void write_table(std::ostream& out, std::vector<table_line> lines) {
  for (auto& each : lines)
    for (auto& field : each) field = base::printable(field);
  const auto widths = widths_of(lines);
  for (const auto& each : lines) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) line += fmt::format("{:{}}  ", each[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

void write_field(std::ostream& out, std::size_t width, std::string_view title, std::string_view value) {
  out << fmt::format("{:{}} {}\n", title, width, base::printable(value));
}

json microseconds(const std::optional<duration>& d) { return d ? json(d->count()) : json{}; }

json or_null(const std::string& text) { return text.empty() ? json{} : json(text); }

std::string text_of(const json& what) {
  return base::printable_json(what.dump(2, ' ', false, json::error_handler_t::replace)) + '\n';
}

void print(const json& what) { std::cout << text_of(what); }

}  // namespace rowlock::command
