#include "support/sqlite_database.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "testkit/url.hpp"

namespace rowlock::test {

namespace {

using value = std::variant<std::int64_t, std::string_view>;

class connection {
 public:
  explicit connection(const std::filesystem::path& file) {
    const auto flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(file.c_str(), &handle_, flags, nullptr) != SQLITE_OK) fail("open");
    sqlite3_busy_timeout(handle_, 30'000);
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() { sqlite3_close(handle_); }

  /// Calls `each_row` with the statement for every row.
  void run(const char* sql, const std::vector<value>& arguments = {},
           const std::function<void(sqlite3_stmt*)>& each_row = {}) {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(handle_, sql, -1, &raw, nullptr) != SQLITE_OK) fail(sql);
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement{raw, sqlite3_finalize};
    for (std::size_t i = 0; i < arguments.size(); ++i) bind(raw, static_cast<int>(i) + 1, arguments[i]);
    int code = sqlite3_step(raw);
    for (; code == SQLITE_ROW; code = sqlite3_step(raw))
      if (each_row) each_row(raw);
    if (code != SQLITE_DONE) fail(sql);
  }

  bool can(const char* sql) { return sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) == SQLITE_OK; }

  std::int64_t number(const char* sql, const std::vector<value>& arguments = {}) {
    std::int64_t out = 0;
    run(sql, arguments, [&](sqlite3_stmt* row) { out = sqlite3_column_int64(row, 0); });
    return out;
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw std::runtime_error{std::string{what} + ": " + sqlite3_errmsg(handle_)};
  }

  static void bind(sqlite3_stmt* statement, int index, const value& argument) {
    if (const auto* number = std::get_if<std::int64_t>(&argument)) {
      sqlite3_bind_int64(statement, index, *number);
    } else {
      const auto text = std::get<std::string_view>(argument);
      sqlite3_bind_text(statement, index, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
    }
  }

  sqlite3* handle_ = nullptr;
};

std::optional<std::string> text_of(sqlite3_stmt* row, int column) {
  if (sqlite3_column_type(row, column) == SQLITE_NULL) return std::nullopt;
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(row, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(row, column));
  return size == 0 ? std::string{} : std::string{bytes, size};
}

std::optional<std::int64_t> number_of(sqlite3_stmt* row, int column) {
  if (sqlite3_column_type(row, column) == SQLITE_NULL) return std::nullopt;
  return sqlite3_column_int64(row, column);
}

std::int64_t microseconds(std::chrono::seconds s) { return std::chrono::microseconds{s}.count(); }

/// A transaction that is rolled back when the obstacle goes.
class open_transaction : public obstacle {
 public:
  open_transaction(const std::filesystem::path& file, const char* begin, const char* first) : connection_{file} {
    connection_.run(begin);
    if (first != nullptr) connection_.run(first);
  }

 private:
  connection connection_;  // closing it rolls back
};

/// Counts and counts, in the transaction of whoever notes a migration.
class endless_trigger : public obstacle {
 public:
  explicit endless_trigger(std::filesystem::path file) : file_{std::move(file)} {
    connection{file_}.run(
        "CREATE TRIGGER gate BEFORE INSERT ON rowlock_migration BEGIN SELECT count(*) FROM "
        "(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c); END");
  }
  ~endless_trigger() override {
    try {
      connection{file_}.run("DROP TRIGGER gate");
    } catch (const std::exception& e) {
      std::cerr << "something that was in the way: " << e.what() << '\n';
    }
  }

 private:
  std::filesystem::path file_;
};

}  // namespace

sqlite_database::sqlite_database() : folder_{std::make_unique<temp_folder>()}, file_{*folder_ / "locks.db"} {}

sqlite_database::sqlite_database(std::filesystem::path file) : file_{std::move(file)} {}

std::string sqlite_database::url() const { return sqlite_url(file_.string()); }

// Which gives up at once, unless it is told, where somebody else writes.
std::string sqlite_database::shell() const { return "sqlite3 -bail -cmd '.timeout 20000' '" + file_.string() + "'"; }

std::int64_t sqlite_database::now() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since_1970).count();
}

std::optional<lock_row> sqlite_database::row(std::string_view name) {
  std::optional<lock_row> out;
  connection{file_}.run(
      "SELECT version, owner, thread, acquisition, acquired_at, expires_at, note FROM rowlock_lock WHERE name = ?",
      {name}, [&](sqlite3_stmt* found) {
        out = lock_row{.version = sqlite3_column_int64(found, 0),
                       .owner = text_of(found, 1),
                       .thread = text_of(found, 2),
                       .acquisition = text_of(found, 3),
                       .acquired_at = number_of(found, 4),
                       .expires_at = number_of(found, 5),
                       .note = text_of(found, 6)};
      });
  return out;
}

bool sqlite_database::has_table(std::string_view table) {
  return connection{file_}.number("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?", {table}) == 1;
}

void sqlite_database::vacate(std::string_view name) {
  connection{file_}.run(
      "UPDATE rowlock_lock SET owner = NULL, thread = NULL, version = version + 1, expires_at = ? WHERE name = ?",
      {now(), name});
}

void sqlite_database::steal(std::string_view name) {
  connection{file_}.run(
      "UPDATE rowlock_lock SET owner = 'thief:elsewhere:1:1', thread = 'thief', version = version + 1, "
      "acquisition = lower(hex(randomblob(16))), acquired_at = ?1, expires_at = ?1 + 3600000000 WHERE name = ?2",
      {now(), name});
}

