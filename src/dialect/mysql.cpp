#include <string>

#include "dialect/dialect.hpp"

namespace rowlock::inline v1::dialect {

// Why each of these is safe: docs/protocol.md, "MySQL and MariaDB". One text serves both: what stands in /*M!100600 …
// */ only MariaDB reads, what stands in /*!80000 … */ only MySQL. us(…) is a time in microseconds since 1970,
// {wanted(…)} the requests of a batch, which come as one JSON document, with the columns named there.
//
// The clock is SYSDATE(6), where the row is locked already. Assignments run from left to right (sql_mode is ours), so
// the first one decides, by an id that no other attempt has, and all others follow it: asked again, the clock might say
// otherwise.

namespace {

// To whom a lease is given that is vacant or has ended.
constexpr std::string_view granting = R"(
ON DUPLICATE KEY UPDATE
  acquisition = IF({seen}({own}owner IS NULL OR {own}expires_at <= SYSDATE(6)), VALUES(acquisition), {own}acquisition),
  version = IF({own}acquisition = VALUES(acquisition), GREATEST({own}version + 1, {token}), {own}version),
  thread = IF({own}acquisition = VALUES(acquisition), VALUES(thread), {own}thread),
  acquired_at = IF({own}acquisition = VALUES(acquisition), SYSDATE(6), {own}acquired_at),
  expires_at = IF({own}acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL {lease} MICROSECOND, {own}expires_at),
  note = IF({own}acquisition = VALUES(acquisition), VALUES(note), {own}note),
  owner = IF({own}acquisition = VALUES(acquisition), VALUES(owner), {own}owner))";

// MariaDB: never waits for a row (innodb_lock_wait_timeout = 0), and tells of whoever has it. MySQL: locks no row that
// is not free, and tells nothing.
// {seen}: what must be true of a free row, besides.
constexpr std::string_view acquire_one = R"(
INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
/*M!100600 VALUES ( */ /*!80000 SELECT */
?1, {token}, ?2, ?3, ?4, SYSDATE(6), SYSDATE(6) + INTERVAL ?5 MICROSECOND, ?6
/*M!100600 ) */ /*!80000
FROM (SELECT 1) one
WHERE ?1 IN (SELECT name FROM (SELECT name FROM rowlock_lock
    WHERE name = ?1 AND {seen}(owner IS NULL OR expires_at <= SYSDATE(6)) LIMIT 1 FOR UPDATE SKIP LOCKED) free)
  OR NOT EXISTS (SELECT 1 FROM rowlock_lock WHERE name = ?1) */
{granting}
/*M!100600 RETURNING ?4, IF(acquisition = ?4, version, NULL), TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at) */)";

// Ours even where it was granted and has ended meanwhile.
constexpr std::string_view acquired_one = R"(
SELECT ?2, IF(acquisition = ?2, version, NULL), TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at)
FROM rowlock_lock
WHERE name = ?1 AND owner IS NOT NULL AND (acquisition = ?2 OR expires_at IS NULL OR expires_at > SYSDATE(6)))";

// In a transaction that stays open. To which session the row's lock belongs, nobody else could tell; with the version
// it began from, it differs from what an earlier one has left there.
constexpr std::string_view hold_one = R"(
UPDATE /*!80000 (SELECT name FROM rowlock_lock
    WHERE name = ?1 AND (owner IS NULL OR expires_at <= SYSDATE(6)) LIMIT 1 FOR UPDATE SKIP LOCKED) free STRAIGHT_JOIN */
  rowlock_lock l /*!80000 ON l.name = free.name */
SET l.thread = CONCAT('session ', CONNECTION_ID(), ' from ', l.version),
  l.version = GREATEST(l.version + 1, {token}), l.note = NULL
/*M!100600 WHERE l.name = ?1 AND (l.owner IS NULL OR l.expires_at <= SYSDATE(6)) */)";

constexpr std::string_view acquire_many = R"(
INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT w.name, {token}, w.owner, w.thread, w.acquisition, SYSDATE(6), SYSDATE(6) + INTERVAL w.lease MICROSECOND, w.note
FROM {wanted(name, owner, thread, acquisition, lease, note)} w
WHERE CAST(w.name AS BINARY) IN (SELECT name FROM (
    SELECT l.name FROM {wanted(name)} v
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(v.name AS BINARY)
    WHERE l.owner IS NULL OR l.expires_at <= SYSDATE(6) LIMIT 1000000 FOR UPDATE /*!80000 OF l */ SKIP LOCKED) free)
  OR NOT EXISTS (SELECT 1 FROM rowlock_lock l FORCE INDEX (PRIMARY) WHERE l.name = CAST(w.name AS BINARY))
{granting})";

