#include <string>

#include "dialect/sqlite/parts.hpp"

namespace rowlock::inline v1::dialect::sqlite_parts {

namespace {

constexpr std::string_view schema_state =
    "SELECT version, serves_from, installation, applied_at, clock_us() "
    "FROM rowlock_migration ORDER BY version DESC LIMIT 1";

constexpr std::string_view read_no_waiter = "SELECT 1 FROM rowlock_waiter, rowlock_share, rowlock_edge WHERE 0";

constexpr std::string_view write_nothing = "UPDATE rowlock_lock SET version = version WHERE 0";

constexpr std::string_view read_settings =
    "SELECT 'server', 'SQLite ' || sqlite_version() "
    "UNION ALL SELECT 'journal_mode', journal_mode FROM pragma_journal_mode "
    "UNION ALL SELECT 'database', file FROM pragma_database_list WHERE name = 'main'";

constexpr std::string_view list_applied =
    "SELECT version, checksum, serves_from, applied_at FROM rowlock_migration ORDER BY version";

constexpr std::string_view note_checksum =
    "UPDATE rowlock_migration SET checksum = ?2 WHERE version = ?1 AND checksum IS NULL";

}  // namespace

std::array<step, 6> schema() {
  return std::to_array<step>({
      {.verb = verb::installation, .look = std::string{this_installation}},
      {.verb = verb::schema, .look = std::string{schema_state}},
      {.verb = verb::probe, .look = std::string{read_no_waiter}, .act = std::string{write_nothing}},
      {.verb = verb::settings, .look = std::string{read_settings}},
      {.verb = verb::applied, .look = std::string{list_applied}},
      {.verb = verb::applying, .act = std::string{note_checksum}},
  });
}

}  // namespace rowlock::inline v1::dialect::sqlite_parts
