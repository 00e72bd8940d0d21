#include <string>

#include "dialect/postgresql/parts.hpp"

namespace rowlock::inline v1::dialect::postgresql_parts {

namespace {

// Tickets need not survive a crash of the server.
constexpr std::string_view enqueue_one = R"(
INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at, note, lease)
SELECT $1::text, $2::text, $3::text, $4::text, clock_timestamp(),
  clock_timestamp() + $5::bigint * interval '1 microsecond', $6::text, $7::bigint WHERE true{relaxed}
RETURNING attempt, ticket)";

// {free}: of the name of w.
constexpr std::string_view refresh_ticket_many = R"(
WITH wanted AS MATERIALIZED (
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS u (name, attempt, ticket, life)),
kept AS (
  UPDATE rowlock_waiter w SET expires_at = clock_timestamp() + own.life * interval '1 microsecond'
  FROM (SELECT u.ticket, u.life FROM wanted u, LATERAL (
    SELECT FROM rowlock_waiter r WHERE r.ticket = u.ticket AND r.attempt = u.attempt{relaxed}
    FOR NO KEY UPDATE SKIP LOCKED) r) own
  WHERE w.ticket = own.ticket)
SELECT w.attempt, NOT EXISTS (SELECT FROM rowlock_waiter b
    WHERE b.name = w.name AND b.ticket < w.ticket AND b.expires_at > clock_timestamp()
      AND NOT EXISTS (SELECT FROM rowlock_lock l WHERE l.name = b.name AND l.acquisition = b.attempt)) AND {free}
FROM wanted u JOIN rowlock_waiter w ON w.ticket = u.ticket AND w.attempt = u.attempt)";

// The next waiter is looked for only where the name looks free: the database then reads no more of a long queue.
constexpr std::string_view leave_one = R"(
WITH gone AS (DELETE FROM rowlock_waiter WHERE ticket = $3::bigint AND attempt = $2::text{relaxed}{briefly})
SELECT w.attempt, CASE WHEN {free} THEN {telling} END FROM (SELECT $1::text AS name, $2::text AS attempt) w)";

constexpr std::string_view leave_many = R"(
WITH wanted AS MATERIALIZED (
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, attempt, ticket)),
gone AS (
  DELETE FROM rowlock_waiter t USING wanted u
  WHERE t.ticket = u.ticket AND t.attempt = u.attempt{relaxed}{briefly})
SELECT w.attempt, CASE WHEN {free} THEN {telling} END FROM wanted w)";

constexpr std::string_view withdraw_one =
    "DELETE FROM rowlock_waiter WHERE name = $1::text AND attempt = $2::text{relaxed}{briefly}";

// Nothing is written, and no row is locked, where the row says so already. The ticket was committed before: whoever
// clears the mark looks for tickets once more when that is committed.
constexpr std::string_view mark_waiting_one = R"(
WITH marked AS (
  INSERT INTO rowlock_lock (name, version, expires_at, waiting)
  SELECT $1::text, {token}, clock_timestamp(), true
  WHERE NOT EXISTS (SELECT FROM rowlock_lock WHERE name = $1::text AND waiting){relaxed}{briefly}
  ON CONFLICT (name) DO UPDATE SET waiting = true
  RETURNING name)
SELECT name FROM marked UNION ALL SELECT name FROM rowlock_lock WHERE name = $1::text AND waiting)";

constexpr std::string_view clear_waiting_one = R"(
UPDATE rowlock_lock SET waiting = false
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = $1::text AND waiting{relaxed}
    AND NOT EXISTS (SELECT FROM rowlock_waiter WHERE name = $1::text AND expires_at > clock_timestamp())
  FOR NO KEY UPDATE SKIP LOCKED)
RETURNING name)";

constexpr std::string_view first_waiter_one = R"(
SELECT q.owner, pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM (
  SELECT q.owner, q.name FROM rowlock_waiter q
  WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND right(q.owner, 16) <> left($2::text, 16)
  ORDER BY q.ticket LIMIT 1) q, (SELECT $1::text AS name) w
WHERE {free} AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255)";

constexpr std::string_view turns = R"(
SELECT {name}, EXISTS (SELECT FROM rowlock_waiter b
    WHERE b.name = {name} AND b.ticket < {turn} AND b.expires_at > clock_timestamp()
      AND b.attempt IS DISTINCT FROM l.acquisition),
  EXISTS (SELECT FROM rowlock_waiter o WHERE o.ticket = {turn}),
  l.owner IS NULL OR coalesce(l.expires_at <= clock_timestamp(), false), us(l.expires_at - clock_timestamp()), l.version