void sqlite_database::erase(std::string_view name) {
  connection{file_}.run("DELETE FROM rowlock_lock WHERE name = ?", {name});
}

void sqlite_database::expire(std::string_view name) {
  connection{file_}.run("UPDATE rowlock_lock SET expires_at = ? WHERE name = ?", {now(), name});
}

void sqlite_database::set_version(std::string_view name, std::int64_t version) {
  connection{file_}.run("UPDATE rowlock_lock SET version = ? WHERE name = ?", {version, name});
}

void sqlite_database::age(std::string_view name, std::chrono::seconds by) {
  connection{file_}.run(
      "UPDATE rowlock_lock SET version = version - ?1, acquired_at = acquired_at - ?1, expires_at = expires_at - ?1 "
      "WHERE name = ?2",
      {microseconds(by), name});
}

void sqlite_database::add_unused(int number) {
  const auto sql = "INSERT INTO rowlock_lock (name, version, expires_at) SELECT 'unused/' || n, 1, ?1 FROM (" +
                   std::string{a_million_numbers} + ") WHERE n < ?2";
  connection{file_}.run(sql.c_str(), {now() - microseconds(std::chrono::hours{2}), std::int64_t{number}});
}

int sqlite_database::rows() { return static_cast<int>(connection{file_}.number("SELECT count(*) FROM rowlock_lock")); }

int sqlite_database::tickets() {
  return static_cast<int>(connection{file_}.number("SELECT count(*) FROM rowlock_waiter"));
}

std::int64_t sqlite_database::enqueue(std::string_view name) {
  connection c{file_};
  c.run(
      "INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at) VALUES (?2, "
      "'sleeper:elsewhere:1:0000000000000001', 'sleeper', lower(hex(randomblob(16))), ?1, ?1 + 3600000000)",
      {now(), name});
  return c.number("SELECT last_insert_rowid()");
}

std::int64_t sqlite_database::enqueue_set(std::string_view name, std::chrono::milliseconds waited) {
  const auto ticket = enqueue(name);
  connection{file_}.run("UPDATE rowlock_waiter SET room = -2, enqueued_at = ? WHERE ticket = ?",
                        {now() - std::chrono::microseconds{waited}.count(), ticket});
  return ticket;
}

void sqlite_database::erase_ticket(std::int64_t ticket) {
  connection{file_}.run("DELETE FROM rowlock_waiter WHERE ticket = ?", {ticket});
}

void sqlite_database::kill_waiters(std::chrono::seconds ago) {
  connection{file_}.run("UPDATE rowlock_waiter SET expires_at = ?", {now() - microseconds(ago)});
}

void sqlite_database::kill_share(std::int64_t token, std::chrono::seconds ago) {
  connection{file_}.run("UPDATE rowlock_share SET expires_at = ? WHERE token = ?", {now() - microseconds(ago), token});
}

int sqlite_database::shares() {
  return static_cast<int>(connection{file_}.number("SELECT count(*) FROM rowlock_share WHERE name <> ''"));
}

std::int64_t sqlite_database::floor() {
  return connection{file_}.number("SELECT coalesce(max(token), 0) FROM rowlock_share WHERE name = ''");
}

void sqlite_database::raise_floor(std::int64_t version) {
  connection{file_}.run(
      "INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at) "
      "VALUES ('', '', '', 0, ?, '', '', 0, 0)",
      {version});
}

void sqlite_database::drop_tables() {
  connection c{file_};
  c.run("BEGIN IMMEDIATE");
  c.run("DROP TABLE rowlock_lock");
  c.run("DROP TABLE rowlock_migration");
  c.run("DROP TABLE IF EXISTS rowlock_waiter");
  c.run("DROP TABLE IF EXISTS rowlock_share");
  c.run("DROP TABLE IF EXISTS rowlock_edge");
  c.run("COMMIT");
}

int sqlite_database::newest_migration() {
  return static_cast<int>(connection{file_}.number("SELECT max(version) FROM rowlock_migration"));
}

void sqlite_database::record_migration(int version, int serves_from) {
  connection{file_}.run("INSERT INTO rowlock_migration (version, serves_from, applied_at) VALUES (?, ?, ?)",
                        {std::int64_t{version}, std::int64_t{serves_from}, now()});
}

void sqlite_database::forget_migration(int version) {
  connection{file_}.run("DELETE FROM rowlock_migration WHERE version = ?", {std::int64_t{version}});
}

void sqlite_database::forget_checksums() { connection{file_}.run("UPDATE rowlock_migration SET checksum = NULL"); }

void sqlite_database::edit_migration(int version) {
  connection{file_}.run("UPDATE rowlock_migration SET checksum = 'of another text' WHERE version = ?",
                        {std::int64_t{version}});
}

int sqlite_database::missing_checksums() {
  return static_cast<int>(connection{file_}.number("SELECT count(*) FROM rowlock_migration WHERE checksum IS NULL"));
}

std::unique_ptr<obstacle> sqlite_database::migration_gate() { return std::make_unique<endless_trigger>(file_); }

bool sqlite_database::is_at_migration_gate() {
  connection c{file_};
  c.run("PRAGMA busy_timeout = 0");
  return !c.can("BEGIN IMMEDIATE");
}

std::unique_ptr<obstacle> sqlite_database::stall() {
  return std::make_unique<open_transaction>(file_, "BEGIN IMMEDIATE", nullptr);
}

std::unique_ptr<obstacle> sqlite_database::reader() {
  return std::make_unique<open_transaction>(file_, "BEGIN", "SELECT count(*) FROM rowlock_lock");
}

}  // namespace rowlock::test