constexpr std::string_view acquired_many = R"(
SELECT w.acquisition, IF(l.acquisition = w.acquisition, l.version, NULL),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at)
FROM {wanted(name, acquisition)} w
STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
WHERE l.owner IS NOT NULL AND (l.acquisition = w.acquisition OR l.expires_at IS NULL OR l.expires_at > SYSDATE(6)))";

// {end}: when the lease ends. A row that somebody keeps locked is left out.
constexpr std::string_view prolong = R"(
UPDATE (SELECT l.name, w.lease FROM {wanted(name, acquisition, lease)} w
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL AND l.expires_at > SYSDATE(6)
    LIMIT 1000000 FOR UPDATE /*!80000 OF l */ SKIP LOCKED) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.expires_at = {end}
WHERE l.expires_at > SYSDATE(6))";

// An update does not tell which rows it has changed. {changed}: what a lease looks like that it has.
constexpr std::string_view prolonged = R"(
SELECT acquisition, remaining FROM (
  SELECT w.acquisition, w.lease, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at) AS remaining
  FROM {wanted(name, acquisition, lease)} w
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
  WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL) own
WHERE {changed})";

constexpr std::string_view release_one = R"(
UPDATE /*!80000 (SELECT name FROM rowlock_lock
    WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL LIMIT 1 FOR UPDATE SKIP LOCKED) own STRAIGHT_JOIN */
  rowlock_lock l /*!80000 ON l.name = own.name */
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, {token}),
  l.expires_at = SYSDATE(6)
/*M!100600 WHERE l.name = ?1 AND l.acquisition = ?2 AND l.owner IS NOT NULL */)";

// The late holder's renew and confirm find no owner then.
constexpr std::string_view vacate_expired_one = R"(
UPDATE /*!80000 (SELECT name FROM rowlock_lock
    WHERE name = ?1 AND owner IS NOT NULL AND expires_at <= SYSDATE(6) LIMIT 1 FOR UPDATE SKIP LOCKED) own
  STRAIGHT_JOIN */ rowlock_lock l /*!80000 ON l.name = own.name */
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, {token}),
  l.expires_at = SYSDATE(6)
/*M!100600 WHERE l.name = ?1 AND l.owner IS NOT NULL AND l.expires_at <= SYSDATE(6) */)";

// Whose it was is not asked: the version says what was looked at.
constexpr std::string_view free_one = R"(
UPDATE /*!80000 (SELECT name FROM rowlock_lock
    WHERE name = ?1 AND version = ?2 AND owner IS NOT NULL LIMIT 1 FOR UPDATE SKIP LOCKED) own STRAIGHT_JOIN */
  rowlock_lock l /*!80000 ON l.name = own.name */
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, {token}),
  l.expires_at = SYSDATE(6)
/*M!100600 WHERE l.name = ?1 AND l.version = ?2 AND l.owner IS NOT NULL */)";

constexpr std::string_view release_many = R"(
UPDATE (SELECT l.name FROM {wanted(name, acquisition)} w
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL
    LIMIT 1000000 FOR UPDATE /*!80000 OF l */ SKIP LOCKED) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, {token}),
  l.expires_at = SYSDATE(6))";

// Somebody else may have taken a row that was released, and then it is not found.
constexpr std::string_view released_many = R"(
SELECT w.acquisition, l.owner IS NOT NULL FROM {wanted(name, acquisition)} w
STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
WHERE l.acquisition = w.acquisition)";

// Here the lease is how long it stays since the grant.
constexpr std::string_view linger_one = R"(
UPDATE /*!80000 (SELECT name FROM rowlock_lock
    WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL AND expires_at > SYSDATE(6)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own STRAIGHT_JOIN */
  rowlock_lock l /*!80000 ON l.name = own.name */
SET l.expires_at = l.acquired_at + INTERVAL ?3 MICROSECOND
/*M!100600 WHERE l.name = ?1 AND l.acquisition = ?2 AND l.owner IS NOT NULL AND l.expires_at > SYSDATE(6) */)";