FROM {wanted} LEFT JOIN rowlock_lock l ON l.name = {name})";

constexpr std::string_view waiters_of_one =
    "SELECT name, ticket, owner, thread, us(clock_timestamp() - enqueued_at), note FROM rowlock_waiter "
    "WHERE name = $1::text AND expires_at > clock_timestamp() ORDER BY ticket";

constexpr std::string_view waiters_of_prefix =
    "SELECT name, ticket, owner, thread, us(clock_timestamp() - enqueued_at), note FROM rowlock_waiter "
    "WHERE name >= $1::text AND ($2::text IS NULL OR name < $2::text) AND expires_at > clock_timestamp() "
    "ORDER BY name, ticket";

constexpr std::string_view ring_one = "SELECT pg_notify('rowlock_' || right($1::text, 16), '')::text";

// In the order of the queues: of each name only the tickets on one page are read.
constexpr std::string_view notify_page = R"(
SELECT name, CASE WHEN {free} THEN {telling} END FROM (
  SELECT DISTINCT name FROM (SELECT name, expires_at FROM rowlock_waiter
    WHERE name > $1::text ORDER BY name, ticket LIMIT $2::bigint) page) w)";

constexpr std::string_view looks_free = R"(NOT EXISTS (SELECT FROM rowlock_lock l
    WHERE l.name = w.name AND l.owner IS NOT NULL AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())))";

// An attempt begins with the id that ends the name of its client's channel. {others}: the waiters of whom the first is
// notified. A text that is no name, or an owner that is no client's id, is not notified: such a ticket was written by
// hand, and NOTIFY would refuse it.
constexpr std::string_view telling = R"(
(SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM (
  SELECT q.owner, q.name FROM rowlock_waiter q
  WHERE q.name = {name} AND q.expires_at > clock_timestamp(){others} ORDER BY q.ticket LIMIT 1) q
WHERE right(q.owner, 16) <> left({mine}, 16) AND octet_length(right(q.owner, 16)) = 16
  AND octet_length(q.name) <= 255))";

std::string leaving(std::string_view text) {
  const auto next = tell_first("w.name", "w.attempt", " AND right(q.owner, 16) <> left(w.attempt, 16)");
  return replaced(replaced(text, "{free}", looks_free), "{telling}", next);
}

std::string turn_of(std::string_view name, std::string_view turn, std::string_view wanted) {
  auto out = replaced(turns, "{name}", name);
  return replaced(replaced(out, "{turn}", turn), "{wanted}", wanted);
}

}  // namespace

std::string tell_first(std::string_view name, std::string_view mine, std::string_view others) {
  auto out = replaced(telling, "{name}", name);
  return replaced(replaced(out, "{mine}", mine), "{others}", others);
}

std::array<step, 13> tickets() {
  return std::to_array<step>({
      {.verb = verb::enqueue, .key = 3, .act = std::string{enqueue_one}},
      {.verb = verb::refresh_ticket, .key = 1, .many = replaced(refresh_ticket_many, "{free}", looks_free)},
      {.verb = verb::leave, .key = 1, .act = leaving(leave_one), .many = leaving(leave_many)},
      {.verb = verb::withdraw, .key = 1, .act = std::string{withdraw_one}},
      {.verb = verb::mark_waiting, .act = std::string{mark_waiting_one}, .waits_to_make = true},
      {.verb = verb::clear_waiting, .act = std::string{clear_waiting_one}},
      {.verb = verb::first_waiter, .look = replaced(first_waiter_one, "{free}", looks_free)},
      {.verb = verb::turn,
       .look = turn_of("$1::text", "$2::bigint", "(SELECT) one"),
       .many = turn_of("w.name", "w.turn", R"((SELECT name COLLATE "C" AS name, turn
         FROM unnest($1::text[], $2::bigint[]) AS u (name, turn)) w)")},
      {.verb = verb::waiters, .look = std::string{waiters_of_one}},
      {.verb = verb::list_waiters, .look = std::string{waiters_of_prefix}},
      {.verb = verb::tell_next,
       .look = "SELECT " + tell_first("$1::text", "$2::text", " AND right(q.owner, 16) <> left($2::text, 16)")},
      {.verb = verb::ring, .look = std::string{ring_one}},
      {.verb = verb::notify_waiters,
       .look = replaced(replaced(notify_page, "{free}", looks_free), "{telling}", tell_first("w.name", "''"))},
  });
}

}  // namespace rowlock::inline v1::dialect::postgresql_parts
