#include <string>

#include "dialect/dialect.hpp"

namespace rowlock::inline v1::dialect {

// Why each of these is safe: docs/protocol.md, "PostgreSQL". What they have in common: a row is locked, by a sub-select
// that skips what others have locked, before it is changed, and clock_timestamp() is read above that lock. In braces
// stands what depends on the options; us(…) is an interval or a time in microseconds.

namespace {

// {in_turn}: what must be true of the queue, besides.
constexpr std::string_view granting_one = R"(
WITH seen AS MATERIALIZED (SELECT owner, expires_at FROM rowlock_lock WHERE name = $1::text),{queue}
taken AS (
  UPDATE rowlock_lock SET version = greatest(version + 1, {token}), owner = $2::text, thread = $3::text,
    acquisition = $4::text, acquired_at = clock_timestamp(),
    expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond', note = $6::text
  WHERE name = (SELECT name FROM rowlock_lock
    WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp()){in_turn}{durably}
    FOR UPDATE SKIP LOCKED)
  RETURNING version),
made AS (
  INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT $1::text, {token}, $2::text, $3::text, $4::text, clock_timestamp(),
    clock_timestamp() + $5::bigint * interval '1 microsecond', $6::text
  WHERE NOT EXISTS (SELECT FROM seen){in_turn}{durably}{briefly} ON CONFLICT (name) DO NOTHING
  RETURNING version))";

constexpr std::string_view acquired_one = R"(
SELECT $4::text, NULL::bigint, us(expires_at - clock_timestamp()) FROM seen
WHERE owner IS NOT NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())
UNION ALL SELECT $4::text, version, $5::bigint FROM taken
UNION ALL SELECT $4::text, version, $5::bigint FROM made)";

// $7: the own ticket, $8: the turn. The queue is as it was when the statement began.
constexpr std::string_view queue_seen = R"(
queue AS MATERIALIZED (
  SELECT EXISTS (SELECT FROM rowlock_waiter
      WHERE name = $1::text AND ticket < $8::bigint AND expires_at > clock_timestamp()) AS is_behind,
    $7::bigint <> $8::bigint
      OR EXISTS (SELECT FROM rowlock_waiter WHERE ticket = $7::bigint AND owner = $2::text) AS has_place),)";

constexpr std::string_view acquired_in_turn = R"(,
granted AS MATERIALIZED (SELECT version FROM taken UNION ALL SELECT version FROM made),
gone AS (
  DELETE FROM rowlock_waiter WHERE ticket = (SELECT w.ticket FROM rowlock_waiter w
    WHERE w.ticket = $7::bigint AND w.owner = $2::text AND EXISTS (SELECT FROM granted) FOR UPDATE SKIP LOCKED)
  RETURNING ticket)
SELECT $4::text, NULL::bigint, us(seen.expires_at - clock_timestamp()), is_behind, has_place, false, seen.owner IS NULL
FROM queue LEFT JOIN seen ON seen.owner IS NOT NULL AND (seen.expires_at IS NULL OR seen.expires_at > clock_timestamp())
WHERE seen.owner IS NOT NULL OR is_behind OR NOT has_place
UNION ALL SELECT $4::text, version, $5::bigint, false, true, EXISTS (SELECT FROM gone), true FROM granted)";

// Tickets need not outlive a crash of the server.
constexpr std::string_view enqueue_one = R"(
INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at)
SELECT $1::text, $2::text, $3::text, $4::text, clock_timestamp(),
  clock_timestamp() + $5::bigint * interval '1 microsecond' WHERE true{relaxed}
RETURNING attempt, ticket)";

// {free}: of the name of w.
constexpr std::string_view stay_many = R"(
WITH wanted AS MATERIALIZED (
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS u (name, attempt, ticket, life)),
kept AS (
  UPDATE rowlock_waiter w SET expires_at = clock_timestamp() + own.life * interval '1 microsecond'
  FROM (SELECT u.ticket, u.life FROM wanted u, LATERAL (
    SELECT FROM rowlock_waiter r WHERE r.ticket = u.ticket AND r.attempt = u.attempt{relaxed}
    FOR NO KEY UPDATE SKIP LOCKED) r) own
  WHERE w.ticket = own.ticket)
SELECT w.attempt, NOT EXISTS (SELECT FROM rowlock_waiter b
    WHERE b.name = w.name AND b.ticket < w.ticket AND b.expires_at > clock_timestamp()) AND {free}
