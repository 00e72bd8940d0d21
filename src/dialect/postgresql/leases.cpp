#include <string>

#include "dialect/postgresql/parts.hpp"

namespace rowlock::inline v1::dialect::postgresql_parts {

namespace {

// {in_turn}: what must be true of the queue, too. {unchanged}: and of the row. Where somebody waits, a row that is free
// is not taken before the queue was seen.
constexpr std::string_view granting_one = R"(
WITH seen AS MATERIALIZED (
  SELECT owner, expires_at, waiting{of_holder} FROM rowlock_lock WHERE name = $1::text),{queue}
taken AS (
  UPDATE rowlock_lock SET version = greatest(version + 1, {token}), owner = $2::text, thread = $3::text,
    acquisition = $4::text, acquired_at = clock_timestamp(),
    expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond', note = $6::text
  WHERE name = (SELECT name FROM rowlock_lock
    WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp()){unchanged}{in_turn}{durably}
    FOR UPDATE SKIP LOCKED)
  RETURNING version),
made AS (
  INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT $1::text, {first_token}, $2::text, $3::text, $4::text, clock_timestamp(),
    clock_timestamp() + $5::bigint * interval '1 microsecond', $6::text
  WHERE NOT EXISTS (SELECT FROM seen){in_turn}{durably}{briefly} ON CONFLICT (name) DO NOTHING
  RETURNING version))";

constexpr std::string_view acquired_one = R"(
SELECT $4::text, NULL::bigint, us(expires_at - clock_timestamp()), (owner = '(shared)')::integer FROM seen
WHERE waiting OR (owner IS NOT NULL AND (expires_at IS NULL OR expires_at > clock_timestamp()))
UNION ALL SELECT $4::text, version, $5::bigint, 0 FROM taken
UNION ALL SELECT $4::text, version, $5::bigint, 0 FROM made)";

constexpr std::string_view acquire_many = R"(
WITH wanted AS MATERIALIZED (
  SELECT w.*, l.name IS NULL AS is_new,
    l.owner IS NOT NULL AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp()) AS is_busy, l.expires_at,
    (l.owner = '(shared)')::integer AS is_shared, l.waiting
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[])
    AS w (name, owner, thread, acquisition, lease, note)
  LEFT JOIN rowlock_lock l ON l.name = w.name COLLATE "C" ORDER BY w.name COLLATE "C"),
taken AS (
  UPDATE rowlock_lock l SET version = greatest(l.version + 1, us(w.at)), owner = w.owner, thread = w.thread,
    acquisition = w.acquisition, acquired_at = w.at, expires_at = w.at + w.lease * interval '1 microsecond',
    note = w.note
  FROM (SELECT w.*, clock_timestamp() AS at FROM wanted w, LATERAL (
      SELECT FROM rowlock_lock r
      WHERE r.name = w.name COLLATE "C" AND (r.owner IS NULL OR r.expires_at <= clock_timestamp())
        AND NOT r.waiting{durably}
      FOR UPDATE SKIP LOCKED) free
    WHERE NOT w.is_new AND NOT w.is_busy) w
  WHERE l.name = w.name COLLATE "C"
  RETURNING l.acquisition, l.version, w.lease),
made AS (
  INSERT INTO rowlock_lock AS l (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT w.name, greatest({floor} + 1, us(w.at)), w.owner, w.thread, w.acquisition, w.at,
    w.at + w.lease * interval '1 microsecond', w.note
  FROM (SELECT *, clock_timestamp() AS at FROM wanted WHERE is_new{durably}{briefly}) w ON CONFLICT (name) DO NOTHING
  RETURNING l.acquisition, l.version, us(l.expires_at - l.acquired_at) AS lease)
SELECT acquisition, NULL::bigint, us(expires_at - clock_timestamp()), is_shared FROM wanted WHERE is_busy OR waiting
UNION ALL SELECT acquisition, version, lease, 0 FROM taken
UNION ALL SELECT acquisition, version, lease, 0 FROM made)";

