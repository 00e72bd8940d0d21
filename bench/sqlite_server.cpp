#include <sqlite3.h>

#include <atomic>

#include "server.hpp"

namespace bench {

namespace {

constexpr const char* raise_version =
    "UPDATE {prefix}lock SET version = max(version + 1, CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)) "
    "WHERE name = ?";

constexpr const char* add_old =
    "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {rows}) "
    "INSERT INTO {prefix}lock (name, version, expires_at) "
    "SELECT 'old/' || n, 1, CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER) - 7200000000 FROM c";

std::atomic<std::size_t> opened{0};
std::atomic<std::size_t> closed{0};
std::atomic<std::size_t> started{0};

int on_trace(unsigned event, void*, void*, void*) {
  ++(event == SQLITE_TRACE_CLOSE ? closed : started);
  return 0;
}

int on_open(sqlite3* database, char**, const void*) {
  ++opened;
  return sqlite3_trace_v2(database, SQLITE_TRACE_STMT | SQLITE_TRACE_CLOSE, on_trace, nullptr);
}

}  // namespace

server sqlite_server(const std::filesystem::path& folder) {
  const auto path = (folder / "own.db").string();
  return {.url = "sqlite:" + path,
          .database = "sqlite",
          .connect = [path] { return test::connect_sqlite(path, {.begins_immediately = true}); },
          .observe = {},
          .upsert = {},
          .vacate = {},
          .relaxed_vacate = {},
          .lock_row = {},  // a transaction that writes has the whole file
          .raise_version = raise_version,
          .read_version = {},
          .compare_and_set = {},
          .write_own = "UPDATE {prefix}own SET changes = changes + 1 WHERE id = ?",
          .add_old = add_old};
}

sqlite_watch::sqlite_watch() {
  opened = closed = started = 0;
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(on_open));
}

sqlite_watch::~sqlite_watch() { sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(on_open)); }

std::size_t sqlite_watch::connections() const { return opened - closed; }
std::size_t sqlite_watch::statements() const { return started; }

census count_sqlite(const std::function<std::unique_ptr<subject>()>& make, std::size_t threads, std::size_t cycles) {
  constexpr std::size_t warm_up = 10;
  const sqlite_watch watching;
  const auto of = make();
  const lanes all = open_lanes(*of, threads);
  run_cycles(all, warm_up);
  const auto before = watching.statements();
  run_cycles(all, cycles);
  const auto statements = static_cast<double>(watching.statements() - before);
  return {.connections = watching.connections(),
          .statements_per_cycle = statements / static_cast<double>(cycles * threads)};
}

}  // namespace bench
