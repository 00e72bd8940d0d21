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

}  // namespace rowlock::inline v1::sheets