// In the order of the batch. Rows that others have locked are skipped, and one that is not free any more once it is
// locked is passed over, as is one that somebody waits for.
constexpr std::string_view acquire_the_first_free = R"(
UPDATE rowlock_lock l SET version = greatest(l.version + 1, us(g.at)), owner = g.owner, thread = g.thread,
  acquisition = g.acquisition, acquired_at = g.at, expires_at = g.at + g.lease * interval '1 microsecond', note = g.note
FROM (SELECT f.*, clock_timestamp() AS at FROM (
    SELECT r.name, w.owner, w.thread, w.acquisition, w.lease, w.note
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[])
      WITH ORDINALITY AS w (name, owner, thread, acquisition, lease, note, place)
    JOIN rowlock_lock r ON r.name = w.name COLLATE "C"
    WHERE (r.owner IS NULL OR r.expires_at <= clock_timestamp()) AND NOT r.waiting{durably}
    ORDER BY w.place LIMIT 1 FOR UPDATE OF r SKIP LOCKED) f) g
WHERE l.name = g.name
RETURNING l.name, l.version, g.lease)";

// Rows that others have locked are skipped, so two that want some of the same names do not wait for each other. The
// clock is read above all of the locks.
constexpr std::string_view acquire_all_of_them = R"(
WITH free AS MATERIALIZED (
  SELECT r.name, w.owner, w.thread, w.acquisition, w.lease, w.note
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::bigint[])
    AS w (name, owner, thread, acquisition, lease, note, version)
  JOIN rowlock_lock r ON r.name = w.name COLLATE "C"
  WHERE (r.owner IS NULL OR r.expires_at <= clock_timestamp())
    AND CASE WHEN w.version = 0 THEN NOT r.waiting ELSE r.version = w.version END{durably}
  ORDER BY r.name FOR UPDATE OF r SKIP LOCKED),
all_of_them AS MATERIALIZED (
  SELECT clock_timestamp() AS at FROM (SELECT count(*) AS number FROM free) f WHERE f.number = cardinality($1::text[]))
UPDATE rowlock_lock l SET version = greatest(l.version + 1, us(a.at)), owner = g.owner, thread = g.thread,
  acquisition = g.acquisition, acquired_at = a.at, expires_at = a.at + g.lease * interval '1 microsecond', note = g.note
FROM all_of_them a, free g
WHERE l.name = g.name
RETURNING l.acquisition, l.version, g.lease)";

constexpr std::string_view compare_and_set_one = R"(
UPDATE rowlock_lock SET version = greatest(version + 1, {token}), owner = $2::text, thread = $3::text,
  acquisition = $4::text, acquired_at = clock_timestamp(),
  expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond', note = $6::text
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = $1::text AND version = $7::bigint AND (owner IS NULL OR expires_at <= clock_timestamp()){durably}
  FOR UPDATE SKIP LOCKED)
RETURNING $4::text, version, $5::bigint)";

// In a transaction that stays open. It answers nothing about a row that it does not get: verb::inspect afterwards does.
constexpr std::string_view hold_one = R"(
UPDATE rowlock_lock SET version = greatest(version + 1, {token})
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp()) FOR UPDATE SKIP LOCKED)
RETURNING name, version)";

// $7: the own ticket, $8: the turn, $9: above 0 for one that only sets keep from the name, until it has been free for a
// second. The queue is as it was when the statement began, and so must the row be: who had the name in between may have
// seen tickets that this statement does not. A ticket by which a release has granted the name does not count: if its
// waiter does not come, others pass.
constexpr std::string_view queue_seen = R"(
queue AS MATERIALIZED (
  SELECT EXISTS (SELECT FROM rowlock_waiter
      WHERE name = $1::text AND ticket < $8::bigint AND expires_at > clock_timestamp()
        AND ($9::bigint = 0 OR ({insists} AND NOT EXISTS (
          SELECT FROM seen WHERE expires_at <= clock_timestamp() - interval '1 second')))
        AND attempt IS DISTINCT FROM (SELECT acquisition FROM seen)) AS is_behind,
    $7::bigint = 0 OR $9::bigint > 0
      OR EXISTS (SELECT FROM rowlock_waiter WHERE ticket = $7::bigint AND owner = $2::text) AS has_place),)";

