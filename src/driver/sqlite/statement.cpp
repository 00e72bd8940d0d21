#include "driver/sqlite/statement.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "driver/sqlite/errors.hpp"

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

sqlite_statement::sqlite_statement(sqlite3* db, const std::string& sql, unsigned flags) {
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v3(db, sql.c_str(), static_cast<int>(sql.size()) + 1, flags, &prepared, nullptr);
  if (code != SQLITE_OK) raise_sqlite(db, code, "preparing a statement", false);
  statement_.reset(prepared);
}

int sqlite_statement::bind(const request& arguments) {
  const int count = sqlite3_bind_parameter_count(statement_.get());
  for (int i = 0; i < count; ++i)
    if (const int code = bind_value(statement_.get(), i + 1, arguments[static_cast<std::size_t>(i)]); code != SQLITE_OK)
      return code;
  return SQLITE_OK;
}

void sqlite_statement::read_current(row& to) const {
  const int columns = sqlite3_column_count(statement_.get());
  to.resize(static_cast<std::size_t>(columns));
  for (int i = 0; i < columns; ++i) assign(to[static_cast<std::size_t>(i)], sqlite3_column_value(statement_.get(), i));
}

int sqlite_statement::run(const request& arguments, answer_rows& to) {
  struct reset {
    sqlite3_stmt* s;
    ~reset() { sqlite3_reset(s); }
  } const at_the_end{statement_.get()};
  int code = bind(arguments);
  if (code != SQLITE_OK) return code;
  while ((code = sqlite3_step(statement_.get())) == SQLITE_ROW) read_current(to.add());
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

}  // namespace rowlock::inline v1::driver