constexpr std::string_view linger_many = R"(
UPDATE (SELECT l.name, w.lease FROM {wanted(name, acquisition, lease)} w
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL AND l.expires_at > SYSDATE(6)
    LIMIT 1000000 FOR UPDATE /*!80000 OF l */ SKIP LOCKED) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.expires_at = l.acquired_at + INTERVAL own.lease MICROSECOND)";

// A row that has its end already counts as not changed. {wanted}, {acquisition}, {lease}, {name}: of one, or of each in
// a batch.
constexpr std::string_view lingers = R"(
SELECT {acquisition}, l.expires_at <> l.acquired_at + INTERVAL {lease} MICROSECOND
FROM {wanted} STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = {name}
WHERE l.acquisition = {acquisition} AND l.owner IS NOT NULL)";

constexpr std::string_view inspection = R"(
SELECT l.name, l.version, l.owner, l.thread, l.acquisition, TIMESTAMPDIFF(MICROSECOND, l.acquired_at, SYSDATE(6)),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at), l.note, l.expires_at IS NULL FROM )";

constexpr std::string_view of_prefix = R"(rowlock_lock l
WHERE l.name >= ?1 AND (?2 IS NULL OR l.name < ?2) AND l.owner IS NOT NULL
  AND (l.expires_at IS NULL OR l.expires_at > SYSDATE(6)) ORDER BY l.name)";

// As inspection, of what a transaction says in the row that it has not committed. The note is that of lock_in.
constexpr std::string_view held = R"(
SELECT l.name, l.version, NULL, IF(l.thread LIKE 'session %', SUBSTRING_INDEX(l.thread, ' ', 2), NULL), NULL, NULL,
  NULL, l.note, TRUE, l.thread FROM rowlock_lock l
WHERE (l.owner IS NULL OR l.expires_at <= SYSDATE(6)) AND )";

constexpr std::string_view of_prefix_held = "l.name >= ?1 AND (?2 IS NULL OR l.name < ?2)";

// What a transaction has changed and not committed, nobody else sees; confirm never leaves it as it was.
constexpr std::string_view kept_alone = "SELECT 1 FROM rowlock_lock WHERE name = ?1 AND us(expires_at) <> ?2";

constexpr std::string_view of_many = R"({wanted(name)} w
STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY))";

constexpr std::string_view enqueue_one = R"(
INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at)
VALUES (?1, ?2, ?3, ?4, SYSDATE(6), SYSDATE(6) + INTERVAL ?5 MICROSECOND) /*M!100600 RETURNING attempt, ticket */)";

// Only what is there and not locked by somebody is changed. Whether it could be carried out yet is asked of none: what
// is there stays.
constexpr std::string_view stay_many = R"(
UPDATE (SELECT w.ticket, v.life FROM {wanted(attempt, ticket, life)} v
    STRAIGHT_JOIN rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = v.ticket
    WHERE w.attempt = v.attempt LIMIT 1000000 FOR UPDATE /*!80000 OF w */ SKIP LOCKED) own
  STRAIGHT_JOIN rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = own.ticket
SET w.expires_at = SYSDATE(6) + INTERVAL own.life MICROSECOND)";

constexpr std::string_view stayed_many = R"(
SELECT v.attempt, FALSE FROM {wanted(attempt, ticket)} v
STRAIGHT_JOIN rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = v.ticket WHERE w.attempt = v.attempt)";

// By the primary key, which locks no ticket of anybody else's.
constexpr std::string_view leave_one = "DELETE FROM rowlock_waiter WHERE ticket = ?3 AND attempt = ?2";
constexpr std::string_view leave_many = R"(
DELETE w FROM {wanted(attempt, ticket)} v
STRAIGHT_JOIN rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = v.ticket WHERE w.attempt = v.attempt)";
constexpr std::string_view left_many = R"(
SELECT v.attempt, w.ticket IS NOT NULL FROM {wanted(attempt, ticket)} v
LEFT JOIN rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = v.ticket AND w.attempt = v.attempt)";
constexpr std::string_view left_one = R"(
SELECT ?2, EXISTS (SELECT 1 FROM rowlock_waiter WHERE ticket = ?3 AND attempt = ?2))";

