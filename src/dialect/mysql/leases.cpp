#include <string>

#include "dialect/mysql/parts.hpp"

namespace rowlock::inline v1::dialect::mysql_parts {

namespace {

// Which rows are granted: those that are vacant or whose lease has ended.
// {own}: how the row that exists already is told from the one that was to be inserted.
// {seen}: what must be true of a free row, too. Where somebody waits, that is not taken before the queue was seen.
constexpr std::string_view granting = R"(
ON DUPLICATE KEY UPDATE
  acquisition = IF({seen}({own}owner IS NULL OR {own}expires_at <= SYSDATE(6)), VALUES(acquisition), {own}acquisition),
  version = IF({own}acquisition = VALUES(acquisition), GREATEST({own}version + 1, {token}), {own}version),
  thread = IF({own}acquisition = VALUES(acquisition), VALUES(thread), {own}thread),
  acquired_at = IF({own}acquisition = VALUES(acquisition), SYSDATE(6), {own}acquired_at),
  expires_at = IF({own}acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL {lease} MICROSECOND, {own}expires_at),
  note = IF({own}acquisition = VALUES(acquisition), VALUES(note), {own}note),
  owner = IF({own}acquisition = VALUES(acquisition), VALUES(owner), {own}owner))";

// MariaDB: never waits for a row (innodb_lock_wait_timeout = 0), and answers who has it. MySQL: locks no row that is
// not free, and answers nothing.
// MariaDB would read the floor for every row, also for one that is there, so it makes none by this: a new row has
// version 0, with which its answer cannot be calculated (error 1690), and that undoes all of the statement.
constexpr std::string_view acquire_one = R"(
INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
/*M!100600 VALUES (?1, 0, */ /*!80000 SELECT ?1, {first_token}, */
?2, ?3, ?4, SYSDATE(6), SYSDATE(6) + INTERVAL ?5 MICROSECOND, ?6
/*M!100600 ) */ /*!80000
FROM {floor} one
WHERE ?1 IN (SELECT name FROM (SELECT name FROM rowlock_lock
    WHERE name = ?1 AND {seen}(owner IS NULL OR expires_at <= SYSDATE(6)) LIMIT 1 FOR UPDATE SKIP LOCKED) free)
  OR NOT EXISTS (SELECT 1 FROM rowlock_lock WHERE name = ?1) */
{granting}
/*M!100600 RETURNING ?4, IF(acquisition = ?4, {of_no_new_row}, NULL), TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at),
  owner = '(shared)' */)";

constexpr std::string_view of_no_new_row = "IF(version = 0, 9223372036854775807 - (version - 1), version)";

// MariaDB. A row that is seen is not made: it may be deleted just now, and the floor seen was that before.
constexpr std::string_view make_and_acquire_one = R"(
INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT ?1, IF(EXISTS (SELECT 1 FROM rowlock_lock WHERE name = ?1), 0, {first_token}), ?2, ?3, ?4, SYSDATE(6),
  SYSDATE(6) + INTERVAL ?5 MICROSECOND, ?6
FROM {floor} one
{granting}
RETURNING ?4, IF(acquisition = ?4, {of_no_new_row}, NULL), TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at),
  owner = '(shared)')";

// The row is ours even where the lease was granted and has ended meanwhile.
constexpr std::string_view acquired_one = R"(
SELECT ?2, IF(acquisition = ?2, version, NULL), TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)'
FROM rowlock_lock
WHERE name = ?1
  AND (waiting OR (owner IS NOT NULL AND (acquisition = ?2 OR expires_at IS NULL OR expires_at > SYSDATE(6)))))";

// MariaDB answers every row that it met, whoever has it.
constexpr std::string_view acquire_many = R"(
INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT w.name, {new_version}, w.owner, w.thread, w.acquisition, SYSDATE(6), SYSDATE(6) + INTERVAL w.lease MICROSECOND,
  w.note
FROM {and_floor}{wanted(name, owner, thread, acquisition, lease, note)} w
{unlocked}
{granting}
/*M!100600 RETURNING acquisition, {of_no_new_row}, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)' */)";

// {unlocked}, for the statement that locks no row that is not free, and skips those that others have locked.
constexpr std::string_view free_and_unlocked = R"(WHERE CAST(w.name AS BINARY) IN (SELECT name FROM (
    SELECT l.name FROM {wanted(name)} v
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(v.name AS BINARY)
    WHERE NOT l.waiting AND (l.owner IS NULL OR l.expires_at <= SYSDATE(6))
    LIMIT 1000000 FOR UPDATE {of_l} SKIP LOCKED) free)
  OR NOT EXISTS (SELECT 1 FROM rowlock_lock l FORCE INDEX (PRIMARY) WHERE l.name = CAST(w.name AS BINARY)))";

