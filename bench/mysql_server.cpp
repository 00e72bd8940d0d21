#include <fmt/format.h>

#include <utility>

#include "server.hpp"

namespace bench {
namespace {

// {clock} is microseconds since 1970. Assignments run from left to right: the first one decides.
constexpr const char* upsert = R"(
INSERT INTO {prefix}lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
VALUES (?, {clock}, ?, ?, ?, SYSDATE(6), SYSDATE(6) + INTERVAL ? MICROSECOND, ?)
ON DUPLICATE KEY UPDATE
  acquisition = IF(owner IS NULL OR expires_at <= SYSDATE(6), VALUES(acquisition), acquisition),
  version = IF(acquisition = VALUES(acquisition), GREATEST(version + 1, VALUES(version)), version),
  thread = IF(acquisition = VALUES(acquisition), VALUES(thread), thread),
  acquired_at = IF(acquisition = VALUES(acquisition), VALUES(acquired_at), acquired_at),
  expires_at = IF(acquisition = VALUES(acquisition), VALUES(expires_at), expires_at),
  note = IF(acquisition = VALUES(acquisition), VALUES(note), note),
  owner = IF(acquisition = VALUES(acquisition), VALUES(owner), owner))";
constexpr const char* vacate = R"(
UPDATE {prefix}lock SET version = GREATEST(version + 1, {clock}), owner = NULL, thread = NULL, note = NULL,
  expires_at = SYSDATE(6)
WHERE name = ? AND acquisition = ?)";
constexpr const char* lock_row =
    "SELECT version FROM {prefix}lock WHERE name = ? AND (owner IS NULL OR expires_at <= SYSDATE(6)) FOR UPDATE";
constexpr const char* raise_version = R"(
UPDATE {prefix}lock SET version = GREATEST(version + 1, {clock})
WHERE name = ?)";
constexpr const char* read_version = "SELECT version FROM {prefix}lock WHERE name = ?";
constexpr const char* compare_and_set = R"(
UPDATE {prefix}lock SET version = GREATEST(version + 1, {clock}), owner = ?, thread = ?, acquisition = ?,
  acquired_at = SYSDATE(6), expires_at = SYSDATE(6) + INTERVAL ? MICROSECOND, note = ?
WHERE name = ? AND version = ? AND (owner IS NULL OR expires_at <= SYSDATE(6)))";
constexpr const char* add_old = R"(
INSERT INTO {prefix}lock (name, version, expires_at)
SELECT CONCAT('old/', n + 1), 1, SYSDATE(6) - INTERVAL 2 HOUR FROM (
  WITH d (i) AS (SELECT 0 UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL
    SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)
  SELECT a.i + 10 * b.i + 100 * c.i + 1000 * e.i + 10000 * f.i + 100000 * g.i AS n
  FROM d a, d b, d c, d e, d f, d g) numbers
WHERE n < {rows})";
constexpr const char* clock = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))";

/// Leaves {prefix} as it is.
std::string text(const char* of) {
  return fmt::format(fmt::runtime(of), fmt::arg("prefix", "{prefix}"), fmt::arg("clock", clock));
}

/// By the server's own counters, which are those of all its databases.
class counters final : public observer {
 public:
  explicit counters(const std::string& url) : server_{test::connect_mysql(url)} {}

  /// Ids grow: those that an earlier subject has just closed are smaller.
  std::size_t connections() override {
    return static_cast<std::size_t>(server_->execute(
        "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND id > CONNECTION_ID()"));
  }
  long long statements() override { return server_->execute("SHOW GLOBAL STATUS LIKE 'Questions'"); }

 private:
  std::unique_ptr<test::connection> server_;
};

}  // namespace

server mysql_server(const std::string& url) {
  const bool is_mariadb = test::connect_mysql(url)->execute("SELECT VERSION() LIKE '%MariaDB%'") != 0;
  return {.url = url,
          .database = is_mariadb ? "mariadb" : "mysql",
          .connect = [url] { return test::connect_mysql(url); },
          .observe = [url] { return std::make_unique<counters>(url); },
          .upsert = text(upsert),
          .vacate = text(vacate),
          .relaxed_vacate = {},
          .lock_row = text(lock_row),
          .raise_version = text(raise_version),
          .read_version = text(read_version),
          .compare_and_set = text(compare_and_set),
          .write_own = "UPDATE {prefix}own SET changes = changes + 1 WHERE id = ?",
          .add_old = add_old,
          .session_lock = {.name = "get_lock",
                           .lock = "SELECT 1 FROM DUAL WHERE GET_LOCK(?, 10) = 1",
                           .unlock = "SELECT 1 FROM DUAL WHERE RELEASE_LOCK(?) = 1"}};
}

}  // namespace bench
