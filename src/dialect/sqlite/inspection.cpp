#include <string>

#include "dialect/sqlite/parts.hpp"

namespace rowlock::inline v1::dialect::sqlite_parts {

namespace {

constexpr std::string_view inspect_one =
    "SELECT name, version, iif(is_dead(expires_at, liveness), NULL, owner), thread, acquisition, "
    "clock_us() - acquired_at, expires_at - clock_us(), note, expires_at IS NULL, "
    "EXISTS (SELECT 1 FROM rowlock_waiter q WHERE q.name = ?1 AND q.room < -1) FROM rowlock_lock WHERE name = ?1";

constexpr std::string_view list_of_prefix =
    "SELECT name, version, owner, thread, acquisition, clock_us() - acquired_at, "
    "expires_at - clock_us(), note, expires_at IS NULL FROM rowlock_lock "
    "WHERE name >= ?1 AND name < coalesce(?2, x'') AND owner IS NOT NULL "
    "AND (expires_at > clock_us() OR expires_at IS NULL AND NOT is_dead(expires_at, liveness)) "
    "ORDER BY name";

constexpr std::string_view row_with_liveness = "SELECT 1 FROM rowlock_lock WHERE liveness = ?1 LIMIT 1";

constexpr std::string_view vacate_dead_rows =
    "UPDATE rowlock_lock SET owner = NULL, thread = NULL, note = NULL, liveness = NULL, "
    "version = max(version + 1, clock_us()), expires_at = clock_us() "
    "WHERE liveness = ?1 AND owner IS NOT NULL AND is_dead(expires_at, liveness)";

constexpr std::string_view count_all =
    "SELECT (SELECT count(*) FROM rowlock_lock), count(*), clock_us() - min(enqueued_at) "
    "FROM rowlock_waiter WHERE expires_at > clock_us() AND lease IS NOT 0";

}  // namespace

std::array<step, 5> inspection() {
  return std::to_array<step>({
      {.verb = verb::inspect, .look = std::string{inspect_one}},
      {.verb = verb::list, .look = std::string{list_of_prefix}},
      {.verb = verb::names_liveness, .look = std::string{row_with_liveness}},
      {.verb = verb::vacate_dead, .act = std::string{vacate_dead_rows}},
      {.verb = verb::count, .look = std::string{count_all}},
  });
}

}  // namespace rowlock::inline v1::dialect::sqlite_parts
