#include <string>

#include "dialect/postgresql/parts.hpp"

namespace rowlock::inline v1::dialect::postgresql_parts {

namespace {

// The version is as old as the last change of ownership, also where that change wrote no expiry.
constexpr std::string_view find_unused_page = R"(
WITH page AS MATERIALIZED (
  SELECT name, version, expires_at <= clock_timestamp() - $3::bigint * interval '1 microsecond'
    AND version <= {token} - $3::bigint AS is_unused
  FROM rowlock_lock WHERE name > $1::text ORDER BY name LIMIT $2::bigint)
SELECT name, 1, version FROM page WHERE is_unused UNION ALL (SELECT name, 0, version FROM page ORDER BY name DESC LIMIT 1))";

// In a transaction of its own, before the deletion. To raise it in vain does no harm.
constexpr std::string_view raise_floor_to = R"(
INSERT INTO rowlock_share AS s (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at)
VALUES ('', '', '', 0, $1::bigint, '', '', 'epoch', 'epoch')
ON CONFLICT (name, acquisition) DO UPDATE SET token = excluded.token WHERE s.token < excluded.token)";

// What was seen without a lock is asked for again under it. The deletion waits for the disk: until it is on disk,
// PostgreSQL would not mark the deleted rows when the next page is looked at.
constexpr std::string_view sweep_many = R"(
DELETE FROM rowlock_lock l
USING (SELECT w.name FROM (
    SELECT * FROM unnest($1::text[], $2::bigint[]) AS u (name, retention) ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.expires_at <= clock_timestamp() - w.retention * interval '1 microsecond'
    AND r.version <= {token} - w.retention AND r.version <= {floor}{durably}
  FOR UPDATE SKIP LOCKED) unused) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.name)";

constexpr std::string_view find_dead_page = R"(
WITH page AS MATERIALIZED (
  SELECT ticket, name, attempt, expires_at <= clock_timestamp() - $3::bigint * interval '1 microsecond' AS is_dead
  FROM rowlock_waiter WHERE ticket > $1::bigint ORDER BY ticket LIMIT $2::bigint)
SELECT ticket, name, attempt, 1 FROM page WHERE is_dead
UNION ALL (SELECT ticket, name, attempt, 0 FROM page ORDER BY ticket DESC LIMIT 1))";

constexpr std::string_view purge_tickets_many = R"(
DELETE FROM rowlock_waiter t
USING (SELECT w.ticket FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS u (name, attempt, ticket, retention)) w,
  LATERAL (
    SELECT FROM rowlock_waiter r WHERE r.ticket = w.ticket AND r.attempt = w.attempt
      AND r.expires_at <= clock_timestamp() - w.retention * interval '1 microsecond'{relaxed}
    FOR UPDATE SKIP LOCKED) dead) w
WHERE t.ticket = w.ticket
RETURNING t.attempt)";

}  // namespace

std::array<step, 5> housekeeping() {
  return std::to_array<step>({
      {.verb = verb::find_unused, .look = std::string{find_unused_page}},
      {.verb = verb::raise_floor, .act = std::string{raise_floor_to}},
      {.verb = verb::sweep, .many = std::string{sweep_many}},
      {.verb = verb::find_dead, .look = std::string{find_dead_page}},
      {.verb = verb::purge_tickets, .key = 1, .many = std::string{purge_tickets_many}},
  });
}

}  // namespace rowlock::inline v1::dialect::postgresql_parts
