#pragma once

#include <sqlite3.h>

#include <memory>
#include <string>
#include <vector>

#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

struct close_sqlite {
  void operator()(sqlite3* db) const noexcept { sqlite3_close_v2(db); }
};
using sqlite_handle = std::unique_ptr<sqlite3, close_sqlite>;

/// A prepared statement; empty until prepared.
class sqlite_statement {
 public:
  sqlite_statement() = default;
  sqlite_statement(sqlite3* db, const std::string& sql);

  explicit operator bool() const noexcept { return statement_ != nullptr; }

  /// Runs it to the end and appends its rows. Returns SQLite's result code; no statement stays open.
  int run(const request& arguments, std::vector<row>& to);

 private:
  struct finalize {
    void operator()(sqlite3_stmt* s) const noexcept { sqlite3_finalize(s); }
  };
  int bind(const request& arguments);
  row current() const;
  std::unique_ptr<sqlite3_stmt, finalize> statement_;
};

}  // namespace rowlock::inline v1::driver