constexpr std::string_view acquired_many = R"(
SELECT w.acquisition, IF(l.acquisition = w.acquisition, l.version, NULL),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at), l.owner = '(shared)'
FROM {wanted(name, acquisition)} w
STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
WHERE l.waiting
  OR (l.owner IS NOT NULL AND (l.acquisition = w.acquisition OR l.expires_at IS NULL OR l.expires_at > SYSDATE(6))))";

// In the order of the batch. Rows that others have locked are skipped, and those that somebody waits for.
constexpr std::string_view acquire_the_first_free = R"(
UPDATE (SELECT l.name, w.owner, w.thread, w.acquisition, w.lease, w.note
    FROM {wanted(name, owner, thread, acquisition, lease, note)} w
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE NOT l.waiting AND (l.owner IS NULL OR l.expires_at <= SYSDATE(6))
    LIMIT 1 FOR UPDATE /*!80000 OF l */ SKIP LOCKED) g
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = g.name
SET l.version = GREATEST(l.version + 1, {token}), l.owner = g.owner, l.thread = g.thread,
  l.acquisition = g.acquisition, l.acquired_at = SYSDATE(6), l.expires_at = SYSDATE(6) + INTERVAL g.lease MICROSECOND,
  l.note = g.note)";

constexpr std::string_view acquired_the_first_free = R"(
SELECT l.name, l.version, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at) FROM {wanted(name, acquisition)} w
STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
WHERE l.owner IS NOT NULL AND l.acquisition = w.acquisition)";

constexpr std::string_view acquire_all_of_them = R"(
UPDATE (SELECT f.*, COUNT(*) OVER () AS number FROM (
      SELECT l.name, w.owner, w.thread, w.acquisition, w.lease, w.note
      FROM {wanted(name, owner, thread, acquisition, lease, note, version)} w
      STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
      WHERE (l.owner IS NULL OR l.expires_at <= SYSDATE(6)) AND IF(w.version = 0, NOT l.waiting, l.version = w.version)
      LIMIT 1000000 FOR UPDATE /*!80000 OF l */ SKIP LOCKED) f) g
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = g.name
SET l.version = GREATEST(l.version + 1, {token}), l.owner = g.owner, l.thread = g.thread,
  l.acquisition = g.acquisition, l.acquired_at = SYSDATE(6), l.expires_at = SYSDATE(6) + INTERVAL g.lease MICROSECOND,
  l.note = g.note
WHERE g.number = JSON_LENGTH(?1))";

constexpr std::string_view acquired_all_of_them = R"(
SELECT l.acquisition, l.version, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at) FROM {wanted(name, acquisition)} w
STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
WHERE l.owner IS NOT NULL AND l.acquisition = w.acquisition)";

// In a transaction that stays open. No other session can tell to which session the row's lock belongs, so the row says
// so; with the version it began from, it differs from what an earlier transaction has left there.
constexpr std::string_view hold_one = R"(
UPDATE /*!80000 (SELECT name FROM rowlock_lock
    WHERE name = ?1 AND (owner IS NULL OR expires_at <= SYSDATE(6)) LIMIT 1 FOR UPDATE SKIP LOCKED) free STRAIGHT_JOIN */
  rowlock_lock l /*!80000 ON l.name = free.name */
SET l.thread = CONCAT('session ', CONNECTION_ID(), ' from ', l.version),
  l.version = GREATEST(l.version + 1, {token}), l.note = NULL
/*M!100600 WHERE l.name = ?1 AND (l.owner IS NULL OR l.expires_at <= SYSDATE(6)) */)";

constexpr std::string_view held_one = "SELECT name, version FROM rowlock_lock WHERE name = ?1";

constexpr std::string_view make_one =
    "INSERT INTO rowlock_lock (name, version, expires_at) SELECT ?1, {first_token}, SYSDATE(6) FROM {floor} one "
    "WHERE NOT EXISTS (SELECT 1 FROM rowlock_lock WHERE name = ?1) "
    "ON DUPLICATE KEY UPDATE version = rowlock_lock.version";

// A late holder's renew and confirm find no owner then.
constexpr std::string_view vacate_expired_one = R"(
UPDATE /*!80000 (SELECT name FROM rowlock_lock
    WHERE name = ?1 AND owner IS NOT NULL AND expires_at <= SYSDATE(6) LIMIT 1 FOR UPDATE SKIP LOCKED) own
  STRAIGHT_JOIN */ rowlock_lock l /*!80000 ON l.name = own.name */
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, {token}),
  l.expires_at = SYSDATE(6)
