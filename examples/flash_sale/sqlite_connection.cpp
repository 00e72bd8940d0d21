#include "sqlite_connection.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace flash_sale {
namespace {

// Longer than any queue of writers here: without locks all threads write at once.
constexpr int busy_timeout_ms = 30'000;

[[noreturn]] void fail(sqlite3* handle, int code, std::string_view what) {
  const char* said = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
  throw std::runtime_error{fmt::format("{}: {} (SQLite error {})", what, said, code)};
}

}  // namespace

sqlite_connection::sqlite_connection(const std::string& path) {
  sqlite3* opened = nullptr;
  constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(path.c_str(), &opened, flags, nullptr);
  handle_.reset(opened);
  if (code != SQLITE_OK) fail(opened, code, path);
  if (const int set = sqlite3_busy_timeout(opened, busy_timeout_ms); set != SQLITE_OK) fail(opened, set, path);
}

void sqlite_connection::execute(const char* sql) const {
  const int code = sqlite3_exec(handle(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(handle(), code, sql);
}

sqlite_transaction::sqlite_transaction(sqlite_connection& connection) : connection_{connection} {
  connection_.execute("BEGIN");
}

sqlite_transaction::~sqlite_transaction() {
  const bool is_open = sqlite3_get_autocommit(connection_.handle()) == 0;
  if (is_open) sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void sqlite_transaction::commit() { connection_.execute("COMMIT"); }

std::int64_t sqlite_statement::number(std::optional<std::int64_t> parameter) {
  const auto found = run(parameter);
  if (!found) throw std::runtime_error{fmt::format("{}: no row", sql_)};
  return *found;
}

int sqlite_statement::change(std::int64_t parameter) {
  (void)run(parameter);
  return sqlite3_changes(connection_.handle());
}

std::optional<std::int64_t> sqlite_statement::run(std::optional<std::int64_t> parameter) {
  if (!statement_) prepare();
  if (parameter) check(sqlite3_bind_int64(statement_.get(), 1, *parameter));
  std::optional<std::int64_t> first;
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement_.get())) == SQLITE_ROW)
    if (!first) first = sqlite3_column_int64(statement_.get(), 0);
  // Reset repeats the error of a failed step, so its code is the one to check.
  check(sqlite3_reset(statement_.get()));
  if (code != SQLITE_DONE) fail(connection_.handle(), code, sql_);
  return first;
}

void sqlite_statement::prepare() {
  sqlite3_stmt* prepared = nullptr;
  const int length = static_cast<int>(sql_.size());
  check(sqlite3_prepare_v3(connection_.handle(), sql_.data(), length, SQLITE_PREPARE_PERSISTENT, &prepared, nullptr));
  statement_.reset(prepared);
}

void sqlite_statement::check(int code) const {
  if (code != SQLITE_OK) fail(connection_.handle(), code, sql_);
}

}  // namespace flash_sale
