#include <string>

#include "dialect/postgresql/parts.hpp"

namespace rowlock::inline v1::dialect::postgresql_parts {

namespace {

// Tickets need not survive a crash of the server.
constexpr std::string_view enqueue_one = R"(
INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at, note, lease, room)
SELECT $1::text, $2::text, $3::text, $4::text, clock_timestamp(),
  clock_timestamp() + $5::bigint * interval '1 microsecond', $6::text, $7::bigint, $8::bigint WHERE true{relaxed}
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
      AND (b.room IS DISTINCT FROM 9223372036854775807 OR w.room IS DISTINCT FROM 9223372036854775807)
      AND (b.room IS DISTINCT FROM -2 OR {insists})
      AND NOT EXISTS (SELECT FROM rowlock_lock l WHERE l.name = b.name AND l.acquisition = b.attempt)) AND ({free}
    OR EXISTS (SELECT FROM rowlock_lock l WHERE l.name = w.name AND l.owner = '(shared)' AND l.sharers <= w.room)),
  EXISTS (SELECT FROM rowlock_lock l WHERE l.name = w.name AND l.waiting)
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
// clears the mark looks for tickets once more when that is committed. A row that is seen is not made, as by every
// insert: it may be deleted just now, and the floor seen was that before.
constexpr std::string_view mark_waiting_one = R"(
WITH marked AS (
  UPDATE rowlock_lock SET waiting = true WHERE name = $1::text AND NOT waiting{relaxed}{briefly}
  RETURNING name),
made AS (
  INSERT INTO rowlock_lock (name, version, expires_at, waiting)
  SELECT $1::text, {first_token}, clock_timestamp(), true
  WHERE NOT EXISTS (SELECT FROM rowlock_lock WHERE name = $1::text){relaxed}{briefly}
  ON CONFLICT (name) DO UPDATE SET waiting = true
  RETURNING name)
SELECT name FROM marked UNION ALL SELECT name FROM made
UNION ALL SELECT name FROM rowlock_lock WHERE name = $1::text AND waiting)";

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
      AND CASE WHEN {patience} = 0 THEN true WHEN b.room = -2 OR (b.room < -1 AND {patience} > 0) THEN {insists}
        WHEN {patience} < 0 THEN true
        ELSE {room} >= 0 AND b.enqueued_at <= clock_timestamp() - {patience} * interval '1 microsecond' END
      AND (b.room IS DISTINCT FROM 9223372036854775807 OR {room} <> 9223372036854775807)
      AND b.attempt IS DISTINCT FROM l.acquisition),
  EXISTS (SELECT FROM rowlock_waiter o WHERE o.ticket = {turn}),
  l.owner IS NULL OR coalesce(l.expires_at <= clock_timestamp() OR (l.owner = '(shared)' AND l.sharers <= {room}), false),
  us(l.expires_at - clock_timestamp()), l.version,
  CASE WHEN l.owner IS NOT NULL THEN l.acquisition END, l.waiting
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

// Where the name is shared, the next may be able to share it.
constexpr std::string_view looks_open = R"(NOT EXISTS (SELECT FROM rowlock_lock l
    WHERE l.name = w.name AND l.owner <> '(shared)' AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())))";

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
  return replaced(replaced(text, "{free}", looks_open), "{telling}", next);
}

/// What a look at a queue is given: arguments, or columns of `wanted`.
struct asked {
  std::string_view name;
  std::string_view turn;
  std::string_view room;
  std::string_view patience;
};

std::string turn_of(const asked& by, std::string_view wanted) {
  auto out = replaced(replaced(turns, "{name}", by.name), "{turn}", by.turn);
  out = replaced(replaced(out, "{room}", by.room), "{patience}", by.patience);
  out = replaced(out, "{insists}", replaced(insists, "{q}", "b"));
  return replaced(out, "{wanted}", wanted);
}

constexpr std::string_view declare_held_one = R"(
INSERT INTO rowlock_edge AS e (ticket, name, acquisition) SELECT $1::bigint, $2::text, $3::text WHERE true{relaxed}
ON CONFLICT (ticket, name) DO UPDATE SET acquisition = excluded.acquisition)";

