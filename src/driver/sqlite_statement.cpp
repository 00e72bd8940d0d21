#include "driver/sqlite_statement.hpp"

#include <cerrno>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "core/error_detail.hpp"

namespace rowlock::inline v1::driver {

namespace {

int bind_one(sqlite3_stmt* s, int at, const argument& a) {
  if (const auto* number = std::get_if<std::int64_t>(&a)) return sqlite3_bind_int64(s, at, *number);
  if (const auto* words = std::get_if<std::string_view>(&a))
    return sqlite3_bind_text(s, at, words->data() != nullptr ? words->data() : "", static_cast<int>(words->size()),
                             SQLITE_STATIC);
  return sqlite3_bind_null(s, at);
}

struct meaning {
  errc code = errc::database_error;
  detail::error_access::answers answers{};
};

bool is_about_permission(int system_error) {
  return system_error == EACCES || system_error == EPERM || system_error == EROFS;
}

meaning meaning_of(int code, int system_error, std::string_view message, bool writing) {
  const auto retryable = [](errc e) { return meaning{e, {.retryable = true}}; };
  const auto unusable = [](errc e) { return meaning{e, {.connection_unusable = true}}; };
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return retryable(errc::call_timed_out);
    case SQLITE_INTERRUPT:
      return {errc::cancelled};
    case SQLITE_CANTOPEN:
      return unusable(is_about_permission(system_error) ? errc::permission_denied : errc::connection_failed);
    case SQLITE_READONLY:
      return code == SQLITE_READONLY_DBMOVED ? unusable(errc::connection_failed) : meaning{errc::permission_denied};
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {errc::permission_denied};
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return unusable(errc::database_error);
    case SQLITE_IOERR:
      return {errc::database_error, {.retryable = false, .connection_unusable = true, .outcome_unknown = writing}};
    case SQLITE_ERROR: {
      if (message.starts_with("no such table")) return {errc::schema_missing};
      const bool column =
          message.starts_with("no such column") || message.find("has no column") != std::string_view::npos;
      return {column ? errc::schema_older : errc::database_error};
    }
    default:
      return {};
  }
}

std::string_view advice(errc code) {
  switch (code) {
    case errc::schema_missing:
      return "; run client::migrate(), or the files in schema/sqlite by hand";
    case errc::schema_older:
      return "; run client::migrate()";
    default:
      return "";
  }
}

}  // namespace

void raise_sqlite(sqlite3* db, int code, const std::string& doing, bool writing) {
  if (code == SQLITE_NOMEM) throw std::bad_alloc{};
  std::string message = db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  const int system_error = db != nullptr ? sqlite3_system_errno(db) : 0;
  meaning m = meaning_of(code, system_error, message, writing);
  if (system_error == EMFILE || system_error == ENFILE)
    message.append(" (").append(std::generic_category().message(system_error)).append(")");
  m.answers.native_code = code;
  throw detail::error_access::make(m.code, "SQLite, while " + doing + ": " + message + std::string{advice(m.code)},
                                   std::move(m.answers));
}

cell cell_of(sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_NULL:
      return {};
    case SQLITE_INTEGER:
      return sqlite3_value_int64(value);
    default: {
      const auto* words = reinterpret_cast<const char*>(sqlite3_value_text(value));
      return std::string(words, static_cast<std::size_t>(sqlite3_value_bytes(value)));
    }
  }
}

sqlite_statement::sqlite_statement(sqlite3* db, const std::string& sql) {
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v3(db, sql.c_str(), static_cast<int>(sql.size()) + 1, SQLITE_PREPARE_PERSISTENT,
                                      &prepared, nullptr);
  if (code != SQLITE_OK) raise_sqlite(db, code, "preparing a statement", false);
  statement_.reset(prepared);
}

int sqlite_statement::bind(const request& arguments) {
  const int count = sqlite3_bind_parameter_count(statement_.get());
  for (int i = 0; i < count; ++i)
    if (const int code = bind_one(statement_.get(), i + 1, arguments[static_cast<std::size_t>(i)]); code != SQLITE_OK)
      return code;
  return SQLITE_OK;
}

row sqlite_statement::current() const {
  const int columns = sqlite3_column_count(statement_.get());
  row out;
  out.reserve(static_cast<std::size_t>(columns));
  for (int i = 0; i < columns; ++i) out.push_back(cell_of(sqlite3_column_value(statement_.get(), i)));
  return out;
}

int sqlite_statement::run(const request& arguments, std::vector<row>& to) {
  struct reset {
    sqlite3_stmt* s;
    ~reset() { sqlite3_reset(s); }
  } const at_the_end{statement_.get()};
  int code = bind(arguments);
  if (code != SQLITE_OK) return code;
  while ((code = sqlite3_step(statement_.get())) == SQLITE_ROW) to.push_back(current());
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

}  // namespace rowlock::inline v1::driver
