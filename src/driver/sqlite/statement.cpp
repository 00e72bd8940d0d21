#include "driver/sqlite/statement.hpp"

#include <cstddef>

#include "driver/sqlite/errors.hpp"
#include "driver/sqlite/values.hpp"

namespace rowlock::inline v1::driver {

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
