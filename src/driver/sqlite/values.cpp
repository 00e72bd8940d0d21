#include "driver/sqlite/values.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rowlock::inline v1::driver {

int bind_value(sqlite3_stmt* statement, int n, const argument& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return sqlite3_bind_int64(statement, n, *number);
  if (const auto* words = std::get_if<std::string_view>(&value))
    return sqlite3_bind_text(statement, n, words->data() != nullptr ? words->data() : "",
                             static_cast<int>(words->size()), SQLITE_STATIC);
  return sqlite3_bind_null(statement, n);
}

void assign(cell& to, std::string_view words) {
  if (auto* const text = std::get_if<std::string>(&to)) {
    text->assign(words);
  } else {
    to.emplace<std::string>(words);
  }
}

void assign(cell& to, sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_NULL:
      to = {};
      return;
    case SQLITE_INTEGER:
      to = std::int64_t{sqlite3_value_int64(value)};
      return;
    default: {
      const auto* words = reinterpret_cast<const char*>(sqlite3_value_text(value));
      assign(to, std::string_view{words, static_cast<std::size_t>(sqlite3_value_bytes(value))});
    }
  }
}

}  // namespace rowlock::inline v1::driver