// {name}, {turn}: of one, or of each in a batch.
constexpr std::string_view turns = R"(
SELECT {name}, EXISTS (SELECT 1 FROM rowlock_waiter b
    WHERE b.name = {binary} AND b.ticket < {turn} AND b.expires_at > SYSDATE(6)),
  EXISTS (SELECT 1 FROM rowlock_waiter o WHERE o.ticket = {turn}),
  l.owner IS NULL OR COALESCE(l.expires_at <= SYSDATE(6), FALSE), TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at), l.version
FROM {wanted} LEFT JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = {binary})";

constexpr std::string_view waiting = R"(
SELECT ticket, owner, thread, TIMESTAMPDIFF(MICROSECOND, enqueued_at, SYSDATE(6)) FROM rowlock_waiter
WHERE name = ?1 AND expires_at > SYSDATE(6) ORDER BY ticket)";

// The version is as old as the last change of ownership, also where that wrote no expiry.
constexpr std::string_view find_unused = R"(
WITH page AS (
  SELECT name, expires_at <= SYSDATE(6) - INTERVAL ?3 MICROSECOND AND version <= {token} - ?3 AS is_unused
  FROM rowlock_lock WHERE name > ?1 ORDER BY name LIMIT ?2)
SELECT name, 1 FROM page WHERE is_unused UNION ALL SELECT MAX(name), 0 FROM page HAVING COUNT(*) > 0)";

// What was seen without a lock is asked for again under it.
constexpr std::string_view sweep_many = R"(
DELETE l FROM (SELECT l.name FROM {wanted(name, retention)} w
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.expires_at <= SYSDATE(6) - INTERVAL w.retention MICROSECOND AND l.version <= {token} - w.retention
    LIMIT 1000000 FOR UPDATE /*!80000 OF l */ SKIP LOCKED) unused
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = unused.name)";

constexpr std::string_view swept_many = R"(
SELECT w.name, TRUE FROM {wanted(name)} w
STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY))";

constexpr std::string_view find_dead = R"(
WITH page AS (
  SELECT ticket, name, attempt, expires_at <= SYSDATE(6) - INTERVAL ?3 MICROSECOND AS is_dead
  FROM rowlock_waiter WHERE ticket > ?1 ORDER BY ticket LIMIT ?2)
SELECT ticket, name, attempt, 1 FROM page WHERE is_dead
UNION ALL (SELECT ticket, name, attempt, 0 FROM page ORDER BY ticket DESC LIMIT 1))";

constexpr std::string_view bury_many = R"(
DELETE t FROM (SELECT t.ticket FROM {wanted(attempt, ticket, life)} w
    STRAIGHT_JOIN rowlock_waiter t FORCE INDEX (PRIMARY) ON t.ticket = w.ticket
    WHERE t.attempt = w.attempt AND t.expires_at <= SYSDATE(6) - INTERVAL w.life MICROSECOND
    LIMIT 1000000 FOR UPDATE /*!80000 OF t */ SKIP LOCKED) dead
  STRAIGHT_JOIN rowlock_waiter t FORCE INDEX (PRIMARY) ON t.ticket = dead.ticket)";

constexpr std::string_view buried_many = R"(
SELECT w.attempt, TRUE FROM {wanted(attempt, ticket)} w
STRAIGHT_JOIN rowlock_waiter t FORCE INDEX (PRIMARY) ON t.ticket = w.ticket WHERE t.attempt = w.attempt)";

constexpr std::string_view schema_state = R"(
SELECT version, serves_from, installation, us(applied_at), us(SYSDATE(6))
FROM rowlock_migration ORDER BY version DESC LIMIT 1)";

// What a server does not have, it leaves out.
constexpr std::string_view settings_here = R"(
SHOW VARIABLES WHERE Variable_name IN ('version', 'innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog', 'wsrep_on',
  'group_replication_group_name'))";

constexpr std::string_view counts = R"(
SELECT (SELECT COUNT(*) FROM rowlock_lock), COUNT(*), TIMESTAMPDIFF(MICROSECOND, MIN(enqueued_at), SYSDATE(6))
FROM rowlock_waiter WHERE expires_at > SYSDATE(6))";

// A copy of a database has the same installation id.
constexpr std::string_view this_home = R"(
SELECT CONCAT(m.installation, '/', HEX(DATABASE())) FROM rowlock_migration m WHERE m.version = 1)";

