#include <string>

#include "dialect/mysql/parts.hpp"

namespace rowlock::inline v1::dialect::mysql_parts {

namespace {

// The version is as old as the last change of ownership, also where that change wrote no expiry.
constexpr std::string_view find_unused_page = R"(
WITH page AS (
  SELECT name, version, expires_at <= SYSDATE(6) - INTERVAL ?3 MICROSECOND AND version <= {token} - ?3 AS is_unused
  FROM rowlock_lock WHERE name > ?1 ORDER BY name LIMIT ?2)
SELECT name, 1, version FROM page WHERE is_unused UNION ALL SELECT MAX(name), 0, 0 FROM page HAVING COUNT(*) > 0)";

// In a transaction of its own, before the deletion. To raise it in vain does no harm.
constexpr std::string_view raise_floor_to = R"(
INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at)
VALUES ('', '', '', 0, ?1, '', '', '1970-01-01', '1970-01-01')
ON DUPLICATE KEY UPDATE token = GREATEST(token, VALUES(token)))";

// What was seen without a lock is asked for again under it.
constexpr std::string_view sweep_many = R"(
DELETE l FROM (SELECT l.name FROM {floor} one STRAIGHT_JOIN {wanted(name, retention)} w
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.expires_at <= SYSDATE(6) - INTERVAL w.retention MICROSECOND AND l.version <= {token} - w.retention
      AND l.version <= one.swept
    LIMIT 1000000 FOR UPDATE /*!80000 OF l */ SKIP LOCKED) unused
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = unused.name)";

constexpr std::string_view swept_many = R"(
SELECT w.name, TRUE FROM {wanted(name)} w
STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY))";

constexpr std::string_view find_dead_page = R"(
WITH page AS (
  SELECT ticket, name, attempt, expires_at <= SYSDATE(6) - INTERVAL ?3 MICROSECOND AS is_dead
  FROM rowlock_waiter WHERE ticket > ?1 ORDER BY ticket LIMIT ?2)
SELECT ticket, name, attempt, 1 FROM page WHERE is_dead
UNION ALL (SELECT ticket, name, attempt, 0 FROM page ORDER BY ticket DESC LIMIT 1))";

constexpr std::string_view purge_tickets_many = R"(
DELETE t FROM (SELECT t.ticket FROM {wanted(attempt, ticket, life)} w
    STRAIGHT_JOIN rowlock_waiter t FORCE INDEX (PRIMARY) ON t.ticket = w.ticket
    WHERE t.attempt = w.attempt AND t.expires_at <= SYSDATE(6) - INTERVAL w.life MICROSECOND
    LIMIT 1000000 FOR UPDATE /*!80000 OF t */ SKIP LOCKED) dead
  STRAIGHT_JOIN rowlock_waiter t FORCE INDEX (PRIMARY) ON t.ticket = dead.ticket)";

constexpr std::string_view purged_many = R"(
SELECT w.attempt, TRUE FROM {wanted(attempt, ticket)} w
STRAIGHT_JOIN rowlock_waiter t FORCE INDEX (PRIMARY) ON t.ticket = w.ticket WHERE t.attempt = w.attempt)";

}  // namespace

std::array<step, 5> housekeeping() {
  return std::to_array<step>({
      {.verb = verb::find_unused, .look = std::string{find_unused_page}},
      {.verb = verb::raise_floor, .act = std::string{raise_floor_to}},
      {.verb = verb::sweep, .many = std::string{sweep_many}, .many_told = std::string{swept_many}, .counts = true},
      {.verb = verb::find_dead, .look = std::string{find_dead_page}},
      {.verb = verb::purge_tickets,
       .key = 1,
       .many = std::string{purge_tickets_many},
       .many_told = std::string{purged_many},
       .counts = true},
  });
}

}  // namespace rowlock::inline v1::dialect::mysql_parts
