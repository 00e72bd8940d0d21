#pragma once

#include <sqlite3.h>

#include <memory>
#include <string>
#include <string_view>

namespace rowlock::test {

struct sqlite_close {
  void operator()(sqlite3* database) const noexcept { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};
using sqlite_handle = std::unique_ptr<sqlite3, sqlite_close>;
using sqlite_prepared = std::unique_ptr<sqlite3_stmt, sqlite_close>;

/// Throws std::runtime_error with what SQLite says, unless the code is SQLITE_OK.
void check_sqlite(sqlite3* database, int code, std::string_view doing);

/// In WAL mode, without a sync at every commit, as rowlock opens its own connections.
sqlite_handle open_sqlite(const std::string& path);

/// To be run often.
sqlite_prepared prepare_sqlite(sqlite3* on, std::string_view sql);

}  // namespace rowlock::test
