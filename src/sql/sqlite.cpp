#include <utility>

#include "sql/loader.hpp"

namespace rowlock::inline v1::sheets {

namespace {

spelling as_sent(bool is_one_line = true) {
  const auto finish = [](std::string text, const entry& /*of*/) {
    return with_insists(std::move(text),
                        "({x}.room < -1 AND {x}.enqueued_at <= clock_us() - 100000 "
                        "AND ({x}.enqueued_at > clock_us() - 1100000 OR clock_us() % 5000000 < 1000000))");
  };
  return {.is_one_line = is_one_line, .finish = finish};
}

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
                     {sheet_of(entries, as_sent(false), {.prefix = prefix, .place = "main."}),
                      enlisted_of(entries, as_sent(false), place)});
}

}  // namespace rowlock::inline v1::sheets
