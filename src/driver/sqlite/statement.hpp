#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

/// Throws what `code` means; `doing` begins its sentence, see failure_of. `file` is for a connection that could not be
/// opened, and so does not know its file.
[[noreturn]] void raise_sqlite(sqlite3* db, int code, const std::string& doing, bool writing, std::string file = {});

/// Whether the file that the connection has open is not the one with that name any more.
bool has_moved(sqlite3* db, const std::string& schema) noexcept;
/// Throws that the file is not the one that was opened.
[[noreturn]] void throw_replaced(const std::string& file);

/// Binds the value to the n-th parameter, counted from 1; text must live until the statement is reset. Returns SQLite's
/// result code.
int bind_value(sqlite3_stmt* statement, int n, const argument& value);

/// Reuses the memory of the cell.
void assign(cell& to, std::string_view words);
void assign(cell& to, sqlite3_value* value);

struct close_sqlite {
  void operator()(sqlite3* db) const noexcept { sqlite3_close_v2(db); }
};
using sqlite_handle = std::unique_ptr<sqlite3, close_sqlite>;

/// The rows of an answer, in the memory of an answer that was read.
class answer_rows {
 public:
  answer_rows() = default;
  explicit answer_rows(std::vector<row> read) noexcept : rows_{std::move(read)} {}

  std::size_t size() const noexcept { return size_; }
  /// Adds a row, whose cells have any values.
  row& add() {
    if (size_ == rows_.size()) rows_.emplace_back();
    return rows_[size_++];
  }
  std::vector<row> take() {
    rows_.resize(std::exchange(size_, 0));
    return std::move(rows_);
  }

 private:
  std::vector<row> rows_;
  std::size_t size_ = 0;
};

/// A prepared statement; empty until prepared.
class sqlite_statement {
 public:
  sqlite_statement() = default;
  /// `flags`: SQLITE_PREPARE_PERSISTENT for a statement that is kept.
  sqlite_statement(sqlite3* db, const std::string& sql, unsigned flags = SQLITE_PREPARE_PERSISTENT);

  explicit operator bool() const noexcept { return statement_ != nullptr; }

  /// Runs it to the end and appends its rows. Returns SQLite's result code; no statement remains open.
  int run(const request& arguments, answer_rows& to);

 private:
  struct finalize {
    void operator()(sqlite3_stmt* s) const noexcept { sqlite3_finalize(s); }
  };
  int bind(const request& arguments);
  void read_current(row& to) const;
  std::unique_ptr<sqlite3_stmt, finalize> statement_;
};

}  // namespace rowlock::inline v1::driver
