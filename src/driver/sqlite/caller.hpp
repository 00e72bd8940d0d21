#pragma once

#include <rowlock/transaction.hpp>

#include "driver/sqlite/statement.hpp"

namespace rowlock::inline v1::driver {

/// A connection of the caller's.
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
