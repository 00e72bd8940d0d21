#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace flash_sale {

/// One SQLite connection, for one thread at a time. Throws std::runtime_error with what SQLite said.
class sqlite_connection {
 public:
  explicit sqlite_connection(const std::string& path);

  /// Runs statements whose rows nobody wants.
  void execute(const char* sql) const;

  sqlite3* handle() const noexcept { return handle_.get(); }

 private:
  struct close {
    void operator()(sqlite3* handle) const noexcept { sqlite3_close(handle); }
  };
  std::unique_ptr<sqlite3, close> handle_;
};

/// Undone at the end of this object, unless it was committed.
class sqlite_transaction {
 public:
  explicit sqlite_transaction(sqlite_connection& connection);
  sqlite_transaction(const sqlite_transaction&) = delete;
  sqlite_transaction& operator=(const sqlite_transaction&) = delete;
  ~sqlite_transaction();

  void commit();

 private:
  sqlite_connection& connection_;
};

/// A statement with at most one parameter, prepared when first run: the tables may not be there before.
class sqlite_statement {
 public:
  sqlite_statement(sqlite_connection& connection, std::string_view sql) : connection_{connection}, sql_{sql} {}

  /// The number in the only row. Throws where there is none.
  std::int64_t number(std::optional<std::int64_t> parameter = {});
  /// How many rows the statement changed.
  int change(std::int64_t parameter);

 private:
  /// Runs it to the end, so that nothing stays locked or pinned, and hands back what the first row had.
  std::optional<std::int64_t> run(std::optional<std::int64_t> parameter);
  void prepare();
  void check(int code) const;

  struct finalize {
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
  };
  sqlite_connection& connection_;
  std::string_view sql_;
  std::unique_ptr<sqlite3_stmt, finalize> statement_;
};

}  // namespace flash_sale