FROM wanted u JOIN rowlock_waiter w ON w.ticket = u.ticket AND w.attempt = u.attempt)";

constexpr std::string_view looks_free = R"(NOT EXISTS (SELECT FROM rowlock_lock l
    WHERE l.name = w.name AND l.owner IS NOT NULL AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())))";

// An attempt begins with the id that its client's channel ends with. {others}: of whom to tell the first. Nobody is
// told of what is no name, or by what is no client's: such a ticket was written by hand, and NOTIFY would refuse it.
constexpr std::string_view telling = R"(
(SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM (
  SELECT q.owner, q.name FROM rowlock_waiter q
  WHERE q.name = {name} AND q.expires_at > clock_timestamp(){others} ORDER BY q.ticket LIMIT 1) q
WHERE right(q.owner, 16) <> left({mine}, 16) AND octet_length(right(q.owner, 16)) = 16
  AND octet_length(q.name) <= 255))";

// The next is looked for only where the name looks free: of a long queue the database reads nothing else.
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

// By the order of the queues: of each name only what is on one page is read.
constexpr std::string_view announcing = R"(
SELECT name, CASE WHEN {free} THEN {telling} END FROM (
  SELECT DISTINCT name FROM (SELECT name, expires_at FROM rowlock_waiter
    WHERE name > $1::text ORDER BY name, ticket LIMIT $2::bigint) page) w)";

// The version is as old as the last change of ownership, also where that wrote no expiry.
constexpr std::string_view find_unused = R"(
WITH page AS MATERIALIZED (
  SELECT name, expires_at <= clock_timestamp() - $3::bigint * interval '1 microsecond'
    AND version <= {token} - $3::bigint AS is_unused
  FROM rowlock_lock WHERE name > $1::text ORDER BY name LIMIT $2::bigint)
SELECT name, 1 FROM page WHERE is_unused UNION ALL (SELECT name, 0 FROM page ORDER BY name DESC LIMIT 1))";

// What was seen without a lock is asked for again under it. It waits for the disk: until then PostgreSQL would not mark
// what is gone when the next page is looked at.
constexpr std::string_view sweep_many = R"(
DELETE FROM rowlock_lock l
USING (SELECT w.name FROM (
    SELECT * FROM unnest($1::text[], $2::bigint[]) AS u (name, retention) ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.expires_at <= clock_timestamp() - w.retention * interval '1 microsecond'
    AND r.version <= {token} - w.retention{durably}
  FOR UPDATE SKIP LOCKED) unused) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.name)";

constexpr std::string_view find_dead = R"(
WITH page AS MATERIALIZED (
  SELECT ticket, name, attempt, expires_at <= clock_timestamp() - $3::bigint * interval '1 microsecond' AS is_dead
  FROM rowlock_waiter WHERE ticket > $1::bigint ORDER BY ticket LIMIT $2::bigint)
SELECT ticket, name, attempt, 1 FROM page WHERE is_dead
UNION ALL (SELECT ticket, name, attempt, 0 FROM page ORDER BY ticket DESC LIMIT 1))";

constexpr std::string_view bury_many = R"(
DELETE FROM rowlock_waiter t
USING (SELECT w.ticket FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS u (name, attempt, ticket, retention)) w,
  LATERAL (
    SELECT FROM rowlock_waiter r WHERE r.ticket = w.ticket AND r.attempt = w.attempt
      AND r.expires_at <= clock_timestamp() - w.retention * interval '1 microsecond'{relaxed}
    FOR UPDATE SKIP LOCKED) dead) w
WHERE t.ticket = w.ticket
RETURNING t.attempt)";

constexpr std::string_view turns = R"(
SELECT {name}, EXISTS (SELECT FROM rowlock_waiter b
    WHERE b.name = {name} AND b.ticket < {turn} AND b.expires_at > clock_timestamp()),
  EXISTS (SELECT FROM rowlock_waiter o WHERE o.ticket = {turn}),
  l.owner IS NULL OR coalesce(l.expires_at <= clock_timestamp(), false), us(l.expires_at - clock_timestamp()), l.version
FROM {wanted} LEFT JOIN rowlock_lock l ON l.name = {name})";

