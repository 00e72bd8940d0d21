#include "sql/loader.hpp"

namespace rowlock::inline v1::sheets {

namespace {

spelling as_sent() { return {.is_one_line = true}; }

}  // namespace

sheet sqlite(std::string_view prefix) {
  return sheet_of(read_sheet(sqlite_text()), as_sent(), {.prefix = prefix, .place = "main."});
}

enlisted_texts sqlite_enlisted(std::string_view prefix, std::string_view file) {
  const auto in_full = "\"" + replaced(file, "\"", "\"\"") + "\"." + std::string{prefix};
  return enlisted_of(read_sheet(sqlite_text()), as_sent(), in_full);
}

// In the lines of the sheet.
std::vector<passage> sqlite_passages(std::string_view prefix) {
  constexpr std::string_view head =
      "-- The statements that rowlock runs in an SQLite file. The lines of a statement are sent as one. Filled in are "
      "the table\n"
      "-- prefix, and main for the schema in which the file is open. ?1 is the first argument of the verb.\n";
  const auto entries = read_sheet(sqlite_text());
  const auto place = std::string{"\"main\"."}.append(prefix);
  return passages_of(head, sqlite_text(),
                     {sheet_of(entries, {}, {.prefix = prefix, .place = "main."}), enlisted_of(entries, {}, place)});
}

}  // namespace rowlock::inline v1::sheets
