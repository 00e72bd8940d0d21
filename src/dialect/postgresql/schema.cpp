#include <string>

#include "dialect/postgresql/parts.hpp"

namespace rowlock::inline v1::dialect::postgresql_parts {

namespace {

constexpr std::string_view schema_state = R"(
SELECT version, serves_from, installation, us(applied_at), us(clock_timestamp())
FROM rowlock_migration ORDER BY version DESC LIMIT 1)";

// Privileges are checked even where nothing is written. A policy that lets the role see and write everything does no
// harm.
constexpr std::string_view write_nothing = R"(
WITH made AS (INSERT INTO rowlock_lock (name, version) SELECT '', 0 WHERE false),
  changed AS (UPDATE rowlock_lock SET version = version WHERE false),
  waiting AS (INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at, note)
    SELECT '', '', '', '', now(), now(), '' WHERE false),
  staying AS (UPDATE rowlock_waiter SET expires_at = expires_at WHERE false),
  leaving AS (DELETE FROM rowlock_waiter WHERE false),
  sharing AS (DELETE FROM rowlock_share WHERE false),
  holding AS (DELETE FROM rowlock_edge WHERE false),
  removing AS (DELETE FROM rowlock_lock WHERE false)
SELECT c.relname::text FROM pg_catalog.pg_class c
WHERE c.relnamespace = (SELECT h.relnamespace FROM pg_catalog.pg_class h
    WHERE h.oid = (SELECT tableoid FROM rowlock_migration LIMIT 1))
  AND c.relname IN ('rowlock_' || 'lock', 'rowlock_' || 'waiter', 'rowlock_' || 'share', 'rowlock_' || 'edge')
  AND row_security_active(c.oid) AND (
    NOT EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid AND p.polpermissive AND p.polcmd = '*'
      AND pg_get_expr(p.polqual, p.polrelid) = 'true'
      AND coalesce(pg_get_expr(p.polwithcheck, p.polrelid), 'true') = 'true'
      AND EXISTS (SELECT FROM unnest(p.polroles) r WHERE r = 0 OR pg_has_role(r, 'USAGE')))
    OR EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid AND NOT p.polpermissive))
ORDER BY c.relname LIMIT 1)";

constexpr std::string_view read_settings = R"(
SELECT name, setting FROM pg_catalog.pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_standby_names')
UNION ALL SELECT 'server', 'PostgreSQL ' || current_setting('server_version')
UNION ALL SELECT 'user', current_user::text
UNION ALL SELECT 'database', current_database()::text
UNION ALL SELECT 'ssl_version', coalesce(version, '') FROM pg_catalog.pg_stat_ssl WHERE pid = pg_backend_pid()
UNION ALL SELECT 'ssl_cipher', cipher FROM pg_catalog.pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl
UNION ALL SELECT 'gss', encrypted::text FROM pg_catalog.pg_stat_gssapi WHERE pid = pg_backend_pid()
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