// In a transaction that stays open. Of a row that it does not get it says nothing: a look afterwards does.
constexpr std::string_view hold_one = R"(
UPDATE rowlock_lock SET version = greatest(version + 1, {token})
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp()) FOR UPDATE SKIP LOCKED)
RETURNING name, version)";

constexpr std::string_view compare_and_set_one = R"(
UPDATE rowlock_lock SET version = greatest(version + 1, {token}), owner = $2::text, thread = $3::text,
  acquisition = $4::text, acquired_at = clock_timestamp(),
  expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond', note = $6::text
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = $1::text AND version = $7::bigint AND (owner IS NULL OR expires_at <= clock_timestamp()){durably}
  FOR UPDATE SKIP LOCKED)
RETURNING $4::text, version, $5::bigint)";

constexpr std::string_view make_one = R"(
INSERT INTO rowlock_lock (name, version, expires_at)
SELECT $1::text, {token}, clock_timestamp() WHERE true{briefly} ON CONFLICT (name) DO NOTHING)";

constexpr std::string_view acquire_many = R"(
WITH wanted AS MATERIALIZED (
  SELECT w.*, l.name IS NULL AS is_new,
    l.owner IS NOT NULL AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp()) AS is_busy, l.expires_at
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[])
    AS w (name, owner, thread, acquisition, lease, note)
  LEFT JOIN rowlock_lock l ON l.name = w.name COLLATE "C" ORDER BY w.name COLLATE "C"),
taken AS (
  UPDATE rowlock_lock l SET version = greatest(l.version + 1, us(w.at)), owner = w.owner, thread = w.thread,
    acquisition = w.acquisition, acquired_at = w.at, expires_at = w.at + w.lease * interval '1 microsecond',
    note = w.note
  FROM (SELECT w.*, clock_timestamp() AS at FROM wanted w, LATERAL (
      SELECT FROM rowlock_lock r
      WHERE r.name = w.name COLLATE "C" AND (r.owner IS NULL OR r.expires_at <= clock_timestamp()){durably}
      FOR UPDATE SKIP LOCKED) free
    WHERE NOT w.is_new AND NOT w.is_busy) w
  WHERE l.name = w.name COLLATE "C"
  RETURNING l.acquisition, l.version, w.lease),
made AS (
  INSERT INTO rowlock_lock AS l (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT w.name, us(w.at), w.owner, w.thread, w.acquisition, w.at, w.at + w.lease * interval '1 microsecond', w.note
  FROM (SELECT *, clock_timestamp() AS at FROM wanted WHERE is_new{durably}{briefly}) w ON CONFLICT (name) DO NOTHING
  RETURNING l.acquisition, l.version, us(l.expires_at - l.acquired_at) AS lease)
SELECT acquisition, NULL::bigint, us(expires_at - clock_timestamp()) FROM wanted WHERE is_busy
UNION ALL SELECT acquisition, version, lease FROM taken
UNION ALL SELECT acquisition, version, lease FROM made)";

// {end}: when the lease ends, by its length. Asking again whether it has ended costs nothing, and holds after the lock.
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

constexpr std::string_view release_one = R"(
UPDATE rowlock_lock SET owner = NULL, thread = NULL, note = NULL, version = greatest(version + 1, {token}),
  expires_at = clock_timestamp()
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL{releasing} FOR UPDATE SKIP LOCKED)
RETURNING acquisition, )";

// Whose it was is not asked: the version says what was looked at.
constexpr std::string_view free_one = R"(
UPDATE rowlock_lock SET owner = NULL, thread = NULL, note = NULL, version = greatest(version + 1, {token}),
  expires_at = clock_timestamp()
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = $1::text AND version = $2::bigint AND owner IS NOT NULL{durably} FOR UPDATE SKIP LOCKED)
RETURNING name, )";

// The late holder's renew and confirm find no owner then.
constexpr std::string_view vacate_expired_one = R"(
UPDATE rowlock_lock SET owner = NULL, thread = NULL, note = NULL, version = greatest(version + 1, {token}),
  expires_at = clock_timestamp()
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = $1::text AND owner IS NOT NULL AND expires_at <= clock_timestamp(){releasing} FOR UPDATE SKIP LOCKED))";

constexpr std::string_view release_many = R"(
UPDATE rowlock_lock l SET owner = NULL, thread = NULL, note = NULL, version = greatest(l.version + 1, us(w.at)),
  expires_at = w.at