constexpr std::string_view forget_held_one = "DELETE FROM rowlock_edge WHERE ticket = $1::bigint{relaxed}";

// A waiter whose ticket has not gone yet although it shares the name by now does not wait any more.
constexpr std::string_view waiting_holders_all = R"(
SELECT q.name, q.ticket, q.owner, q.thread, e.name
FROM rowlock_edge e JOIN rowlock_waiter q ON q.ticket = e.ticket AND q.expires_at > clock_timestamp()
LEFT JOIN rowlock_lock l
  ON l.name = e.name AND l.owner IS NOT NULL AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())
WHERE (e.acquisition = '' OR l.acquisition = e.acquisition OR EXISTS (SELECT FROM rowlock_share s
    WHERE s.name = e.name AND s.acquisition = e.acquisition AND s.since = l.acquisition
      AND s.expires_at > clock_timestamp()))
  AND NOT EXISTS (SELECT FROM rowlock_share s WHERE s.name = q.name AND s.owner = q.owner AND s.thread = q.thread
    AND s.acquired_at > q.enqueued_at)
ORDER BY q.ticket, e.name)";

constexpr std::string_view purge_held_all = R"(
DELETE FROM rowlock_edge e
WHERE NOT EXISTS (SELECT FROM rowlock_waiter q WHERE q.ticket = e.ticket){relaxed})";

}  // namespace

std::string tell_first(std::string_view name, std::string_view mine, std::string_view others) {
  auto out = replaced(telling, "{name}", name);
  return replaced(replaced(out, "{mine}", mine), "{others}", others);
}

std::array<step, 17> tickets() {
  return std::to_array<step>({
      {.verb = verb::declare_held, .key = 1, .act = std::string{declare_held_one}},
      {.verb = verb::forget_held, .act = std::string{forget_held_one}},
      {.verb = verb::waiting_holders, .look = std::string{waiting_holders_all}},
      {.verb = verb::purge_held, .act = std::string{purge_held_all}},
      {.verb = verb::enqueue, .key = 3, .act = std::string{enqueue_one}},
      {.verb = verb::refresh_ticket,
       .key = 1,
       .many =
           replaced(replaced(refresh_ticket_many, "{free}", looks_free), "{insists}", replaced(insists, "{q}", "b"))},
      {.verb = verb::leave, .key = 1, .act = leaving(leave_one), .many = leaving(leave_many)},
      {.verb = verb::withdraw, .key = 1, .act = std::string{withdraw_one}},
      {.verb = verb::mark_waiting, .act = std::string{mark_waiting_one}, .waits_to_make = true},
      {.verb = verb::clear_waiting, .act = std::string{clear_waiting_one}},
      {.verb = verb::first_waiter, .look = replaced(first_waiter_one, "{free}", looks_open)},
      {.verb = verb::turn,
       .look = turn_of({"$1::text", "$2::bigint", "$3::bigint", "$4::bigint"}, "(SELECT) one"),
       .many = turn_of({"w.name", "w.turn", "w.room", "w.patience"},
                       R"((SELECT name COLLATE "C" AS name, turn, room, patience
         FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) AS u (name, turn, room, patience)) w)")},
      {.verb = verb::waiters, .look = std::string{waiters_of_one}},
      {.verb = verb::list_waiters, .look = std::string{waiters_of_prefix}},
      {.verb = verb::tell_next,
       .look = "SELECT " + tell_first("$1::text", "$2::text", " AND right(q.owner, 16) <> left($2::text, 16)") +
               " WHERE true{relaxed}{briefly}"},
      {.verb = verb::ring, .look = std::string{ring_one}},
      {.verb = verb::notify_waiters,
       .look = replaced(replaced(notify_page, "{free}", looks_open), "{telling}", tell_first("w.name", "''"))},
  });
}

}  // namespace rowlock::inline v1::dialect::postgresql_parts