/*M!100600 WHERE l.name = ?1 AND l.owner IS NOT NULL AND l.expires_at <= SYSDATE(6) */)";

// {end}: when the lease ends. A row that another session keeps locked is left out.
constexpr std::string_view prolong_one = R"(
UPDATE /*!80000 (SELECT name FROM rowlock_lock
    WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL AND expires_at > SYSDATE(6)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own STRAIGHT_JOIN */
  rowlock_lock l /*!80000 ON l.name = own.name */
SET l.expires_at = {end}
WHERE /*M!100600 l.name = ?1 AND l.acquisition = ?2 AND l.owner IS NOT NULL AND */ l.expires_at > SYSDATE(6))";

constexpr std::string_view prolong_many = R"(
UPDATE (SELECT l.name, w.lease FROM {wanted(name, acquisition, lease)} w
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL AND l.expires_at > SYSDATE(6)
    LIMIT 1000000 FOR UPDATE /*!80000 OF l */ SKIP LOCKED) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.expires_at = {end}
WHERE l.expires_at > SYSDATE(6))";

// An update does not answer which rows it has changed. {changed}: how to tell a lease that it has changed. {wanted},
// {name}, {acquisition}, {lease}: of one request, or of each in a batch.
constexpr std::string_view prolonged = R"(
SELECT acquisition, remaining FROM (
  SELECT l.acquisition, {lease} AS lease, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at) AS remaining
  FROM {wanted} STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = {name}
  WHERE l.acquisition = {acquisition} AND l.owner IS NOT NULL) own
WHERE {changed})";

constexpr std::string_view reserve_one = R"(
UPDATE /*!80000 (SELECT name FROM rowlock_lock
    WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL AND expires_at > SYSDATE(6)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own STRAIGHT_JOIN */
  rowlock_lock l /*!80000 ON l.name = own.name */
SET l.version = GREATEST(l.version + ?4, {token}),
  l.expires_at = GREATEST(l.expires_at, SYSDATE(6) + INTERVAL ?3 MICROSECOND)
WHERE /*M!100600 l.name = ?1 AND l.acquisition = ?2 AND l.owner IS NOT NULL AND */ l.expires_at > SYSDATE(6))";

// Only the acquisition itself raises the version that it has, so this is what the update has made of it.
constexpr std::string_view reserved_one = R"(
SELECT l.acquisition, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at), l.version,
  EXISTS (SELECT 1 FROM rowlock_waiter w WHERE w.name = ?1 AND w.owner <> l.owner AND w.expires_at > SYSDATE(6)
    AND COALESCE(w.lease, 1) <> 0)
FROM rowlock_lock l WHERE l.name = ?1 AND l.acquisition = ?2 AND l.owner IS NOT NULL)";

// {and_alone}: whether the row must not say that somebody waits.
constexpr std::string_view release_one = R"(
UPDATE /*!80000 (SELECT name FROM rowlock_lock
    WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL{and_alone} LIMIT 1 FOR UPDATE SKIP LOCKED) own
  STRAIGHT_JOIN */ rowlock_lock l /*!80000 ON l.name = own.name */
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, {token}),
  l.expires_at = SYSDATE(6)
/*M!100600 WHERE l.name = ?1 AND l.acquisition = ?2 AND l.owner IS NOT NULL{and_alone} */)";

constexpr std::string_view release_many = R"(
UPDATE (SELECT l.name FROM {wanted(name, acquisition)} w
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL{and_alone}
    LIMIT 1000000 FOR UPDATE /*!80000 OF l */ SKIP LOCKED) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, {token}),
  l.expires_at = SYSDATE(6))";

// A row that was released may have another owner already, and then it is not found.
constexpr std::string_view released_many = R"(
SELECT w.acquisition, l.owner IS NOT NULL FROM {wanted(name, acquisition)} w
STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
WHERE l.acquisition = w.acquisition)";

// In a statement of its own, which reads without locks: one that writes would wait for tickets that others are
// changing.
constexpr std::string_view first_in_turn_one = R"(
SELECT owner, ticket, attempt, lease FROM rowlock_waiter
WHERE name = ?1 AND expires_at > SYSDATE(6) AND COALESCE(lease, 1) <> 0 AND (COALESCE(room, -1) <> -2 OR {insists})
ORDER BY ticket LIMIT 1)";