// In a transaction of the caller's. This takes no snapshot, so that one that is taken later is younger than the lock.
// {clock} is UTC in whatever time zone the session is. ?2: what the client has let go of, and cannot vacate over its
// pool because this very transaction has it locked. Up to READ COMMITTED, a row that is not wanted is unlocked at once.
constexpr std::string_view take_here = R"(
SELECT version, owner IS NULL OR acquisition = ?2, GREATEST(version + 1, {token}), @@autocommit, us(expires_at),
  owner IS NULL FROM rowlock_lock WHERE name = ?1 AND (owner IS NULL OR acquisition = ?2
  OR /*M!100600 @@tx_isolation */ /*!80000 @@transaction_isolation */ NOT LIKE 'READ-%')
FOR UPDATE)";

constexpr std::string_view change_here = R"(
UPDATE rowlock_lock SET version = ?2, owner = NULL, thread = CONCAT('session ', CONNECTION_ID(), ' to ', ?2),
  note = CONVERT(?3 USING utf8mb4),
  expires_at = {clock}
WHERE name = ?1)";

constexpr std::string_view pin_here = R"(
SELECT l.owner IS NOT NULL AND l.acquisition = ?2, l.expires_at > {clock},
  (SELECT s.acquisition = ?2 FROM rowlock_lock s WHERE s.name = l.name), ({home}), @@autocommit, CONNECTION_ID()
FROM rowlock_lock l WHERE l.name = ?1 FOR UPDATE SKIP LOCKED)";

constexpr std::string_view isolation_here = R"(
SELECT /*M!100600 @@tx_isolation */ /*!80000 @@transaction_isolation */, CONNECTION_ID())";

constexpr std::string_view prolong_here = R"(
UPDATE rowlock_lock SET expires_at = GREATEST(expires_at + INTERVAL 1 MICROSECOND, {clock} + INTERVAL ?2 MICROSECOND)
WHERE name = ?1)";

constexpr std::string_view see_here = R"(
SELECT l.version, ({home}), @@autocommit, us(l.expires_at) FROM (SELECT 1) one LEFT JOIN rowlock_lock l ON l.name = ?1)";

constexpr std::string_view set_here = R"(
SELECT GREATEST(version + 1, {token}), ({home}), @@autocommit FROM rowlock_lock
WHERE name = ?1 AND version = ?2 AND owner IS NULL FOR UPDATE SKIP LOCKED)";

// Privileges are asked for even where nothing is written.
constexpr std::string_view inserting_nothing = R"(
INSERT INTO rowlock_lock (name, version) SELECT '', 0 FROM (SELECT 1) one WHERE FALSE
ON DUPLICATE KEY UPDATE version = VALUES(version))";

constexpr std::string_view waiting_for_nothing = R"(
INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at)
SELECT '', '', '', '', SYSDATE(6), SYSDATE(6) FROM (SELECT 1) one WHERE FALSE
ON DUPLICATE KEY UPDATE expires_at = VALUES(expires_at))";

constexpr std::string_view deleting_nothing = "DELETE l, w FROM rowlock_lock l JOIN rowlock_waiter w WHERE FALSE";

/// A request's arguments have the same places in every verb that takes them.
struct column {
  std::string_view name;
  std::string_view type;
};
// Left alone, they would have the character set of the database.
constexpr column attempt_columns[] = {{"name", "VARCHAR(255) CHARACTER SET utf8mb4"},
                                      {"owner", "VARCHAR(500) CHARACTER SET utf8mb4"},
                                      {"thread", "VARCHAR(255) CHARACTER SET utf8mb4"},
                                      {"acquisition", "VARCHAR(64) CHARACTER SET ascii"},
                                      {"lease", "BIGINT"},
                                      {"note", "VARCHAR(1000) CHARACTER SET utf8mb4"}};
constexpr column held_columns[] = {attempt_columns[0], attempt_columns[3], attempt_columns[4]};
constexpr column ticket_columns[] = {
    attempt_columns[0], {"attempt", "VARCHAR(64) CHARACTER SET ascii"}, {"ticket", "BIGINT"}, {"life", "BIGINT"}};
constexpr column sweep_columns[] = {attempt_columns[0], {"retention", "BIGINT"}};
constexpr column turn_columns[] = {attempt_columns[0], {"turn", "BIGINT"}};

