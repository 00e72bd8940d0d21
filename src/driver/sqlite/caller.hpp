#pragma once

#include <sqlite3.h>
#include <rowlock/transaction.hpp>

#include <string>
#include <string_view>

#include "driver/sqlite/statement.hpp"

namespace rowlock::inline v1::driver {

// Which installation the main file of a caller's connection has. A new connection may have the address of a closed one,
// and SQLite reports the end of a connection only to functions that are registered there. So a function that does
// nothing is registered.

bool is_known_in(sqlite3* connection, std::string_view installation);
void note_installation(sqlite3* connection, std::string_view installation);

/// The caller's own connection.
class sqlite_caller final : public detail::caller_transaction {
 public:
  explicit sqlite_caller(sqlite3* db);

  sqlite3* handle() const noexcept { return db_; }
  detail::backend kind() const noexcept override { return detail::backend::sqlite; }
  std::vector<row> execute(const std::string& sql, std::span<const detail::value_in> arguments) override;
  void require_transaction() const;

 private:
  sqlite3* db_;
};

}  // namespace rowlock::inline v1::driver