// The lease does not end later than before: docs/protocol.md.
constexpr std::string_view grant_one = R"(
UPDATE (SELECT l.name, q.ticket, q.owner, q.thread, q.note, q.attempt, LEAST(q.lease, 1000000) AS time
    FROM rowlock_lock l FORCE INDEX (PRIMARY) STRAIGHT_JOIN rowlock_waiter q FORCE INDEX (PRIMARY) ON q.ticket = ?3
    WHERE l.name = ?1 AND l.acquisition = ?2 AND l.owner IS NOT NULL
      AND l.expires_at > SYSDATE(6) + INTERVAL 300000 MICROSECOND
      AND q.attempt = ?4 AND q.lease > 0 AND q.expires_at > SYSDATE(6) LIMIT 1 FOR UPDATE SKIP LOCKED) g
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = g.name
  STRAIGHT_JOIN rowlock_waiter q FORCE INDEX (PRIMARY) ON q.ticket = g.ticket
SET l.owner = g.owner, l.thread = g.thread, l.note = g.note, l.acquisition = g.attempt,
  l.version = GREATEST(l.version + 1, {token}), l.acquired_at = SYSDATE(6),
  l.expires_at = LEAST(l.expires_at, SYSDATE(6) + INTERVAL g.time MICROSECOND), q.lease = 0)";

// The lease argument is the time since the grant at which the lease ends.
constexpr std::string_view defer_release_one = R"(
UPDATE /*!80000 (SELECT name FROM rowlock_lock
    WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL AND expires_at > SYSDATE(6)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own STRAIGHT_JOIN */
  rowlock_lock l /*!80000 ON l.name = own.name */
SET l.expires_at = l.acquired_at + INTERVAL ?3 MICROSECOND, l.thread = '(released)'
/*M!100600 WHERE l.name = ?1 AND l.acquisition = ?2 AND l.owner IS NOT NULL AND l.expires_at > SYSDATE(6) */)";

constexpr std::string_view defer_release_many = R"(
UPDATE (SELECT l.name, w.lease FROM {wanted(name, acquisition, lease)} w
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL AND l.expires_at > SYSDATE(6)
    LIMIT 1000000 FOR UPDATE /*!80000 OF l */ SKIP LOCKED) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.expires_at = l.acquired_at + INTERVAL own.lease MICROSECOND, l.thread = '(released)')";

// A row whose lease ends then already counts as not changed. {wanted}, {acquisition}, {lease}, {name}: of one request,
// or of each in a batch.
constexpr std::string_view release_deferred = R"(
SELECT {acquisition}, l.expires_at <> l.acquired_at + INTERVAL {lease} MICROSECOND
FROM {wanted} STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = {name}
WHERE l.acquisition = {acquisition} AND l.owner IS NOT NULL)";

// It does not ask who the owner is: the version says which state of the row was looked at.
constexpr std::string_view free_one = R"(
UPDATE /*!80000 (SELECT name FROM rowlock_lock
    WHERE name = ?1 AND version = ?2 AND owner IS NOT NULL LIMIT 1 FOR UPDATE SKIP LOCKED) own STRAIGHT_JOIN */
  rowlock_lock l /*!80000 ON l.name = own.name */
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, {token}),
  l.expires_at = SYSDATE(6)
/*M!100600 WHERE l.name = ?1 AND l.version = ?2 AND l.owner IS NOT NULL */)";

std::string granted(std::string_view text, std::string_view own, std::string_view lease,
                    std::string_view seen = "NOT {own}waiting AND ") {
  auto out = replaced(replaced(text, "{granting}", granting), "{of_no_new_row}", of_no_new_row);
  out = replaced(out, "{seen}", seen);
  return replaced(replaced(out, "{own}", own), "{lease}", lease);
}

// {and_floor}, {new_version}, for a statement that makes rows.
constexpr std::string_view and_the_floor = "{floor} one STRAIGHT_JOIN ";
constexpr std::string_view version_of_new =
    "IF(EXISTS (SELECT 1 FROM rowlock_lock s WHERE s.name = CAST(w.name AS BINARY)), 0, {first_token})";

std::string granted_many(std::string_view unlocked, std::string_view and_floor = and_the_floor,
                         std::string_view new_version = version_of_new) {
  auto out = replaced(replaced(acquire_many, "{unlocked}", unlocked), "{and_floor}", and_floor);
  return granted(replaced(out, "{new_version}", new_version), "rowlock_lock.", "w.lease");
}

// On MariaDB it makes none: see acquire_one.
std::string granted_many_existing(std::string_view unlocked) {
  const auto on_mysql = [](std::string_view text) { return std::string{"/*!80000 "}.append(text).append(" */"); };
  return granted_many(unlocked, on_mysql(and_the_floor), "/*M!100600 0 */" + on_mysql(version_of_new));
}