FROM (SELECT w.*, clock_timestamp() AS at FROM (
    SELECT * FROM unnest($1::text[], $2::text[]) AS u (name, acquisition) ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL{releasing}
  FOR UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.acquisition, )";

// The owner stays, so it passes a pin, as a renewal does. It may make the lease longer, which a crash of the server
// must not undo.
constexpr std::string_view linger_one = R"(
UPDATE rowlock_lock SET expires_at = acquired_at + $3::bigint * interval '1 microsecond'
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL AND expires_at > clock_timestamp(){durably}
  FOR NO KEY UPDATE SKIP LOCKED)
RETURNING acquisition, )";

constexpr std::string_view linger_many = R"(
UPDATE rowlock_lock l SET expires_at = l.acquired_at + w.stay * interval '1 microsecond'
FROM (SELECT w.* FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, stay)
    ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND r.expires_at > clock_timestamp(){durably}
  FOR NO KEY UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.acquisition, )";

constexpr std::string_view inspection = R"(
SELECT name, version, owner, thread, acquisition, us(clock_timestamp() - acquired_at),
  us(expires_at - clock_timestamp()), note, expires_at IS NULL FROM rowlock_lock WHERE )";

constexpr std::string_view of_prefix = R"(
name >= $1::text AND ($2::text IS NULL OR name < $2::text) AND owner IS NOT NULL
AND (expires_at IS NULL OR expires_at > clock_timestamp()) ORDER BY name)";

// The row is vacant and had been locked by nobody.
constexpr std::string_view unlocked = R"(, EXISTS (
  SELECT FROM rowlock_lock l WHERE l.name = $1::text AND l.owner IS NULL{releasing} FOR UPDATE SKIP LOCKED)::integer
FROM rowlock_lock WHERE )";

// Whoever has changed a row and not committed stands in its xmax, and in pg_locks for as long as it is under way.
constexpr std::string_view held_by_transactions = R"(
WITH held AS MATERIALIZED (
  SELECT k.transactionid, k.pid, a.application_name, a.xact_start
  FROM pg_locks k LEFT JOIN pg_stat_activity a ON a.pid = k.pid
  WHERE k.locktype = 'transactionid' AND k.granted AND k.mode = 'ExclusiveLock')
SELECT l.name, 0::bigint, h.application_name, 'session ' || h.pid, NULL::text,
  us(clock_timestamp() - h.xact_start), NULL::bigint, NULL::text, true
FROM rowlock_lock l JOIN held h ON h.transactionid = l.xmax
WHERE (l.owner IS NULL OR l.expires_at <= clock_timestamp()) AND )";

// Where several have had the row locked at once, its xmax is the number of a list of them. Nothing tells which of the
// two it is, so whoever is found by it must at least have locked something in this table.
constexpr std::string_view keepers = R"(
WITH named AS MATERIALIZED (SELECT name, xmax AS keeper FROM rowlock_lock WHERE name = $1::text),
several AS MATERIALIZED (
  SELECT name, CASE WHEN mxid_age(keeper) BETWEEN 1 AND (SELECT max(mxid_age(datminmxid)) FROM pg_database)
    THEN keeper END AS list FROM named),
keepers AS MATERIALIZED (
  SELECT name, keeper, 1 AS place FROM named
  UNION ALL SELECT s.name, m.xid, 2 FROM several s, LATERAL pg_get_multixact_members(s.list) m),
found AS MATERIALIZED (
  SELECT f.name, f.place, k.pid FROM keepers f JOIN pg_locks k ON k.transactionid = f.keeper
  WHERE k.locktype = 'transactionid' AND k.granted AND k.mode = 'ExclusiveLock' AND EXISTS (SELECT FROM pg_locks t
    WHERE t.pid = k.pid AND t.locktype = 'relation' AND t.relation = 'rowlock_lock'::regclass AND t.granted
      AND t.database = (SELECT oid FROM pg_database WHERE datname = current_database()))))";

constexpr std::string_view pinning = R"(
SELECT f.name, 0::bigint, a.application_name, 'session ' || f.pid, NULL::text,
  us(clock_timestamp() - a.xact_start), NULL::bigint, NULL::text, true
FROM found f LEFT JOIN pg_stat_activity a ON a.pid = f.pid ORDER BY f.place, f.pid LIMIT 1)";

