#include <algorithm>
#include <utility>

#include "sql/loader.hpp"

namespace rowlock::inline v1::sheets {

namespace {

// Without a character set of their own, the columns would have that of the database.
std::string_view type_of(std::string_view argument) {
  if (argument == "name" || argument == "thread") return "VARCHAR(255) CHARACTER SET utf8mb4";
  if (argument == "owner") return "VARCHAR(500) CHARACTER SET utf8mb4";
  if (argument == "note") return "VARCHAR(1000) CHARACTER SET utf8mb4";
  if (argument == "acquisition" || argument == "attempt") return "VARCHAR(64) CHARACTER SET ascii";
  return "BIGINT";
}

// The document is an array of requests, each an array of arguments.
std::string json_table(std::string_view document, std::string_view arguments, const entry& of) {
  std::string out = "JSON_TABLE(" + std::string{document} + ", '$[*]' COLUMNS (";
  std::string_view separator;
  for (const auto each : split(arguments)) {
    const auto place = place_of(of, each);
    out.append(std::exchange(separator, ", ")).append(each).append(" ").append(type_of(each));
    out.append(" PATH '$[").append(std::to_string(place)).append("]'");
  }
  return out.append("))");
}

std::string with_tables(std::string text, const entry& of, std::string_view name, std::string_view document) {
  return expanded(std::move(text), name,
                  [&](std::string_view arguments) { return json_table(document, arguments, of); });
}

// The name of a server among those of one replication: MariaDB has no server_uuid, but a server_id.
constexpr std::string_view incarnation =
    "/*M!100600 CONCAT(@@hostname, ':', @@port, '/', @@server_id) */ /*!80000 @@server_uuid */";

constexpr std::string_view clock_of_caller =
    "(SYSDATE(6) + INTERVAL TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)) MICROSECOND)";

struct condition {
  std::string_view clock;
  std::string_view rows{};  ///< which rows of the guard are read: there is one
};
constexpr condition of_client{.clock = "SYSDATE(6)"};
// It is read for each row of a lock, because a condition that does not depend on the row would be read while MariaDB
// makes the plan. That would begin the snapshot of the transaction before the row is locked.
constexpr condition of_caller{.clock = clock_of_caller, .rows = " WHERE g.id >= 1 + 0 * version ORDER BY g.id LIMIT 1"};

std::string guarded(const condition& by) {
  return "(SELECT g.incarnation = {incarnation} AND g.grants_from <= " + std::string{by.clock} +
         " FROM rowlock_guard g" + std::string{by.rows} + ")";
}

spelling as_sent(bool is_guarded, const condition& by) {
  const auto finish = [is_guarded, by](std::string text, const entry& of) {
    auto out = with_insists(std::move(text),
                            "({x}.room < -1 AND {x}.enqueued_at <= SYSDATE(6) - INTERVAL 100000 MICROSECOND "
                            "AND ({x}.enqueued_at > SYSDATE(6) - INTERVAL 1100000 MICROSECOND "
                            "OR us(SYSDATE(6)) % 5000000 < 1000000))");
    out = with_tables(std::move(out), of, "wanted", "?1");
    out = with_tables(std::move(out), of, "locked", "@rowlock.shares");
    out = replaced(out, "{guarded}", is_guarded ? " AND " + guarded(by) : "");
    out = replaced(out, "{where guarded}", is_guarded ? "\nWHERE " + guarded(by) : "");
    out = replaced(replaced(out, "{values} ", is_guarded ? "SELECT " : "VALUES ("), "{end}", is_guarded ? "" : ")");
    out = replaced(out, "{incarnation}", incarnation);
    out = replaced(out, " us(", " TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ");
    return replaced(out, "{clock}", clock_of_caller);
  };
  return {.finish = finish};
}

}  // namespace

sheet mysql(std::string_view prefix, bool is_guarded) {
  return sheet_of(read_sheet(mysql_text()), as_sent(is_guarded, of_client), {.prefix = prefix},
                  {.reads_uncommitted = true});
}

enlisted_texts mysql_enlisted(std::string_view prefix, std::string_view place, bool is_guarded) {
  return enlisted_of(read_sheet(mysql_text()), as_sent(is_guarded, of_caller), std::string{place}.append(prefix));
}

std::vector<passage> mysql_passages(std::string_view server, std::string_view prefix, const layout& how) {
  const auto head = "-- The statements that rowlock sends to " + std::string{server} +
                    ". A URL that begins with mysql: prints it for MySQL, mariadb: for MariaDB.\n"
                    "-- The table prefix and all replacements are filled in. Each ? is an argument: a comment\n"
                    "-- before the statement names them in their order. The database of the tables is left out: a\n"
                    "-- client writes that of its URL before each table.\n";
  const auto entries = read_sheet(mysql_text());
  return passages_of(head, mysql_text(),
                     {sheet_of(entries, as_sent(false, of_client), {.prefix = prefix, .place = ""}),
                      enlisted_of(entries, as_sent(false, of_caller), prefix)},
                     how);
}

}  // namespace rowlock::inline v1::sheets