std::span<const column> columns_of(verb what) {
  switch (what) {
    case verb::acquire:
      return attempt_columns;
    case verb::stay:
    case verb::leave:
    case verb::bury:
      return ticket_columns;
    case verb::sweep:
      return sweep_columns;
    case verb::turn:
      return turn_columns;
    default:
      return held_columns;
  }
}

/// JSON_TABLE(?1, …) with the columns that stand in the brackets.
std::string with_wanted(std::string text, std::span<const column> columns) {
  constexpr std::string_view begin = "{wanted(";
  constexpr std::string_view end = ")}";
  for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    const auto closing = text.find(end, at);
    const auto names = ", " + text.substr(at + begin.size(), closing - at - begin.size()) + ",";
    std::string table;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (names.find(" " + std::string{columns[i].name} + ",") == std::string::npos) continue;
      table.append(table.empty() ? "JSON_TABLE(?1, '$[*]' COLUMNS (" : ", ");
      table.append(columns[i].name).append(" ").append(columns[i].type);
      table.append(" PATH '$[").append(std::to_string(i)).append("]'");
    }
    text.replace(at, closing + end.size() - at, table + "))");
  }
  return text;
}

std::string turn_of(std::string_view name, std::string_view binary, std::string_view turn, std::string_view wanted) {
  auto out = replaced(turns, "{name}", name);
  out = replaced(replaced(out, "{binary}", binary), "{turn}", turn);
  return replaced(out, "{wanted}", wanted);
}

std::string lingering(std::string_view wanted, std::string_view name, std::string_view acquisition,
                      std::string_view lease) {
  auto out = replaced(replaced(lingers, "{wanted}", wanted), "{name}", name);
  return replaced(replaced(out, "{acquisition}", acquisition), "{lease}", lease);
}

std::string finished(std::string_view text) {
  auto out = replaced(text, "{token}", "us(SYSDATE(6))");
  return replaced(out, " us(", " TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ");
}

/// {own}: how the row that is there already is told from the one that was to be inserted.
std::string granted(std::string_view text, std::string_view own, std::string_view lease, std::string_view seen = {}) {
  auto out = replaced(text, "{granting}", granting);
  out = replaced(out, "{seen}", seen);
  return replaced(replaced(out, "{own}", own), "{lease}", lease);
}

}  // namespace

