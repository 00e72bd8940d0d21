#include "driver/postgresql/values.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/text.hpp"

namespace rowlock::inline v1::driver {

namespace {

// Oids of pg_type; those of built-in types never change.
constexpr pqxx::oid boolean = 16;
constexpr pqxx::oid integers[] = {20, 21, 23};

void append_number(std::string& to, std::int64_t number) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  to.append(digits.data(), end);
}

void append_quoted(std::string& to, std::string_view words) {
  to.push_back('"');
  for (const char c : words) {
    if (c == '"' || c == '\\') to.push_back('\\');
    to.push_back(c);
  }
  to.push_back('"');
}

void append_element(std::string& to, const argument& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    append_number(to, *number);
  } else if (const auto* words = std::get_if<std::string_view>(&value)) {
    append_quoted(to, *words);
  } else {
    to.append("NULL");
  }
}

std::int64_t number_in(std::string_view text) {
  std::int64_t out = 0;
  const auto [end, error_code] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error_code != std::errc{} || end != text.data() + text.size())
    throw error{errc::database_error, "PostgreSQL answered " + base::quoted(text) + " where rowlock expects a number"};
  return out;
}

template <class Field>
cell cell_of(const Field& field, pqxx::oid type) {
  if (field.is_null()) return {};
  const std::string_view text{field.c_str(), static_cast<std::size_t>(field.size())};
  if (type == boolean) return std::int64_t{text == "t"};
  if (std::find(std::begin(integers), std::end(integers), type) != std::end(integers)) return number_in(text);
  return std::string{text};
}

}  // namespace

std::size_t parameters_in(std::string_view sql) {
  std::size_t highest = 0;
  for (auto at = next_parameter(sql); at != std::string_view::npos; at = next_parameter(sql, at + 1)) {
    std::size_t number = 0;
    std::from_chars(sql.data() + at + 1, sql.data() + sql.size(), number);
    highest = std::max(highest, number);
  }
  return highest;
}

bool write_scalar(std::string& to, const argument& value) {
  to.clear();
  if (const auto* words = std::get_if<std::string_view>(&value)) {
    to.assign(*words);
  } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
    append_number(to, *number);
  }
  return !std::holds_alternative<std::monostate>(value);
}

void write_array(std::string& to, std::span<const request> batch, std::size_t place) {
  to.assign(1, '{');
  for (const request& r : batch) {
    append_element(to, r.at(place));
    to.push_back(',');
  }
  to.back() = '}';
}

void append_rows(std::vector<row>& to, const pqxx::result& from) {
  const auto columns = from.columns();
  to.reserve(to.size() + static_cast<std::size_t>(from.size()));
  for (pqxx::result::size_type r = 0; r < from.size(); ++r) {
    row& out = to.emplace_back();
    out.reserve(static_cast<std::size_t>(columns));
    for (auto c = decltype(columns){0}; c < columns; ++c) out.push_back(cell_of(from[r][c], from.column_type(c)));
  }
}

}  // namespace rowlock::inline v1::driver