// What a release has granted to the own ticket is claimed by the same statement: a renewal, which waits for the disk.
constexpr std::string_view acquired_in_turn = R"(,
claimed AS (
  UPDATE rowlock_lock SET expires_at = greatest(expires_at, clock_timestamp() + $5::bigint * interval '1 microsecond')
  WHERE name = (SELECT name FROM rowlock_lock
      WHERE name = $1::text AND owner = $2::text AND expires_at > clock_timestamp()
        AND acquisition = (SELECT attempt FROM rowlock_waiter WHERE ticket = $7::bigint AND owner = $2::text){durably}
      FOR NO KEY UPDATE SKIP LOCKED)
    AND expires_at > clock_timestamp()
  RETURNING acquisition, version),
granted AS MATERIALIZED (SELECT version FROM taken UNION ALL SELECT version FROM made),
gone AS (
  DELETE FROM rowlock_waiter WHERE ticket = (SELECT w.ticket FROM rowlock_waiter w
    WHERE w.ticket = $7::bigint AND w.owner = $2::text AND EXISTS (SELECT FROM granted) FOR UPDATE SKIP LOCKED)
  RETURNING ticket),
passed AS (
  DELETE FROM rowlock_waiter WHERE ticket = (SELECT w.ticket FROM rowlock_waiter w
    WHERE w.name = $1::text AND w.attempt = (SELECT acquisition FROM seen WHERE owner IS NOT NULL)
      AND EXISTS (SELECT FROM granted) FOR UPDATE SKIP LOCKED))
SELECT $4::text, NULL::bigint, us(seen.expires_at - clock_timestamp()), is_behind, has_place, false,
  seen.owner IS NULL, seen.acquisition, seen.version, coalesce((SELECT waiting FROM seen), false)
FROM queue LEFT JOIN seen ON seen.owner IS NOT NULL AND (seen.expires_at IS NULL OR seen.expires_at > clock_timestamp())
WHERE seen.owner IS NOT NULL OR is_behind OR NOT has_place
UNION ALL SELECT $4::text, NULL::bigint, $5::bigint, false, true, false, false, acquisition, version, true FROM claimed
UNION ALL SELECT $4::text, version, $5::bigint, false, true, EXISTS (SELECT FROM gone), true, NULL::text, NULL::bigint, NULL::boolean
FROM granted)";

constexpr std::string_view make_one = R"(
INSERT INTO rowlock_lock (name, version, expires_at)
SELECT $1::text, {first_token}, clock_timestamp() WHERE NOT EXISTS (
  SELECT FROM rowlock_lock WHERE name = $1::text){briefly} ON CONFLICT (name) DO NOTHING)";

// A late holder's renew and confirm find no owner then.
constexpr std::string_view vacate_expired_one = R"(
UPDATE rowlock_lock SET owner = NULL, thread = NULL, note = NULL, version = greatest(version + 1, {token}),
  expires_at = clock_timestamp()
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = $1::text AND owner IS NOT NULL AND expires_at <= clock_timestamp(){releasing} FOR UPDATE SKIP LOCKED))";

// {end}: when the lease ends, by its length. To ask again whether the lease has ended costs nothing, and is still true
// once the row is locked.
constexpr std::string_view prolong_one = R"(
UPDATE rowlock_lock SET expires_at = {end}
WHERE name = (SELECT name FROM rowlock_lock
    WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL AND expires_at > clock_timestamp(){durably}
    FOR NO KEY UPDATE SKIP LOCKED)
  AND expires_at > clock_timestamp()
RETURNING acquisition, us(expires_at - clock_timestamp()))";

constexpr std::string_view prolong_many = R"(
UPDATE rowlock_lock l SET expires_at = {end}
FROM (SELECT w.*, clock_timestamp() AS at FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, lease)
    ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND r.expires_at > clock_timestamp(){durably}
  FOR NO KEY UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C" AND l.expires_at > w.at
