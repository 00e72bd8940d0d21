#include <span>
#include <string>
#include <utility>

#include "dialect/mysql/parts.hpp"
#include "dialect/steps.hpp"

namespace rowlock::inline v1::dialect {

namespace {

/// An argument has the same place in every verb that takes it.
struct column {
  std::string_view name;
  std::string_view type;
};
// Without a character set of their own, the columns would have that of the database.
constexpr column attempt_columns[] = {{"name", "VARCHAR(255) CHARACTER SET utf8mb4"},
                                      {"owner", "VARCHAR(500) CHARACTER SET utf8mb4"},
                                      {"thread", "VARCHAR(255) CHARACTER SET utf8mb4"},
                                      {"acquisition", "VARCHAR(64) CHARACTER SET ascii"},
                                      {"lease", "BIGINT"},
                                      {"note", "VARCHAR(1000) CHARACTER SET utf8mb4"}};
constexpr column share_columns[] = {attempt_columns[0],    attempt_columns[1], attempt_columns[2],
                                    attempt_columns[3],    attempt_columns[4], attempt_columns[5],
                                    {"permits", "BIGINT"}, {"room", "BIGINT"}, {"version", "BIGINT"}};
constexpr column seen_columns[] = {attempt_columns[0], attempt_columns[1], attempt_columns[2],   attempt_columns[3],
                                   attempt_columns[4], attempt_columns[5], {"version", "BIGINT"}};
constexpr column held_columns[] = {attempt_columns[0], attempt_columns[3], attempt_columns[4]};
constexpr column ticket_columns[] = {
    attempt_columns[0], {"attempt", "VARCHAR(64) CHARACTER SET ascii"}, {"ticket", "BIGINT"}, {"life", "BIGINT"}};
constexpr column sweep_columns[] = {attempt_columns[0], {"retention", "BIGINT"}};
constexpr column turn_columns[] = {attempt_columns[0], {"turn", "BIGINT"}, {"room", "BIGINT"}, {"patience", "BIGINT"}};

std::span<const column> columns_of(verb what) {
  switch (what) {
    case verb::acquire:
    case verb::acquire_any:
      return attempt_columns;
    case verb::acquire_all:
      return seen_columns;
    case verb::share:
      return share_columns;
    case verb::refresh_ticket:
    case verb::leave:
    case verb::purge_tickets:
      return ticket_columns;
    case verb::sweep:
      return sweep_columns;
    case verb::turn:
      return turn_columns;
    default:
      return held_columns;
  }
}

/// JSON_TABLE(?1, …) with those of the columns that are in `names`.
std::string json_table(std::string_view names, std::span<const column> columns) {
  const auto listed = ", " + std::string{names} + ",";
  std::string out = "JSON_TABLE(?1, '$[*]' COLUMNS (";
  std::string_view separator;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (listed.find(" " + std::string{columns[i].name} + ",") == std::string::npos) continue;
    out.append(std::exchange(separator, ", ")).append(columns[i].name).append(" ").append(columns[i].type);
    out.append(" PATH '$[").append(std::to_string(i)).append("]'");
  }
  return out.append("))");
}

std::string with_wanted(std::string text, std::span<const column> columns) {
  constexpr std::string_view begin = "{wanted(";
  constexpr std::string_view end = ")}";
  for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    const auto closing = text.find(end, at);
    const auto names = text.substr(at + begin.size(), closing - at - begin.size());
    text.replace(at, closing + end.size() - at, json_table(names, columns));
  }
  return text;
}

std::string finished(std::string_view text) {
  auto out = replaced(text, "{first_token}", "GREATEST(one.swept + 1, {token})");
  out = replaced(replaced(out, "{token}", "us(SYSDATE(6))"), "{floor}", mysql_parts::floor);
  return replaced(out, " us(", " TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ");
}

}  // namespace

table mysql(std::string_view prefix) {
  auto steps = joined(mysql_parts::leases(), mysql_parts::tickets(), mysql_parts::sharing(), mysql_parts::inspection(),
                      mysql_parts::housekeeping(), mysql_parts::schema());
  // The verbs for databases without row locks and for notifying waiters; about pins; what would save nothing.
  static_assert(steps.size() == table::size - 10);
  for (step& s : steps)
    change_texts(s, [&](std::string& text) { text = finished(with_wanted(std::move(text), columns_of(s.verb))); });
  return {steps, {.prefix = prefix}, {.reads_uncommitted = true}};
}

}  // namespace rowlock::inline v1::dialect
