#include "support/sqlite_database.hpp"

#include <sqlite3.h>

#include <stdexcept>
#include <utility>

#include "testkit/url.hpp"

namespace rowlock::test {

namespace {

class connection {
 public:
  explicit connection(const std::filesystem::path& file) {
    const auto flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(file.c_str(), &handle_, flags, nullptr) != SQLITE_OK) fail("open");
    sqlite3_busy_timeout(handle_, 30'000);
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() { sqlite3_close(handle_); }  // rolls back an open transaction

  bool can(const char* sql) { return sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) == SQLITE_OK; }

  sql_rows run(const std::string& sql) {
    sql_rows out;
    if (sqlite3_exec(handle_, sql.c_str(), add_row, &out, nullptr) != SQLITE_OK) fail(sql);
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error{what + ": " + sqlite3_errmsg(handle_)};
  }

  static int add_row(void* to, int columns, char** values, char** /*names*/) {
    auto& row = static_cast<sql_rows*>(to)->emplace_back();
    for (int i = 0; i < columns; ++i)
      row.push_back(values[i] == nullptr ? std::nullopt : std::optional<std::string>{values[i]});
    return 0;
  }

  sqlite3* handle_ = nullptr;
};

std::unique_ptr<obstacle> open_transaction(const std::filesystem::path& file, const std::string& begin) {
  auto on = std::make_shared<connection>(file);
  on->run(begin);
  return obstacle_until([on] { on->run("ROLLBACK"); });
}

}  // namespace

sqlite_database::sqlite_database() : folder_{std::make_unique<temp_folder>()}, file_{*folder_ / "locks.db"} {}

sqlite_database::sqlite_database(std::filesystem::path file) : file_{std::move(file)} {}

std::string sqlite_database::url() const { return sqlite_url(file_.string()); }

// Without a timeout, sqlite3 fails at once while another process writes.
std::string sqlite_database::shell() const { return "sqlite3 -bail -cmd '.timeout 20000' '" + file_.string() + "'"; }

sql_rows sqlite_database::ask(const std::string& sql) { return connection{file_}.run(sql); }

std::string sqlite_database::quoted(std::string_view text) {
  std::string out{"'"};
  for (const char each : text) out.append(each == '\'' ? 2 : 1, each);
  return out += '\'';
}

bool sqlite_database::has_table(std::string_view table) {
  return number("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = " + quoted(table)) == 1;
}

// The record of a migration makes the trigger count without end, in its transaction.
std::unique_ptr<obstacle> sqlite_database::migration_gate() {
  execute(
      "CREATE TRIGGER gate BEFORE INSERT ON rowlock_migration BEGIN SELECT count(*) FROM "
      "(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c); END");
  return obstacle_until([file = file_] { connection{file}.run("DROP TRIGGER gate"); });
}

bool sqlite_database::is_at_migration_gate() {
  connection c{file_};
  c.run("PRAGMA busy_timeout = 0");
  return !c.can("BEGIN IMMEDIATE");
}

std::unique_ptr<obstacle> sqlite_database::stall() { return open_transaction(file_, "BEGIN IMMEDIATE"); }

std::unique_ptr<obstacle> sqlite_database::transaction(const std::string& sql) {
  return open_transaction(file_, "BEGIN; " + sql);
}

std::string sqlite_database::clock() const {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(since_1970).count());
}

}  // namespace rowlock::test