constexpr std::string_view end_keeper = R"(
SELECT pg_terminate_backend(pid)::integer FROM (SELECT DISTINCT pid FROM found WHERE pid = $2::integer) f)";

// A number that is read as both may make it seem as if others kept the row, too.
constexpr std::string_view kept_alone = R"(
SELECT 1 FROM found HAVING count(*) > 0 AND bool_and(pid = $2::integer))";

constexpr std::string_view of_prefix_held = R"(
l.name >= $1::text AND ($2::text IS NULL OR l.name < $2::text) ORDER BY l.name)";

constexpr std::string_view schema_state = R"(
SELECT version, serves_from, installation, us(applied_at), us(clock_timestamp())
FROM rowlock_migration ORDER BY version DESC LIMIT 1)";

// A copy of a database has the same installation id; where it stands, the other has not.
constexpr std::string_view this_home = R"(
(SELECT installation || '/' || encode(convert_to(current_database(), 'UTF8'), 'hex') || '/'
    || 'rowlock_lock'::regclass::oid::text
  FROM rowlock_migration WHERE version = 1))";

// In a transaction of the caller's, whose client_encoding may be any: {1} and so on are UTF-8 in hexadecimal. The row
// is left alone at any other home. $4: what the client has let go of, and cannot vacate over its pool because this very
// transaction has it pinned.
constexpr std::string_view take_here = R"(
WITH home AS MATERIALIZED (SELECT coalesce({home} = $2::text, false) AS is_here),
taken AS (
  UPDATE rowlock_lock SET version = greatest(version + 1, {token}), owner = NULL, thread = NULL, note = {3},
    expires_at = clock_timestamp()
  WHERE name = (SELECT name FROM rowlock_lock
    WHERE name = {1} AND (owner IS NULL OR acquisition = $4::text) AND (SELECT is_here FROM home) FOR UPDATE{or_skip})
  RETURNING version)
SELECT (SELECT is_here::integer FROM home), (SELECT version FROM taken),
  (SELECT (owner IS NULL)::integer FROM rowlock_lock WHERE name = {1}), current_setting('transaction_isolation'))";

// The clock is read above the lock.
constexpr std::string_view pin_here = R"(
SELECT coalesce({home} = $3::text, false)::integer, (SELECT (expires_at > clock_timestamp())::integer FROM (
    SELECT expires_at FROM rowlock_lock WHERE name = {1} AND acquisition = $2::text AND owner IS NOT NULL
    FOR KEY SHARE SKIP LOCKED) own), current_setting('transaction_isolation'))";

constexpr std::string_view set_here = R"(
WITH home AS MATERIALIZED (SELECT coalesce({home} = $2::text, false) AS is_here),
changed AS (
  UPDATE rowlock_lock SET version = greatest(version + 1, {token})
  WHERE name = (SELECT name FROM rowlock_lock
    WHERE name = {1} AND version = $3::bigint AND owner IS NULL AND (SELECT is_here FROM home) FOR UPDATE SKIP LOCKED)
  RETURNING version)
SELECT (SELECT is_here::integer FROM home), (SELECT version FROM changed))";

// Privileges are asked for even where nothing is written.
constexpr std::string_view writing_nothing = R"(
WITH made AS (INSERT INTO rowlock_lock (name, version) SELECT '', 0 WHERE false),
  changed AS (UPDATE rowlock_lock SET version = version WHERE false),
  waiting AS (INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at)
    SELECT '', '', '', '', now(), now() WHERE false),
  staying AS (UPDATE rowlock_waiter SET expires_at = expires_at WHERE false),
  leaving AS (DELETE FROM rowlock_waiter WHERE false)
DELETE FROM rowlock_lock WHERE false)";

constexpr std::string_view settings_here = R"(
SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_standby_names')
UNION ALL SELECT 'server', 'PostgreSQL ' || current_setting('server_version')
UNION ALL SELECT 'user', current_user::text
UNION ALL SELECT 'database', current_database()::text
UNION ALL SELECT 'encrypted', ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()
UNION ALL SELECT 'standbys', count(*)::text FROM pg_stat_replication
UNION ALL SELECT 'may_end_sessions', pg_has_role('pg_signal_backend', 'USAGE')::text)";

constexpr std::string_view counts = R"(
SELECT (SELECT count(*) FROM rowlock_lock), count(*), us(clock_timestamp() - min(enqueued_at))
FROM rowlock_waiter WHERE expires_at > clock_timestamp())";

