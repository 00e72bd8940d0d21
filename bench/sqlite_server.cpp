#include "sqlite_server.hpp"

#include "sqlite_connection.hpp"

namespace bench {
namespace {

constexpr const char* raise_version =
    "UPDATE {prefix}lock SET version = max(version + 1, CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)) "
    "WHERE name = ?";

constexpr const char* add_old =
    "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {rows}) "
    "INSERT INTO {prefix}lock (name, version, expires_at) "
    "SELECT 'old/' || n, 1, CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER) - 7200000000 FROM c";

}  // namespace

server sqlite_server(const std::filesystem::path& folder) {
  const auto path = (folder / "own.db").string();
  return {.url = "sqlite:" + path,
          .database = "sqlite",
          .connect = [path] { return connect_sqlite(path); },
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

}  // namespace bench
