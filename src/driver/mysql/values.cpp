#include "driver/mysql/values.hpp"

#include <charconv>
#include <utility>

#include "driver/enlisted_transaction.hpp"

namespace rowlock::inline v1::driver {

namespace {

constexpr std::string_view only_mariadb = "/*M!100600";
constexpr std::string_view only_mysql = "/*!80000";
constexpr std::string_view comment_end = "*/";

// Such comments may be nested. `text` begins with one.
std::size_t end_of_comment(std::string_view text) {
  auto end = text.find(comment_end);
  for (auto nested = text.find("/*", 2); nested < end; nested = text.find("/*", nested + 2))
    end = text.find(comment_end, end + comment_end.size());
  return end;
}

std::string chosen(std::string_view text, mysql_kind kind) {
  std::string out;
  for (;;) {
    const auto begin = text.find("/*");
    out.append(text.substr(0, begin));
    if (begin == std::string_view::npos) return out;
    text.remove_prefix(begin);
    const auto mark = text.starts_with(only_mariadb) ? only_mariadb : only_mysql;
    const auto end = end_of_comment(text);
    const bool is_ours = (mark == only_mariadb) == (kind == mysql_kind::mariadb);
    if (is_ours) out.append(chosen(text.substr(mark.size(), end - mark.size()), kind));
    text.remove_prefix(end + comment_end.size());
  }
}

void append_quoted(std::string& to, std::string_view words) {
  constexpr std::string_view digits = "0123456789abcdef";
  to.push_back('"');
  for (const char c : words) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      to.append("\\u00").push_back(digits[byte >> 4U]);
      to.push_back(digits[byte & 15U]);
      continue;
    }
    if (c == '"' || c == '\\') to.push_back('\\');
    to.push_back(c);
  }
  to.push_back('"');
}

void append_value(std::string& to, const argument& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    to.append(std::to_string(*number));
  } else if (const auto* words = std::get_if<std::string_view>(&value)) {
    append_quoted(to, *words);
  } else {
    to.append("null");
  }
}

std::string literal(const argument& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  const auto* words = std::get_if<std::string_view>(&value);
  if (words == nullptr) return "NULL";
  return "_utf8mb4 X'" + hex(*words) + "'";
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \n") == std::string_view::npos; }

}  // namespace

mysql_text for_server(std::string_view text, mysql_kind kind, std::string_view place) {
  mysql_text out{.numbered = chosen(text, kind), .sql = {}, .arguments = {}};
  for (auto at = out.numbered.begin(); at != out.numbered.end();) {
    out.sql.push_back(*at);
    if (*at++ != '?') continue;
    std::size_t number = 0;
    while (at != out.numbered.end() && *at >= '0' && *at <= '9')
      number = number * 10 + static_cast<std::size_t>(*at++ - '0');
    out.arguments.push_back(number - 1);
  }
  out.sql = sheets::replaced(out.sql, sheets::place_mark, place);
  out.numbered = sheets::replaced(out.numbered, sheets::place_mark, place);
  return out;
}

std::string with_literals(std::string_view text, std::span<const argument> arguments) {
  return sheets::with_literals(text, '?', '`', [&](std::size_t place) { return literal(arguments[place]); });
}

std::string json_of(std::span<const request> batch) {
  std::string out{"["};
  for (const request& r : batch) {
    out.push_back('[');
    for (const argument& a : r) {
      append_value(out, a);
      out.push_back(',');
    }
    out.back() = ']';
    out.push_back(',');
  }
  out.back() = ']';
  return out;
}

std::size_t count_of_statements(std::string_view text) {
  std::size_t out = 1;
  for (auto end = text.find(";\n"); end != std::string_view::npos; end = text.find(";\n", end + 1)) ++out;
  return out;
}

std::vector<std::string> statements_of(std::string_view script) {
  std::vector<std::string> out;
  std::string statement;
  for (std::size_t begin = 0; begin < script.size();) {
    const auto end = std::min(script.find('\n', begin), script.size());
    const auto line = script.substr(begin, end - begin);
    const auto code = line.substr(0, line.find("--"));
    begin = end + 1;
    const auto last = code.find_last_not_of(' ');
    const bool is_end = last != std::string_view::npos && code[last] == ';';
    statement.append(code.substr(0, is_end ? last : code.size())).push_back('\n');
    if (is_end) out.push_back(std::exchange(statement, {}));
  }
  if (!is_blank(statement)) out.push_back(std::move(statement));
  return out;
}

}  // namespace rowlock::inline v1::driver