RETURNING l.acquisition, us(l.expires_at - w.at))";

// Unlike a renewal it changes the version, so it waits for a pin, as every change of ownership does.
constexpr std::string_view reserve_one = R"(
UPDATE rowlock_lock l SET version = greatest(version + $4::bigint, {token}),
  expires_at = greatest(expires_at, clock_timestamp() + $3::bigint * interval '1 microsecond')
WHERE name = (SELECT name FROM rowlock_lock
    WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL AND expires_at > clock_timestamp(){durably}
    FOR UPDATE SKIP LOCKED)
  AND expires_at > clock_timestamp()
RETURNING acquisition, us(expires_at - clock_timestamp()), version,
  (EXISTS (SELECT FROM rowlock_waiter w
    WHERE w.name = $1::text AND w.owner <> l.owner AND w.expires_at > clock_timestamp()))::integer)";

constexpr std::string_view release_alone_one = R"(
UPDATE rowlock_lock SET owner = NULL, thread = NULL, note = NULL, version = greatest(version + 1, {token}),
  expires_at = clock_timestamp()
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL AND NOT waiting{releasing}
  FOR UPDATE SKIP LOCKED)
RETURNING acquisition)";

constexpr std::string_view release_alone_many = R"(
UPDATE rowlock_lock l SET owner = NULL, thread = NULL, note = NULL, version = greatest(l.version + 1, us(w.at)),
  expires_at = w.at
FROM (SELECT w.*, clock_timestamp() AS at FROM (
    SELECT * FROM unnest($1::text[], $2::text[]) AS u (name, acquisition) ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND NOT r.waiting{releasing}
  FOR UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.acquisition)";

// Grants the name to the first waiter, if that waits for it, or tells it. The lease does not end later than before: to
// raise it would have to wait for the disk. The ticket by which the name was granted before, if it is still there,
// goes: the next release must not take it for the first. A ticket that is just being deleted is skipped, and one that
// is granted is deleted after that: so who has deleted it need only look once whether the name was granted to it.
// {wanted}: the requests.
constexpr std::string_view release_to_the_first = R"(
WITH spent AS (
  DELETE FROM rowlock_waiter WHERE ticket IN (
    SELECT t.ticket FROM {wanted} w JOIN rowlock_waiter t ON t.name = w.name COLLATE "C" AND t.attempt = w.acquisition
    FOR UPDATE OF t SKIP LOCKED))
UPDATE rowlock_lock l SET version = greatest(l.version + 1, us(g.at)), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM {wanted} w CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL{releasing}
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM ({first_waiter}) waits_in_turn
    UNION ALL SELECT * FROM ({first_set}) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16) AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN pg_notify('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting)";

// {of}: which waiters.
constexpr std::string_view first_of_queue = R"(
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AS granted
    FROM rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition{of}
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED)";

// The owner stays in the row, so this does not wait for a pin, like a renewal. It may make the lease longer, which a
// crash of the server must not undo.
constexpr std::string_view defer_release_one = R"(
UPDATE rowlock_lock SET expires_at = acquired_at + $3::bigint * interval '1 microsecond', thread = '(released)'
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL AND expires_at > clock_timestamp(){durably}
  FOR NO KEY UPDATE SKIP LOCKED)
RETURNING acquisition, )";

constexpr std::string_view defer_release_many = R"(
UPDATE rowlock_lock l SET expires_at = l.acquired_at + w.stay * interval '1 microsecond', thread = '(released)'
FROM (SELECT w.* FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, stay)
    ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND r.expires_at > clock_timestamp(){durably}
  FOR NO KEY UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.acquisition, )";

// It does not ask who the owner is: the version says which state of the row was looked at.
constexpr std::string_view free_one = R"(
UPDATE rowlock_lock SET owner = NULL, thread = NULL, note = NULL, version = greatest(version + 1, {token}),
  expires_at = clock_timestamp()
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = $1::text AND version = $2::bigint AND owner IS NOT NULL{durably} FOR UPDATE SKIP LOCKED)
RETURNING name, )";