// What somebody has set to infinity by hand is far away: to reckon with it would be an error, for whoever reads the
// row.
std::string with_finite_times(std::string text) {
  constexpr std::string_view finite =
      "(CASE % WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' "
      "WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE % END)";
  for (const std::string_view of : {"expires_at", "l.expires_at", "acquired_at", "enqueued_at"})
    for (const std::string_view use : {" us(% - ", " us(clock_timestamp() - %)", "min(%)"})
      text = replaced(text, replaced(use, "%", of), replaced(use, "%", replaced(finite, "%", of)));
  return text;
}

// us(…) to its closing bracket: brackets inside are balanced.
std::string with_microseconds(std::string text) {
  constexpr std::string_view begin = " us(";
  for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    auto end = at + begin.size();
    for (int depth = 1; depth > 0; ++end) depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
    text.insert(end, " * 1000000)::bigint");
    text.replace(at, begin.size(), " (extract(epoch FROM ");
  }
  return text;
}

std::string setting(std::string_view name, std::string_view value) {
  return " AND set_config('" + std::string{name} + "', '" + std::string{value} + "', true) IS NOT NULL";
}

/// Settings live in the session, unless it is shared: then each statement brings them along, for its transaction.
std::string finished(std::string_view text, const choices& with) {
  const auto durable = with.transaction_pooling ? setting("synchronous_commit", "on") : std::string{};
  const auto relaxed = setting("synchronous_commit", "off");
  auto out = replaced(text, "{token}", "us(clock_timestamp())");
  out = replaced(out, "{durably}", durable);
  out = replaced(out, "{relaxed}", relaxed);
  out = replaced(out, "{releasing}", with.durable_release ? durable : relaxed);
  out = replaced(out, "{briefly}", with.transaction_pooling ? setting("lock_timeout", "100ms") : std::string{});
  return with_microseconds(with_finite_times(std::move(out)));
}

std::string granting(std::string_view queue, std::string_view in_turn, std::string_view answer) {
  return replaced(replaced(granting_one, "{queue}", queue), "{in_turn}", in_turn) + std::string{answer};
}

/// Tells the first in the queue of a name that is let go by `mine`, in a column of its own.
std::string tell_first(std::string_view name, std::string_view mine, std::string_view others = {}) {
  auto out = replaced(telling, "{name}", name);
  return replaced(replaced(out, "{mine}", mine), "{others}", others);
}

std::string leaving(std::string_view text) {
  const auto next = tell_first("w.name", "w.attempt", " AND right(q.owner, 16) <> left(w.attempt, 16)");
  return replaced(replaced(text, "{free}", looks_free), "{telling}", next);
}

std::string turn_of(std::string_view name, std::string_view turn, std::string_view wanted) {
  auto out = replaced(turns, "{name}", name);
  return replaced(replaced(out, "{turn}", turn), "{wanted}", wanted);
}

std::string ending(std::string_view text, std::string_view end) { return replaced(text, "{end}", end); }

}  // namespace

