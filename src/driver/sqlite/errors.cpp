#include "driver/sqlite/errors.hpp"

#include <cerrno>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error_detail.hpp"

namespace rowlock::inline v1::driver {

namespace {

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

}  // namespace rowlock::inline v1::driver