std::string granting(std::string_view queue, std::string_view in_turn, std::string_view answer) {
  const std::string_view of_holder = queue.empty() ? "" : ", acquisition, version";
  const std::string_view unchanged = queue.empty() ? " AND NOT waiting" : " AND version = (SELECT version FROM seen)";
  const auto seeing = replaced(replaced(granting_one, "{of_holder}", of_holder), "{unchanged}", unchanged);
  const auto seen = replaced(queue, "{insists}", replaced(insists, "{q}", "rowlock_waiter"));
  return replaced(replaced(seeing, "{queue}", seen), "{in_turn}", in_turn) + std::string{answer};
}

// A set that need not wait in turn is told only if nobody else waits, unless it insists.
std::string releasing(std::string_view wanted) {
  const auto in_turn = " AND (q.room IS DISTINCT FROM -2 OR " + replaced(insists, "{q}", "q") + ")";
  auto out = replaced(release_to_the_first, "{first_waiter}", replaced(first_of_queue, "{of}", in_turn));
  out = replaced(out, "{first_set}", replaced(first_of_queue, "{of}", " AND q.room = -2"));
  return replaced(out, "{wanted}", wanted);
}

std::string ending(std::string_view text, std::string_view end) { return replaced(text, "{end}", end); }

}  // namespace

std::array<step, 15> leases() {
  return std::to_array<step>({
      {.verb = verb::acquire,
       .key = 3,
       .act = granting("", "", acquired_one),
       .many = std::string{acquire_many},
       .waits_to_make = true},
      {.verb = verb::acquire_any, .many = std::string{acquire_the_first_free}, .takes_one = true},
      {.verb = verb::acquire_all, .key = 3, .many = std::string{acquire_all_of_them}, .takes_all = true},
      {.verb = verb::compare_and_set, .key = 3, .act = std::string{compare_and_set_one}},
      {.verb = verb::hold, .act = std::string{hold_one}},
      {.verb = verb::acquire_in_turn,
       .key = 3,
       .act = granting(queue_seen, " AND (SELECT has_place AND NOT is_behind FROM queue)", acquired_in_turn),
       .waits_to_make = true},
      {.verb = verb::make, .act = std::string{make_one}, .waits_to_make = true},
      {.verb = verb::vacate_expired, .act = std::string{vacate_expired_one}},
      {.verb = verb::renew,
       .key = 1,
       .act = ending(prolong_one, "greatest(expires_at, clock_timestamp() + $3::bigint * interval '1 microsecond')"),
       .many = ending(prolong_many, "greatest(l.expires_at, w.at + w.lease * interval '1 microsecond')")},
      {.verb = verb::extend,
       .key = 1,
       .act = ending(prolong_one, "clock_timestamp() + $3::bigint * interval '1 microsecond'"),
       .many = ending(prolong_many, "w.at + w.lease * interval '1 microsecond'")},
      {.verb = verb::reserve, .key = 1, .act = std::string{reserve_one}},
      {.verb = verb::release,
       .key = 1,
       .act = releasing("(SELECT $1::text AS name, $2::text AS acquisition)"),
       .many = releasing("(SELECT * FROM unnest($1::text[], $2::text[]) AS u (name, acquisition) "
                         "ORDER BY name COLLATE \"C\")")},
      {.verb = verb::release_alone,
       .key = 1,
       .act = std::string{release_alone_one},
       .many = std::string{release_alone_many}},
      {.verb = verb::defer_release,
       .key = 1,
       .act = std::string{defer_release_one} + tell_first("$1::text", "$2::text"),
       .many = std::string{defer_release_many} + tell_first("l.name", "l.acquisition")},
      {.verb = verb::free, .act = std::string{free_one} + tell_first("$1::text", "''")},
  });
}

}  // namespace rowlock::inline v1::dialect::postgresql_parts
