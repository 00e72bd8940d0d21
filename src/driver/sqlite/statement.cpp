#include "driver/sqlite/statement.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error_detail.hpp"
#include "driver/failure_meaning.hpp"
#include "driver/sqlite/files.hpp"

namespace rowlock::inline v1::driver {

namespace {

struct sqlite_meaning {
  errc code = errc::database_error;
  detail::error_access::answers answers{};
};

bool is_about_permission(int system_error) {
  return system_error == EACCES || system_error == EPERM || system_error == EROFS;
}

sqlite_meaning meaning_of(int code, bool is_denied, std::string_view message, bool writing) {
  const auto retryable = [](errc e) { return sqlite_meaning{e, {.retryable = true}}; };
  const auto unusable = [](errc e) { return sqlite_meaning{e, {.connection_unusable = true}}; };
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return retryable(errc::call_timed_out);
    case SQLITE_INTERRUPT:
      return {errc::cancelled};
    case SQLITE_CANTOPEN:
      return unusable(is_denied ? errc::permission_denied : errc::connection_failed);
    case SQLITE_READONLY:
      if (code != SQLITE_READONLY_DBMOVED) return {errc::permission_denied};
      return {errc::connection_failed, {.retryable = true, .connection_unusable = true}};
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {errc::permission_denied};
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return unusable(errc::database_error);
    case SQLITE_IOERR:
      // A commit that was not written in full is no commit: the log and the journal have checksums.
      return {
          errc::database_error,
          {.retryable = false, .connection_unusable = true, .outcome_unknown = writing && code != SQLITE_IOERR_WRITE}};
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

// SQLite does not report why a commit could not be written.
bool has_file_limit() {
  rlimit sizes{};
  return getrlimit(RLIMIT_FSIZE, &sizes) == 0 && sizes.rlim_cur != RLIM_INFINITY;
}

std::string_view advice(int code, errc meant) {
  switch (meant) {
    case errc::schema_missing:
      return "; run client::migrate(), or the files in schema/sqlite by hand";
    case errc::schema_older:
      return "; run client::migrate()";
    case errc::call_timed_out:
      return "; another connection has kept the file locked, so try again";
    default:
      break;
  }
  switch (code & 0xFF) {
    case SQLITE_CORRUPT:
      return "; restore the file from a backup";
    case SQLITE_FULL:
      return "; free some space";
    case SQLITE_IOERR:
      return has_file_limit() ? "; this process has a limit for the size of files (ulimit -f), so raise that" : "";
    default:
      return "";
  }
}

// The fault of the file as a whole, whatever was being done; nullopt: the error has another cause.
std::optional<file_fault> fault_behind(const std::string& file, int code) {
  if (file.empty()) return std::nullopt;
  if (code == SQLITE_READONLY_DBMOVED) return file_fault{.sentence = was_replaced(file)};
  switch (code & 0xFF) {
    case SQLITE_NOTADB:
      return file_fault{.sentence = file + " is not an SQLite database, or it is encrypted; name another file"};
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_IOERR:
      return fault_of(file);
    default:
      return std::nullopt;
  }
}

// With the operating system's own words if it has failed.
std::string words_of(sqlite3* db, int code) {
  std::string out = db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  const int system_error = db != nullptr ? sqlite3_system_errno(db) : 0;
  const bool is_of_system = (code & 0xFF) == SQLITE_CANTOPEN || (code & 0xFF) == SQLITE_IOERR;
  if (is_of_system && system_error != 0)
    out.append(" (").append(std::generic_category().message(system_error)).append(")");
  return out;
}

std::string file_of(sqlite3* db) {
  const char* const out = db != nullptr ? sqlite3_db_filename(db, "main") : nullptr;
  return out != nullptr ? out : "";
}

}  // namespace

bool has_moved(sqlite3* db, const std::string& schema) noexcept {
  int out = 0;
  return sqlite3_file_control(db, schema.c_str(), SQLITE_FCNTL_HAS_MOVED, &out) == SQLITE_OK && out != 0;
}

void throw_replaced(const std::string& file) {
  throw detail::error_access::make(errc::connection_failed, was_replaced(file),
                                   {.retryable = true, .connection_unusable = true});
}

void raise_sqlite(sqlite3* db, int code, const std::string& doing, bool writing, std::string file) {
  if (code == SQLITE_NOMEM) throw std::bad_alloc{};
  if (file.empty()) file = file_of(db);
  const std::string words = words_of(db, code);
  const int system_error = db != nullptr ? sqlite3_system_errno(db) : 0;
  const auto fault = fault_behind(file, code);
  const bool is_denied = is_about_permission(system_error) || (fault && fault->is_about_permission);
  sqlite_meaning m = meaning_of(code, is_denied, words, writing);
  m.answers.native_code = code;
  std::string sentence = fault ? fault->sentence : "";
  if (sentence.empty()) {
    sentence.append(failure_of(doing, file.empty() ? "SQLite" : "SQLite (" + file + ")")).append(words);
    sentence.append(advice(code, m.code));
  }
  throw detail::error_access::make(m.code, sentence, std::move(m.answers));
}

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
