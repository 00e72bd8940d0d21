#include <string>

#include "dialect/postgresql/parts.hpp"

namespace rowlock::inline v1::dialect::postgresql_parts {

namespace {

constexpr std::string_view schema_state = R"(
SELECT version, serves_from, installation, us(applied_at), us(clock_timestamp())
FROM rowlock_migration ORDER BY version DESC LIMIT 1)";

// Privileges are checked even where nothing is written.
constexpr std::string_view write_nothing = R"(
WITH made AS (INSERT INTO rowlock_lock (name, version) SELECT '', 0 WHERE false),
  changed AS (UPDATE rowlock_lock SET version = version WHERE false),
  waiting AS (INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at, note)
    SELECT '', '', '', '', now(), now(), '' WHERE false),
  staying AS (UPDATE rowlock_waiter SET expires_at = expires_at WHERE false),
  leaving AS (DELETE FROM rowlock_waiter WHERE false),
  sharing AS (DELETE FROM rowlock_share WHERE false),
  holding AS (DELETE FROM rowlock_edge WHERE false)
DELETE FROM rowlock_lock WHERE false)";

constexpr std::string_view read_settings = R"(
SELECT name, setting FROM pg_catalog.pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_standby_names')
UNION ALL SELECT 'server', 'PostgreSQL ' || current_setting('server_version')
UNION ALL SELECT 'user', current_user::text
UNION ALL SELECT 'database', current_database()::text
UNION ALL SELECT 'encrypted', ssl::text FROM pg_catalog.pg_stat_ssl WHERE pid = pg_backend_pid()
UNION ALL SELECT 'standbys', count(*)::text FROM pg_catalog.pg_stat_replication
UNION ALL SELECT 'may_end_sessions', pg_has_role('pg_signal_backend', 'USAGE')::text)";

constexpr std::string_view list_applied =
    "SELECT version, checksum, serves_from, us(applied_at) FROM rowlock_migration ORDER BY version";

constexpr std::string_view note_checksum =
    "UPDATE rowlock_migration SET checksum = $2::text WHERE version = $1::integer AND checksum IS NULL";

}  // namespace

std::array<step, 6> schema() {
  return std::to_array<step>({
      {.verb = verb::installation, .look = "SELECT " + std::string{this_installation}},
      {.verb = verb::schema, .look = std::string{schema_state}},
      {.verb = verb::probe, .act = std::string{write_nothing}},
      {.verb = verb::settings, .look = std::string{read_settings}},
      {.verb = verb::applied, .look = std::string{list_applied}},
      {.verb = verb::applying, .act = std::string{note_checksum}},
  });
}

}  // namespace rowlock::inline v1::dialect::postgresql_parts