table postgresql(std::string_view prefix, const choices& with) {
  const auto inspecting_and = [](std::string_view more) {
    return replaced(inspection, " FROM rowlock_lock WHERE ", more);
  };
  const auto inspecting = [](std::string_view where) { return std::string{inspection} + std::string{where}; };
  step steps[] = {
      {.verb = verb::acquire,
       .key = 3,
       .act = granting("", "", acquired_one),
       .many = std::string{acquire_many},
       .waits_to_make = true},
      {.verb = verb::hold, .act = std::string{hold_one}},
      {.verb = verb::compare_and_set, .key = 3, .act = std::string{compare_and_set_one}},
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
      {.verb = verb::release,
       .key = 1,
       .act = std::string{release_one} + tell_first("$1::text", "$2::text"),
       .many = std::string{release_many} + tell_first("l.name", "l.acquisition")},
      {.verb = verb::linger,
       .key = 1,
       .act = std::string{linger_one} + tell_first("$1::text", "$2::text"),
       .many = std::string{linger_many} + tell_first("l.name", "l.acquisition")},
      {.verb = verb::free, .act = std::string{free_one} + tell_first("$1::text", "''")},
      {.verb = verb::find_pinning, .look = std::string{keepers} + std::string{pinning}},
      {.verb = verb::end_session, .act = std::string{keepers} + std::string{end_keeper}},
      {.verb = verb::acquire_in_turn,
       .key = 3,
       .act = granting(queue_seen, " AND (SELECT has_place AND NOT is_behind FROM queue)", acquired_in_turn),
       .waits_to_make = true},
      {.verb = verb::enqueue, .key = 3, .act = std::string{enqueue_one}},
      {.verb = verb::stay, .key = 1, .many = replaced(stay_many, "{free}", looks_free)},
      {.verb = verb::leave, .key = 1, .act = leaving(leave_one), .many = leaving(leave_many)},
      {.verb = verb::withdraw,
       .key = 1,
       .act = "DELETE FROM rowlock_waiter WHERE name = $1::text AND attempt = $2::text{relaxed}{briefly}"},
      {.verb = verb::turn,
       .look = turn_of("$1::text", "$2::bigint", "(SELECT) one"),
       .many = turn_of("w.name", "w.turn", R"((SELECT name COLLATE "C" AS name, turn
         FROM unnest($1::text[], $2::bigint[]) AS u (name, turn)) w)")},
      {.verb = verb::waiters,
       .look = "SELECT ticket, owner, thread, us(clock_timestamp() - enqueued_at) FROM rowlock_waiter "
               "WHERE name = $1::text AND expires_at > clock_timestamp() ORDER BY ticket"},
      {.verb = verb::tell_next, .look = "SELECT " + tell_first("$1::text", "$2::text")},
      {.verb = verb::ring, .look = "SELECT pg_notify('rowlock_' || right($1::text, 16), '')::text"},
      {.verb = verb::announce,
       .look = replaced(replaced(announcing, "{free}", looks_free), "{telling}", tell_first("w.name", "''"))},
      {.verb = verb::find_unused, .look = std::string{find_unused}},
      {.verb = verb::sweep, .many = std::string{sweep_many}},
      {.verb = verb::find_dead, .look = std::string{find_dead}},
      {.verb = verb::bury, .key = 1, .many = std::string{bury_many}},
      {.verb = verb::inspect, .look = inspecting("name = $1::text"), .many = inspecting("name = ANY ($1::text[])")},
      {.verb = verb::list, .look = inspecting(of_prefix)},
      {.verb = verb::find_held, .look = std::string{held_by_transactions} + "l.name = $1::text"},
      {.verb = verb::list_held, .look = std::string{held_by_transactions} + std::string{of_prefix_held}},
      {.verb = verb::beat, .look = "SELECT 1"},
      {.verb = verb::touch, .look = inspecting_and(unlocked) + "name = $1::text"},
      {.verb = verb::pinned_by, .look = std::string{keepers} + std::string{kept_alone}},
      {.verb = verb::home, .look = "SELECT " + std::string{this_home}},
      {.verb = verb::schema, .look = std::string{schema_state}},
      {.verb = verb::probe, .act = std::string{writing_nothing}},
      {.verb = verb::settings, .look = std::string{settings_here}},
      {.verb = verb::count, .look = std::string{counts}},
      {.verb = verb::applied,
       .look = "SELECT version, checksum, serves_from, us(applied_at) FROM rowlock_migration ORDER BY version"},
      {.verb = verb::applying,
       .act = "UPDATE rowlock_migration SET checksum = $2::text WHERE version = $1::integer AND checksum IS NULL"}};
  static_assert(std::size(steps) == table::size - 3);  // what is for rows without locks
  for (step& s : steps) {
    s.look = finished(s.look, with);
    s.act = finished(s.act, with);
    s.many = finished(s.many, with);
  }
  return {steps, prefix};
}

guest_texts postgresql_guest(std::string_view prefix) {
  const auto text = [&](std::string_view of) {
    auto out = replaced(of, "{home}", this_home);
    for (const auto* n : {"1", "3"})
      out = replaced(out, "{" + std::string{n} + "}",
                     "convert_from(decode($" + std::string{n} + "::text, 'hex'), 'UTF8')");
    return with_prefix(finished(out, {}), prefix);
  };
  return {.take = text(replaced(take_here, "{or_skip}", " SKIP LOCKED")),
          .await = text(replaced(take_here, "{or_skip}", "")),
          .pin = text(pin_here),
          .home = text("SELECT coalesce({home} = $1::text, false)::integer"),
          .set = text(set_here)};
}

}  // namespace rowlock::inline v1::dialect
