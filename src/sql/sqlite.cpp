#include "sql/sheet.hpp"

namespace rowlock::inline v1::dialect {

namespace {

sql::spelling as_sent() { return {.is_one_line = true}; }

}  // namespace

table sqlite(std::string_view prefix) {
  return sql::table_of(sql::read_sheet(sql::sqlite_sheet()), as_sent(), {.prefix = prefix, .place = "main."});
}

enlisted_texts sqlite_enlisted(std::string_view prefix, std::string_view file) {
  const auto in_full = "\"" + replaced(file, "\"", "\"\"") + "\"." + std::string{prefix};
  return sql::enlisted_of(sql::read_sheet(sql::sqlite_sheet()), as_sent(), in_full);
}

}  // namespace rowlock::inline v1::dialect