/// A text that asks for one request, or for each of a batch.
struct asked_lease {
  std::string_view wanted, name, acquisition, lease;
};
constexpr asked_lease of_one_lease{"(SELECT 1) one", "?1", "?2", "?3"};
constexpr asked_lease of_many_leases{"{wanted(name, acquisition, lease)} w", "CAST(w.name AS BINARY)", "w.acquisition",
                                     "w.lease"};

std::string asking(std::string_view text, const asked_lease& of) {
  auto out = replaced(replaced(text, "{wanted}", of.wanted), "{name}", of.name);
  return replaced(replaced(out, "{acquisition}", of.acquisition), "{lease}", of.lease);
}

step prolonging(verb what, std::string_view end, std::string_view changed) {
  const auto told = replaced(prolonged, "{changed}", changed);
  return {.verb = what,
          .key = 1,
          .act = replaced(replaced(prolong_one, "{end}", end), "{lease}", of_one_lease.lease),
          .told = asking(told, of_one_lease),
          .many = replaced(replaced(prolong_many, "{end}", end), "{lease}", "own.lease"),
          .many_told = asking(told, of_many_leases),
          .answered_by = 2,
          .always_changes = what == verb::extend};
}

step releasing(verb what, std::string_view and_alone, std::string_view and_each_alone) {
  return {.verb = what,
          .key = 1,
          .act = replaced(release_one, "{and_alone}", and_alone),
          .many = replaced(release_many, "{and_alone}", and_each_alone),
          .many_told = std::string{released_many},
          .counts = true};
}

}  // namespace

std::array<step, 16> leases() {
  return std::to_array<step>({
      {.verb = verb::acquire,
       .key = 3,
       .act = granted(acquire_one, "", "?5"),
       .told = replaced(acquired_one, "?2", "?4"),
       .many = granted_many_existing("/*!80000 " + replaced(free_and_unlocked, "{of_l}", "OF l") + " */"),
       .many_skipping = granted_many(replaced(free_and_unlocked, "{of_l}", "/*!80000 OF l */")),
       .many_told = std::string{acquired_many},
       .making = granted(make_and_acquire_one, "", "?5"),
       .many_making = granted_many("WHERE TRUE"),
       .locks_where_refused = true},
      {.verb = verb::acquire_any,
       .many = std::string{acquire_the_first_free},
       .many_told = std::string{acquired_the_first_free},
       .takes_one = true,
       .always_changes = true},
      {.verb = verb::acquire_all,
       .key = 3,
       .many = std::string{acquire_all_of_them},
       .many_told = std::string{acquired_all_of_them},
       .takes_all = true,
       .always_changes = true},
      {.verb = verb::compare_and_set,
       .key = 3,
       .act = granted(acquire_one, "", "?5", "version = ?7 AND "),
       .told = replaced(acquired_one, "?2", "?4"),
       .making = granted(make_and_acquire_one, "", "?5", "version = ?7 AND ")},
      {.verb = verb::hold, .act = std::string{hold_one}, .told = std::string{held_one}, .always_changes = true},
      {.verb = verb::make, .act = std::string{make_one}},
      {.verb = verb::vacate_expired, .act = std::string{vacate_expired_one}},
      prolonging(verb::renew, "GREATEST(l.expires_at, SYSDATE(6) + INTERVAL {lease} MICROSECOND)",
                 "remaining * 2 > lease"),
      prolonging(verb::extend, "SYSDATE(6) + INTERVAL {lease} MICROSECOND",
                 "remaining BETWEEN lease - 10000000 AND lease AND remaining > 0"),
      releasing(verb::release, "", ""),
      releasing(verb::release_alone, " AND NOT waiting", " AND NOT l.waiting"),
      {.verb = verb::first_in_turn,
       .look = replaced(first_in_turn_one, "{insists}", replaced(insists, "{q}", "rowlock_waiter"))},
      {.verb = verb::grant, .key = 1, .act = std::string{grant_one}, .counts = true},
      {.verb = verb::reserve,
       .key = 1,
       .act = std::string{reserve_one},
       .told = std::string{reserved_one},
       .always_changes = true},
      {.verb = verb::defer_release,
       .key = 1,
       .act = std::string{defer_release_one},
       .told = asking(release_deferred, of_one_lease),
       .many = std::string{defer_release_many},
       .many_told = asking(release_deferred, of_many_leases),
       .counts = true},
      {.verb = verb::free, .act = std::string{free_one}, .counts = true},
  });
}

}  // namespace rowlock::inline v1::dialect::mysql_parts
