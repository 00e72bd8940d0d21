#include "sqlite_connection.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <rowlock/interop/sqlite3.hpp>

#include <stdexcept>

namespace bench {
namespace {

struct close {
  void operator()(sqlite3* database) const noexcept { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};

void check(sqlite3* database, int code) {
  if (code != SQLITE_OK) throw std::runtime_error{fmt::format("SQLite: {}", sqlite3_errmsg(database))};
}

class prepared final : public statement {
 public:
  prepared(sqlite3* on, const std::string& sql) {
    sqlite3_stmt* made = nullptr;
    check(on,
          sqlite3_prepare_v3(on, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &made, nullptr));
    statement_.reset(made);
  }

  std::size_t run(std::span<const char* const> values) override {
    bind(values);
    const bool gives_rows = sqlite3_column_count(raw()) != 0;
    std::size_t rows = 0;
    while (sqlite3_step(raw()) == SQLITE_ROW) ++rows;
    check(on(), sqlite3_reset(raw()));
    return gives_rows ? rows : static_cast<std::size_t>(sqlite3_changes(on()));
  }

  std::optional<std::string> read(std::span<const char* const> values) override {
    bind(values);
    std::optional<std::string> first;
    if (sqlite3_step(raw()) == SQLITE_ROW) first = reinterpret_cast<const char*>(sqlite3_column_text(raw(), 0));
    check(on(), sqlite3_reset(raw()));
    return first;
  }

 private:
  void bind(std::span<const char* const> values) {
    int place = 0;
    for (const char* each : values) check(on(), sqlite3_bind_text(raw(), ++place, each, -1, SQLITE_STATIC));
  }

  sqlite3_stmt* raw() const noexcept { return statement_.get(); }
  sqlite3* on() const noexcept { return sqlite3_db_handle(raw()); }

  std::unique_ptr<sqlite3_stmt, close> statement_;
};

class sqlite_connection final : public connection {
 public:
  explicit sqlite_connection(const std::string& path) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    database_.reset(opened);
    check(opened, code);
    check(opened, sqlite3_busy_timeout(opened, 5'000));
    check(opened,
          sqlite3_exec(opened, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", nullptr, nullptr, nullptr));
    begin_.emplace(opened, "BEGIN IMMEDIATE");
    commit_.emplace(opened, "COMMIT");
  }

  long long execute(const std::string& sql) override {
    const auto first = prepared{database_.get(), sql}.read({});
    return first ? std::stoll(*first) : 0;
  }

  std::unique_ptr<statement> prepare(const std::string& sql) override {
    return std::make_unique<prepared>(database_.get(), sql);
  }

  void in_transaction(const std::function<void(open_transaction&)>& body) override {
    begin_->run({});
    transaction_on<sqlite3*> open{database_.get()};
    body(open);
    commit_->run({});
  }

  long long statements() override {
    check(database_.get(), sqlite3_trace_v2(database_.get(), SQLITE_TRACE_STMT, count_one, &statements_));
    return statements_;
  }

 private:
  static int count_one(unsigned /*event*/, void* counter, void* /*statement*/, void* /*sql*/) {
    ++*static_cast<long long*>(counter);
    return 0;
  }

  std::unique_ptr<sqlite3, close> database_;
  std::optional<prepared> begin_;
  std::optional<prepared> commit_;
  long long statements_ = 0;
};

}  // namespace

std::unique_ptr<connection> connect_sqlite(const std::string& path) {
  return std::make_unique<sqlite_connection>(path);
}

}  // namespace bench
