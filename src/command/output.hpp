#pragma once

#include <rowlock/duration.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::command {

using table_line = std::vector<std::string>;

/// Writes aligned columns. All lines have as many fields as the first. A field may be any text.
void write_table(std::ostream& out, std::vector<table_line> lines);

/// Writes a property as a line: its title, padded to the width, and its value, which may be any text.
void write_field(std::ostream& out, std::size_t width, std::string_view title, std::string_view value);

/// JSON whose keys keep their order of insertion.
using json = nlohmann::ordered_json;

/// null if there is none.
json microseconds(const std::optional<duration>& d);
/// null if the text is empty.
json or_null(const std::string& text);
/// null if there is none.
template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json{};
}

/// An array of what `json_of_one` makes of each.
template <class List, class JsonOfOne>
json array_of(const List& all, JsonOfOne json_of_one) {
  auto out = json::array();
  for (const auto& each : all) out.push_back(json_of_one(each));
  return out;
}

/// The printed form, with a final newline. Text that is no UTF-8, which a server may report, is replaced.
std::string text_of(const json& what);
/// Prints to standard output.
void print(const json& what);

}  // namespace rowlock::command