table mysql(std::string_view prefix) {
  const auto inspecting = [](std::string_view which) { return std::string{inspection} + std::string{which}; };
  const auto prolonging = [](verb what, std::string_view end, std::string_view changed) {
    return step{.verb = what,
                .key = 1,
                .many = replaced(prolong, "{end}", end),
                .many_told = replaced(prolonged, "{changed}", changed),
                .always_changes = what == verb::extend};
  };
  step steps[] = {
      {.verb = verb::acquire,
       .key = 3,
       .act = granted(acquire_one, "", "?5"),
       .told = replaced(acquired_one, "?2", "?4"),
       .many = granted(acquire_many, "rowlock_lock.", "w.lease"),
       .many_told = std::string{acquired_many},
       .locks_where_refused = true},
      {.verb = verb::compare_and_set,
       .key = 3,
       .act = granted(acquire_one, "", "?5", "version = ?7 AND "),
       .told = replaced(acquired_one, "?2", "?4")},
      {.verb = verb::hold,
       .act = std::string{hold_one},
       .told = "SELECT name, version FROM rowlock_lock WHERE name = ?1",
       .always_changes = true},
      {.verb = verb::make,
       .act = "INSERT INTO rowlock_lock (name, version, expires_at) SELECT ?1, {token}, SYSDATE(6) FROM (SELECT 1) one "
              "WHERE NOT EXISTS (SELECT 1 FROM rowlock_lock WHERE name = ?1) "
              "ON DUPLICATE KEY UPDATE version = rowlock_lock.version"},
      {.verb = verb::vacate_expired, .act = std::string{vacate_expired_one}},
      prolonging(verb::renew, "GREATEST(l.expires_at, SYSDATE(6) + INTERVAL own.lease MICROSECOND)",
                 "remaining * 2 > lease"),
      prolonging(verb::extend, "SYSDATE(6) + INTERVAL own.lease MICROSECOND",
                 "remaining BETWEEN lease - 10000000 AND lease AND remaining > 0"),
      {.verb = verb::release,
       .key = 1,
       .act = std::string{release_one},
       .many = std::string{release_many},
       .many_told = std::string{released_many},
       .counts = true},
      {.verb = verb::linger,
       .key = 1,
       .act = std::string{linger_one},
       .told = lingering("(SELECT 1) one", "?1", "?2", "?3"),
       .many = std::string{linger_many},
       .many_told =
           lingering("{wanted(name, acquisition, lease)} w", "CAST(w.name AS BINARY)", "w.acquisition", "w.lease"),
       .counts = true},
      {.verb = verb::free, .act = std::string{free_one}, .counts = true},
      {.verb = verb::enqueue,
       .key = 3,
       .act = std::string{enqueue_one},
       .told = "SELECT ?4, CAST(LAST_INSERT_ID() AS SIGNED)",
       .always_changes = true},
      {.verb = verb::stay,
       .key = 1,
       .many = std::string{stay_many},
       .many_told = std::string{stayed_many},
       .counts = true},
      {.verb = verb::leave,
       .key = 1,
       .act = std::string{leave_one},
       .told = std::string{left_one},
       .many = std::string{leave_many},
       .many_told = std::string{left_many},
       .counts = true},
      {.verb = verb::withdraw, .key = 1, .act = "DELETE FROM rowlock_waiter WHERE name = ?1 AND attempt = ?2"},
      {.verb = verb::turn,
       .look = turn_of("?1", "?1", "?2", "(SELECT 1) one"),
       .many = turn_of("w.name", "CAST(w.name AS BINARY)", "w.turn", "{wanted(name, turn)} w")},
      {.verb = verb::waiters, .look = std::string{waiting}},
      {.verb = verb::find_unused, .look = std::string{find_unused}},
      {.verb = verb::sweep, .many = std::string{sweep_many}, .many_told = std::string{swept_many}, .counts = true},
      {.verb = verb::find_dead, .look = std::string{find_dead}},
      {.verb = verb::bury,
       .key = 1,
       .many = std::string{bury_many},
       .many_told = std::string{buried_many},
       .counts = true},
      {.verb = verb::inspect, .look = inspecting("rowlock_lock l WHERE l.name = ?1"), .many = inspecting(of_many)},
      {.verb = verb::list, .look = inspecting(of_prefix)},
      {.verb = verb::find_held, .look = std::string{held} + "l.name = ?1", .uncommitted = true},
      {.verb = verb::list_held, .look = std::string{held} + std::string{of_prefix_held}, .uncommitted = true},
      {.verb = verb::beat, .look = "SELECT 1"},
      {.verb = verb::pinned_by, .look = std::string{kept_alone}},
      {.verb = verb::home, .look = std::string{this_home}},
      {.verb = verb::schema, .look = std::string{schema_state}},
      {.verb = verb::probe,
       .look = std::string{inserting_nothing},
       .act = std::string{deleting_nothing},
       .told = std::string{waiting_for_nothing}},
      {.verb = verb::settings, .look = std::string{settings_here}},
      {.verb = verb::count, .look = std::string{counts}},
      {.verb = verb::applied,
       .look = "SELECT version, checksum, serves_from, us(applied_at) FROM rowlock_migration ORDER BY version"},
      {.verb = verb::applying,
       .act = "UPDATE rowlock_migration SET checksum = ?2 WHERE version = ?1 AND checksum IS NULL"}};
  // What is for rows without locks, for telling others, of pins, and what would save nothing.
  static_assert(std::size(steps) == table::size - 10);
  for (step& s : steps) {
    const auto columns = columns_of(s.verb);
    for (std::string* text : {&s.look, &s.act, &s.told, &s.many, &s.many_told})
      *text = finished(with_wanted(std::move(*text), columns));
  }
  return {steps, prefix};
}

guest_texts mysql_guest(std::string_view prefix) {
  const auto text = [&](std::string_view of) {
    auto out = replaced(of, "{token}", " us({clock})");
    out = replaced(out, " us(", " TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ");
    out = replaced(out, "{clock}",
                   "(SYSDATE(6) + INTERVAL TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)) MICROSECOND)");
    return with_prefix(replaced(out, "{home}", this_home), prefix);
  };
  return {.take = text(std::string{take_here} + " SKIP LOCKED"),
          .await = text(take_here),
          .change = text(change_here),
          .pin = text(pin_here),
          .isolation = std::string{isolation_here},
          .prolong = text(prolong_here),
          .see = text(see_here),
          .home = text(this_home),
          .set = text(set_here)};
}

}  // namespace rowlock::inline v1::dialect
