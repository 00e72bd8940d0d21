#include <string>

#include "dialect/mysql/parts.hpp"

namespace rowlock::inline v1::dialect::mysql_parts {

namespace {

constexpr std::string_view schema_state = R"(
SELECT version, serves_from, installation, us(applied_at), us(SYSDATE(6))
FROM rowlock_migration ORDER BY version DESC LIMIT 1)";

// Privileges are checked even where nothing is written.
constexpr std::string_view insert_no_lock = R"(
INSERT INTO rowlock_lock (name, version) SELECT '', 0 FROM (SELECT 1) one WHERE FALSE
ON DUPLICATE KEY UPDATE version = VALUES(version))";

constexpr std::string_view insert_no_waiter = R"(
INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at, note)
SELECT '', '', '', '', SYSDATE(6), SYSDATE(6), '' FROM (SELECT 1) one WHERE FALSE
ON DUPLICATE KEY UPDATE expires_at = VALUES(expires_at))";

constexpr std::string_view delete_nothing =
    "DELETE l, w, s, e FROM rowlock_lock l JOIN rowlock_waiter w JOIN rowlock_share s JOIN rowlock_edge e WHERE FALSE";

// A server leaves out the settings that it does not have.
constexpr std::string_view read_settings = R"(
SHOW VARIABLES WHERE Variable_name IN ('version', 'innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog', 'wsrep_on',
  'group_replication_group_name'))";

// Each of the two tables can be read without a privilege. Both values are '' where nothing is encrypted.
constexpr std::string_view read_connection = R"(
SELECT 'user', CONVERT(CURRENT_USER() USING utf8mb4) UNION ALL SELECT 'database', CONVERT(DATABASE() USING utf8mb4)
UNION ALL SELECT LOWER(s.variable_name), s.variable_value
FROM /*M!100600 information_schema.session_status */ /*!80000 performance_schema.session_status */ s
WHERE s.variable_name IN ('Ssl_version', 'Ssl_cipher'))";

constexpr std::string_view list_applied =
    "SELECT version, checksum, serves_from, us(applied_at) FROM rowlock_migration ORDER BY version";

constexpr std::string_view note_checksum =
    "UPDATE rowlock_migration SET checksum = ?2 WHERE version = ?1 AND checksum IS NULL";

}  // namespace

std::array<step, 7> schema() {
  return std::to_array<step>({
      {.verb = verb::installation, .look = std::string{this_installation}},
      {.verb = verb::schema, .look = std::string{schema_state}},
      {.verb = verb::probe,
       .look = std::string{insert_no_lock},
       .act = std::string{delete_nothing},
       .told = std::string{insert_no_waiter}},
      {.verb = verb::settings, .look = std::string{read_settings}},
      {.verb = verb::connection, .look = std::string{read_connection}},
      {.verb = verb::applied, .look = std::string{list_applied}},
      {.verb = verb::applying, .act = std::string{note_checksum}},
  });
}

}  // namespace rowlock::inline v1::dialect::mysql_parts
