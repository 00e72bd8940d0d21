#include <rowlock/interop/sqlite3.hpp>

#include <stdexcept>

#include "testkit/connection.hpp"
#include "testkit/sqlite.hpp"

namespace rowlock::test {

void check_sqlite(sqlite3* database, int code, std::string_view doing) {
  if (code == SQLITE_OK) return;
  const char* const said = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code);
  throw std::runtime_error{std::string{doing} + ": " + said + " (SQLite error " + std::to_string(code) + ")"};
}

sqlite_handle open_sqlite(const std::string& path) {
  constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  constexpr int busy_timeout_ms = 30'000;  // longer than any queue of writers
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &opened, flags, nullptr);
  sqlite_handle owned{opened};
  check_sqlite(opened, code, path);
  check_sqlite(opened, sqlite3_busy_timeout(opened, busy_timeout_ms), path);
  constexpr const char* settings = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL";
  check_sqlite(opened, sqlite3_exec(opened, settings, nullptr, nullptr, nullptr), path);
  return owned;
}

sqlite_prepared prepare_sqlite(sqlite3* on, std::string_view sql) {
  sqlite3_stmt* prepared = nullptr;
  const int length = static_cast<int>(sql.size());
  check_sqlite(on, sqlite3_prepare_v3(on, sql.data(), length, SQLITE_PREPARE_PERSISTENT, &prepared, nullptr), sql);
  return sqlite_prepared{prepared};
}

namespace {

class sqlite_statement final : public statement {
 public:
  sqlite_statement(sqlite3* on, const std::string& sql) : statement_{prepare_sqlite(on, sql)} {}

  std::size_t run(std::span<const char* const> values) override {
    bind(values);
    const bool gives_rows = sqlite3_column_count(raw()) != 0;
    std::size_t rows = 0;
    while (sqlite3_step(raw()) == SQLITE_ROW) ++rows;
    check(sqlite3_reset(raw()));
    return gives_rows ? rows : static_cast<std::size_t>(sqlite3_changes(on()));
  }

  std::optional<std::string> read(std::span<const char* const> values) override {
    bind(values);
    std::optional<std::string> first;
    if (sqlite3_step(raw()) == SQLITE_ROW) first = reinterpret_cast<const char*>(sqlite3_column_text(raw(), 0));
    check(sqlite3_reset(raw()));  // the error of a failed step
    return first;
  }

 private:
  void bind(std::span<const char* const> values) {
    int place = 0;
    for (const char* each : values) check(sqlite3_bind_text(raw(), ++place, each, -1, SQLITE_STATIC));
  }

  void check(int code) const { check_sqlite(on(), code, sqlite3_sql(raw())); }
  sqlite3_stmt* raw() const noexcept { return statement_.get(); }
  sqlite3* on() const noexcept { return sqlite3_db_handle(raw()); }

  sqlite_prepared statement_;
};

class sqlite_connection final : public connection {
 public:
  sqlite_connection(const std::string& path, bool begins_immediately)
      : database_{open_sqlite(path)}, begin_{raw(), begins_immediately ? "BEGIN IMMEDIATE" : "BEGIN"} {}

  long long execute(const std::string& sql) override {
    const auto first = sqlite_statement{raw(), sql}.read({});
    return first ? std::stoll(*first) : 0;
  }

  std::size_t change(const std::string& sql) override { return sqlite_statement{raw(), sql}.run({}); }

  std::unique_ptr<statement> prepare(const std::string& sql) override {
    return std::make_unique<sqlite_statement>(raw(), sql);
  }

  void in_transaction(const body& what) override {
    begin_.run({});
    const rollback_at_end undo{raw()};
    transaction_on<sqlite3*> open{raw()};
    what(open);
    commit_.run({});
  }

  void optimistically(client& locks, const lock_name& name, const std::function<void()>& what,
                      const retry_options& options) override {
    rowlock::optimistically(
        raw(), locks, name, [&](sqlite3* /*same*/) { what(); }, options);
  }

  long long statements() override {
    check_sqlite(raw(), sqlite3_trace_v2(raw(), SQLITE_TRACE_STMT, count_one, &statements_), "tracing");
    return statements_;
  }

 private:
  /// Unless the transaction has ended by then.
  struct rollback_at_end {
    sqlite3* database;
    explicit rollback_at_end(sqlite3* of) : database{of} {}
    rollback_at_end(const rollback_at_end&) = delete;
    rollback_at_end& operator=(const rollback_at_end&) = delete;
    ~rollback_at_end() {
      if (sqlite3_get_autocommit(database) == 0) sqlite3_exec(database, "ROLLBACK", nullptr, nullptr, nullptr);
    }
  };

  static int count_one(unsigned /*event*/, void* counter, void* /*statement*/, void* /*sql*/) {
    ++*static_cast<long long*>(counter);
    return 0;
  }

  sqlite3* raw() const noexcept { return database_.get(); }

  sqlite_handle database_;
  sqlite_statement begin_;
  sqlite_statement commit_{raw(), "COMMIT"};
  long long statements_ = 0;
};

}  // namespace

std::unique_ptr<connection> connect_sqlite(const std::string& path, const connection_options& options) {
  return std::make_unique<sqlite_connection>(path, options.begins_immediately);
}

}  // namespace rowlock::test
