#include <string>

#include "dialect/sqlite/parts.hpp"

namespace rowlock::inline v1::dialect::sqlite_parts {

namespace {

// The version is as old as the last change of ownership. Nothing records when a holder without a lease has died.
constexpr std::string_view find_unused_page =
    "WITH page AS MATERIALIZED (SELECT name, version, (expires_at <= clock_us() - ?3 OR is_dead(expires_at, liveness)) "
    "AND version <= clock_us() - ?3 AS is_unused FROM rowlock_lock WHERE name > ?1 ORDER BY name LIMIT ?2) "
    "SELECT name, 1, version FROM page WHERE is_unused "
    "UNION ALL SELECT max(name), 0, 0 FROM page HAVING count(*) > 0";

// In a transaction of its own, before the deletion. To raise it in vain does no harm.
constexpr std::string_view raise_floor_to =
    "INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at) "
    "VALUES ('', '', '', 0, ?1, '', '', 0, 0) "
    "ON CONFLICT (name, acquisition) DO UPDATE SET token = excluded.token WHERE token < excluded.token";

constexpr std::string_view sweep_one =
    "DELETE FROM rowlock_lock "
    "WHERE name = ?1 AND (expires_at <= clock_us() - ?2 OR is_dead(expires_at, liveness)) "
    "AND version <= clock_us() - ?2 "
    "AND version <= (SELECT token FROM rowlock_share WHERE name = '' AND acquisition = '')";

constexpr std::string_view find_dead_page =
    "WITH page AS MATERIALIZED (SELECT ticket, name, attempt, expires_at <= clock_us() - ?3 AS is_dead "
    "FROM rowlock_waiter WHERE ticket > ?1 ORDER BY ticket LIMIT ?2) "
    "SELECT ticket, name, attempt, 1 FROM page WHERE is_dead "
    "UNION ALL SELECT max(ticket), name, attempt, 0 FROM page HAVING count(*) > 0";

constexpr std::string_view purge_tickets_one =
    "DELETE FROM rowlock_waiter "
    "WHERE ticket = ?3 AND attempt = ?2 AND expires_at <= clock_us() - ?4";

}  // namespace

std::array<step, 5> housekeeping() {
  return std::to_array<step>({
      {.verb = verb::find_unused, .look = std::string{find_unused_page}},
      {.verb = verb::raise_floor, .act = std::string{raise_floor_to}},
      {.verb = verb::sweep, .act = std::string{sweep_one}},
      {.verb = verb::find_dead, .look = std::string{find_dead_page}},
      {.verb = verb::purge_tickets, .key = 1, .act = std::string{purge_tickets_one}},
  });
}

}  // namespace rowlock::inline v1::dialect::sqlite_parts
