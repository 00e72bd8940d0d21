-- Every statement that rowlock sends to MySQL and MariaDB. The library is built with this text, and its page in docs/
-- is written from it: src/sql/loader.hpp describes its form. docs/protocol.md has the laws, and shows why all is safe.
--
-- One text serves both servers: only MariaDB is sent what is in /*M!100600 ... */, and only MySQL what is in
-- /*!80000 ... */. `rowlock_` is replaced by the place of the tables and their prefix; `:name` is an argument. The
-- requests of a batch are one JSON document, :requests. Also replaced are:
--
--   insists(x)         The ticket x is that of a set that insists now: see below.
--   us(x)              Microseconds of a time since 1970: TIMESTAMPDIFF(MICROSECOND, '1970-01-01', x).
--   wanted(a, b)       The requests of a batch as rows with these arguments:
--                      JSON_TABLE(:requests, '$[*]' COLUMNS (...)).
--   locked(a, b)       The requests that were noted in @rowlock.shares.
--   {guarded}          If the guard is on: AND the server's incarnation is that of the guard, and no quarantine is
--                      on. Otherwise nothing. Where it does not hold, a statement grants nothing.
--   {where guarded}    The same, for a statement without WHERE.
--   {values}, {end}    VALUES ( and ). If the guard is on: SELECT and nothing, so that {guarded} locks nothing.
--   {incarnation}      The expression for the server's incarnation.
--   {clock}            In the caller's transaction: the time in UTC, whatever time zone the session has.
--
-- The clock is SYSDATE(6), read once the row is locked. Assignments run from left to right (sql_mode is ours),
-- so the first one decides, by an id that no other attempt has, and all others follow it: a second reading of the clock
-- might decide otherwise.
--
-- The sweeper deletes only rows whose version is at most the floor, the token of the share with the empty name. A new
-- row begins above the floor. Nothing is locked to read it: one read view sees both whether there is a row, and the
-- floor, which was committed before the deletion. A statement that does not see the row sees the floor.
--
-- A set that waits for all of its names has a ticket with room < -1 in each queue. For a second in every five seconds
-- it insists: the names are kept free for it.

-- ---- Acquiring ------------------------------------------------------------------------------------------------------

-- name: acquire(name, owner, thread, acquisition, lease, note) -> acquisition, version, left, permits
-- doing: acquiring
-- does: the owner holds the name for the lease, if it is free
-- rules: locks_where_refused
-- locks: MariaDB: the row, without waiting. MySQL: FOR UPDATE SKIP LOCKED on a row that looks free
-- clock: after the lock
-- no row: inconclusive
-- reply lost: it makes no difference to which statement, since the read back shows what the write has done
-- One decision: the first assignment decides, by the clock and the newest row, whether the row changes hands.
-- The others test whether it has the new acquisition. If each read the clock again, a lease that ends in between would
-- be half taken.
--
-- Exclusion: on a duplicate key InnoDB locks the row and reads its newest version. Of two that saw it free, the second
-- finds it taken, or is answered 1205 at once (MariaDB). An error of the read back is a lost reply, too: 1317 (killed)
-- or 3024 (max_execution_time, for SELECT alone) may meet it after the write was committed.
--
-- The read back is sent on MySQL always, on MariaDB if the row was locked. After error 1690 MariaDB is sent making,
-- which has the floor. Both of its sub-selects read by one read view, without a lock. Its answer does not say whether a
-- row was made. A session begins with making once, after a new row for one more request, after several for up to 64.
--
-- A refused attempt locks nothing on MySQL. On MariaDB it has the row locked for its statement, tens of microseconds,
-- in a batch until the commit. No session waits for it: another statement that wants the row is answered 1205, and
-- tries again. So that clients that keep trying do not obstruct renewals, a client that was refused a name
-- looks first (inspect), until it has held the name.
--
-- If a session has a row of a batch locked, MariaDB answers 1205 and undoes the batch. Then batch skipping is sent,
-- which leaves that row out. If that fails as well, because the row was made just then, each request is sent alone.
-- Rows in MariaDB's answer whose acquisition is not of the batch are dropped, and batch read back is sent for them.
-- With fifo, turn reads the queue in a statement of its own before.
-- write: MariaDB never waits for a row (innodb_lock_wait_timeout = 0), and answers its holder. MySQL locks no row
--   that is not free, and answers nothing. MariaDB would read the floor for every row, even an existing one, so this
--   makes none: a new row has version 0, with which its answer cannot be calculated (error 1690), and that undoes the
--   whole statement. If a client waits, a free row is not taken before the queue was seen.
INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
/*M!100600 {values} :name, 0, */ /*!80000 SELECT :name, GREATEST(one.swept + 1, us(SYSDATE(6))), */
:owner, :thread, :acquisition, SYSDATE(6), SYSDATE(6) + INTERVAL :lease MICROSECOND, :note
/*M!100600 {end} */ /*!80000
FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM rowlock_share WHERE name = '' AND acquisition = '') one
WHERE :name IN (SELECT name FROM (SELECT name FROM rowlock_lock
    WHERE name = :name AND NOT waiting AND (owner IS NULL OR expires_at <= SYSDATE(6)) LIMIT 1
      FOR UPDATE SKIP LOCKED) free)
  OR NOT EXISTS (SELECT 1 FROM rowlock_lock WHERE name = :name){guarded} */
ON DUPLICATE KEY UPDATE
  acquisition = IF(NOT waiting AND (owner IS NULL OR expires_at <= SYSDATE(6)){guarded}, VALUES(acquisition), acquisition),
  version = IF(acquisition = VALUES(acquisition), GREATEST(version + 1, us(SYSDATE(6))), version),
  thread = IF(acquisition = VALUES(acquisition), VALUES(thread), thread),
  acquired_at = IF(acquisition = VALUES(acquisition), SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL :lease MICROSECOND, expires_at),
  note = IF(acquisition = VALUES(acquisition), VALUES(note), note),
  owner = IF(acquisition = VALUES(acquisition), VALUES(owner), owner)
/*M!100600 RETURNING :acquisition, IF(acquisition = :acquisition,
  IF(version = 0, 9223372036854775807 - (version - 1), version), NULL),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)' */;
-- read back: the row is ours even if the lease was granted and has ended meanwhile
SELECT :acquisition, IF(acquisition = :acquisition, version, NULL), TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at),
  owner = '(shared)'
FROM rowlock_lock
WHERE name = :name
  AND (waiting OR (owner IS NOT NULL AND (acquisition = :acquisition OR expires_at IS NULL
    OR expires_at > SYSDATE(6))));
-- batch: MariaDB answers every row that it met, whichever client holds it
INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT w.name, /*M!100600 0 *//*!80000 IF(EXISTS (SELECT 1 FROM rowlock_lock s WHERE s.name = CAST(w.name AS BINARY)),
  0, GREATEST(one.swept + 1, us(SYSDATE(6)))) */, w.owner, w.thread, w.acquisition, SYSDATE(6),
  SYSDATE(6) + INTERVAL w.lease MICROSECOND, w.note
FROM /*!80000 (SELECT COALESCE(MAX(token), 0) AS swept FROM rowlock_share WHERE name = '' AND acquisition = '') one
  STRAIGHT_JOIN */wanted(name, owner, thread, acquisition, lease, note) w
/*!80000 WHERE CAST(w.name AS BINARY) IN (SELECT name FROM (
    SELECT l.name FROM wanted(name) v
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(v.name AS BINARY)
    WHERE NOT l.waiting AND (l.owner IS NULL OR l.expires_at <= SYSDATE(6))
    LIMIT 1000000 FOR UPDATE OF l SKIP LOCKED) free)
  OR NOT EXISTS (SELECT 1 FROM rowlock_lock l FORCE INDEX (PRIMARY) WHERE l.name = CAST(w.name AS BINARY)){guarded} */
ON DUPLICATE KEY UPDATE
  acquisition = IF(NOT rowlock_lock.waiting AND (rowlock_lock.owner IS NULL OR rowlock_lock.expires_at <= SYSDATE(6)){guarded},
    VALUES(acquisition), rowlock_lock.acquisition),
  version = IF(rowlock_lock.acquisition = VALUES(acquisition), GREATEST(rowlock_lock.version + 1, us(SYSDATE(6))),
    rowlock_lock.version),
  thread = IF(rowlock_lock.acquisition = VALUES(acquisition), VALUES(thread), rowlock_lock.thread),
  acquired_at = IF(rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6), rowlock_lock.acquired_at),
  expires_at = IF(rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL w.lease MICROSECOND,
    rowlock_lock.expires_at),
  note = IF(rowlock_lock.acquisition = VALUES(acquisition), VALUES(note), rowlock_lock.note),
  owner = IF(rowlock_lock.acquisition = VALUES(acquisition), VALUES(owner), rowlock_lock.owner)
/*M!100600 RETURNING acquisition, IF(version = 0, 9223372036854775807 - (version - 1), version),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)' */;
-- batch skipping: locks no row that is not free, and skips those that others have locked
INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT w.name, IF(EXISTS (SELECT 1 FROM rowlock_lock s WHERE s.name = CAST(w.name AS BINARY)), 0,
  GREATEST(one.swept + 1, us(SYSDATE(6)))), w.owner, w.thread, w.acquisition, SYSDATE(6),
  SYSDATE(6) + INTERVAL w.lease MICROSECOND, w.note
FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM rowlock_share WHERE name = '' AND acquisition = '') one
  STRAIGHT_JOIN wanted(name, owner, thread, acquisition, lease, note) w
WHERE CAST(w.name AS BINARY) IN (SELECT name FROM (
    SELECT l.name FROM wanted(name) v
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(v.name AS BINARY)
    WHERE NOT l.waiting AND (l.owner IS NULL OR l.expires_at <= SYSDATE(6))
    LIMIT 1000000 FOR UPDATE /*!80000 OF l */ SKIP LOCKED) free)
  OR NOT EXISTS (SELECT 1 FROM rowlock_lock l FORCE INDEX (PRIMARY) WHERE l.name = CAST(w.name AS BINARY)){guarded}
ON DUPLICATE KEY UPDATE
  acquisition = IF(NOT rowlock_lock.waiting AND (rowlock_lock.owner IS NULL OR rowlock_lock.expires_at <= SYSDATE(6)){guarded},
    VALUES(acquisition), rowlock_lock.acquisition),
  version = IF(rowlock_lock.acquisition = VALUES(acquisition), GREATEST(rowlock_lock.version + 1, us(SYSDATE(6))),
    rowlock_lock.version),
  thread = IF(rowlock_lock.acquisition = VALUES(acquisition), VALUES(thread), rowlock_lock.thread),
  acquired_at = IF(rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6), rowlock_lock.acquired_at),
  expires_at = IF(rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL w.lease MICROSECOND,
    rowlock_lock.expires_at),
  note = IF(rowlock_lock.acquisition = VALUES(acquisition), VALUES(note), rowlock_lock.note),
  owner = IF(rowlock_lock.acquisition = VALUES(acquisition), VALUES(owner), rowlock_lock.owner)
/*M!100600 RETURNING acquisition, IF(version = 0, 9223372036854775807 - (version - 1), version),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)' */;
-- batch read back:
SELECT w.acquisition, IF(l.acquisition = w.acquisition, l.version, NULL),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at), l.owner = '(shared)'
FROM wanted(name, acquisition) w
STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
WHERE l.waiting
  OR (l.owner IS NOT NULL AND (l.acquisition = w.acquisition OR l.expires_at IS NULL OR l.expires_at > SYSDATE(6)));
-- making: MariaDB. A row that is seen is not made: it may be being deleted, and the floor seen is the one before.
INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT :name, IF(EXISTS (SELECT 1 FROM rowlock_lock WHERE name = :name), 0, GREATEST(one.swept + 1, us(SYSDATE(6)))),
  :owner, :thread, :acquisition, SYSDATE(6), SYSDATE(6) + INTERVAL :lease MICROSECOND, :note
FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM rowlock_share WHERE name = '' AND acquisition = '') one{where guarded}
ON DUPLICATE KEY UPDATE
  acquisition = IF(NOT waiting AND (owner IS NULL OR expires_at <= SYSDATE(6)), VALUES(acquisition), acquisition),
  version = IF(acquisition = VALUES(acquisition), GREATEST(version + 1, us(SYSDATE(6))), version),
  thread = IF(acquisition = VALUES(acquisition), VALUES(thread), thread),
  acquired_at = IF(acquisition = VALUES(acquisition), SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL :lease MICROSECOND, expires_at),
  note = IF(acquisition = VALUES(acquisition), VALUES(note), note),
  owner = IF(acquisition = VALUES(acquisition), VALUES(owner), owner)
RETURNING :acquisition, IF(acquisition = :acquisition, IF(version = 0, 9223372036854775807 - (version - 1), version),
  NULL), TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)';
-- batch making:
INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT w.name, IF(EXISTS (SELECT 1 FROM rowlock_lock s WHERE s.name = CAST(w.name AS BINARY)), 0,
  GREATEST(one.swept + 1, us(SYSDATE(6)))), w.owner, w.thread, w.acquisition, SYSDATE(6),
  SYSDATE(6) + INTERVAL w.lease MICROSECOND, w.note
FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM rowlock_share WHERE name = '' AND acquisition = '') one
  STRAIGHT_JOIN wanted(name, owner, thread, acquisition, lease, note) w
WHERE TRUE{guarded}
ON DUPLICATE KEY UPDATE
  acquisition = IF(NOT rowlock_lock.waiting AND (rowlock_lock.owner IS NULL OR rowlock_lock.expires_at <= SYSDATE(6)),
    VALUES(acquisition), rowlock_lock.acquisition),
  version = IF(rowlock_lock.acquisition = VALUES(acquisition), GREATEST(rowlock_lock.version + 1, us(SYSDATE(6))),
    rowlock_lock.version),
  thread = IF(rowlock_lock.acquisition = VALUES(acquisition), VALUES(thread), rowlock_lock.thread),
  acquired_at = IF(rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6), rowlock_lock.acquired_at),
  expires_at = IF(rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL w.lease MICROSECOND,
    rowlock_lock.expires_at),
  note = IF(rowlock_lock.acquisition = VALUES(acquisition), VALUES(note), rowlock_lock.note),
  owner = IF(rowlock_lock.acquisition = VALUES(acquisition), VALUES(owner), rowlock_lock.owner)
/*M!100600 RETURNING acquisition, IF(version = 0, 9223372036854775807 - (version - 1), version),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)' */;

-- name: acquire_existing(name, owner, thread, acquisition, lease, note) -> acquisition, version, left, permits
-- doing: acquiring
-- does: acquires, if there is a row, which is free, and for which no client waits
-- none: an update answers no row there, and the read back would cost more than it saves

-- name: acquire_any(name, owner, thread, acquisition, lease, note) -> name, version, left
-- doing: acquiring
-- does: acquires the first name of a batch that is free. The rows must exist
-- rules: takes_one, always_changes
-- locks: FOR UPDATE SKIP LOCKED on the first row that is free
-- clock: after the lock
-- no row: none is free, or has a row
-- batch: in the order of the batch. Rows that others have locked are skipped, and those that a client waits for.
UPDATE (SELECT l.name, w.owner, w.thread, w.acquisition, w.lease, w.note
    FROM wanted(name, owner, thread, acquisition, lease, note) w
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE NOT l.waiting AND (l.owner IS NULL OR l.expires_at <= SYSDATE(6)){guarded}
    LIMIT 1 FOR UPDATE /*!80000 OF l */ SKIP LOCKED) g
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = g.name
SET l.version = GREATEST(l.version + 1, us(SYSDATE(6))), l.owner = g.owner, l.thread = g.thread,
  l.acquisition = g.acquisition, l.acquired_at = SYSDATE(6), l.expires_at = SYSDATE(6) + INTERVAL g.lease MICROSECOND,
  l.note = g.note;
-- batch read back:
SELECT l.name, l.version, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at) FROM wanted(name, acquisition) w
STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
WHERE l.owner IS NOT NULL AND l.acquisition = w.acquisition;

-- name: acquire_all(name, owner, thread, acquisition, lease, note, version) -> acquisition, version, left
-- doing: acquiring
-- does: acquires all names of a batch, or none. version: as it was seen, or 0 for any. The rows must exist
-- rules: takes_all, always_changes
-- locks: FOR UPDATE SKIP LOCKED on each row that is free
-- clock: after the lock
-- no row: one is not free, or has no row
-- batch: version 0 is any, unless a client waits
UPDATE (SELECT f.*, COUNT(*) OVER () AS number FROM (
      SELECT l.name, w.owner, w.thread, w.acquisition, w.lease, w.note
      FROM wanted(name, owner, thread, acquisition, lease, note, version) w
      STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
      WHERE (l.owner IS NULL OR l.expires_at <= SYSDATE(6)) AND IF(w.version = 0, NOT l.waiting, l.version = w.version){guarded}
      LIMIT 1000000 FOR UPDATE /*!80000 OF l */ SKIP LOCKED) f) g
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = g.name
SET l.version = GREATEST(l.version + 1, us(SYSDATE(6))), l.owner = g.owner, l.thread = g.thread,
  l.acquisition = g.acquisition, l.acquired_at = SYSDATE(6), l.expires_at = SYSDATE(6) + INTERVAL g.lease MICROSECOND,
  l.note = g.note
WHERE g.number = JSON_LENGTH(:requests);
-- batch read back:
SELECT l.acquisition, l.version, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at) FROM wanted(name, acquisition) w
STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
WHERE l.owner IS NOT NULL AND l.acquisition = w.acquisition;

-- name: acquire_in_turn(name, owner, thread, acquisition, lease, note, ticket, turn, patience) -> acquisition, version, left, is_behind, has_ticket, has_left, looks_free, holding, held_as, waiting
-- doing: acquiring
-- does: acquires, and answers the place in the queue. Tickets after turn do not count; a granted ticket is deleted
-- none: it would save nothing

-- name: compare_and_set(name, owner, thread, acquisition, lease, note, version) -> acquisition, version, left, permits
-- doing: acquiring
-- does: acquires, if the row has the version that was seen
-- locks: as acquire, and the row must have the version
-- clock: after the lock
-- no row: inconclusive
-- As acquire, but the first assignment tests the version, too. A row of another owner in the answer is busy. MariaDB
-- also answers a vacant row of another version: nothing is left of its lease, and it counts as inconclusive. If the
-- row was deleted since inspect, it is inserted: no client holds the name.
-- write:
INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
/*M!100600 {values} :name, 0, */ /*!80000 SELECT :name, GREATEST(one.swept + 1, us(SYSDATE(6))), */
:owner, :thread, :acquisition, SYSDATE(6), SYSDATE(6) + INTERVAL :lease MICROSECOND, :note
/*M!100600 {end} */ /*!80000
FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM rowlock_share WHERE name = '' AND acquisition = '') one
WHERE :name IN (SELECT name FROM (SELECT name FROM rowlock_lock
    WHERE name = :name AND version = :version AND (owner IS NULL OR expires_at <= SYSDATE(6)) LIMIT 1
      FOR UPDATE SKIP LOCKED) free)
  OR NOT EXISTS (SELECT 1 FROM rowlock_lock WHERE name = :name){guarded} */
ON DUPLICATE KEY UPDATE
  acquisition = IF(version = :version AND (owner IS NULL OR expires_at <= SYSDATE(6)){guarded}, VALUES(acquisition),
    acquisition),
  version = IF(acquisition = VALUES(acquisition), GREATEST(version + 1, us(SYSDATE(6))), version),
  thread = IF(acquisition = VALUES(acquisition), VALUES(thread), thread),
  acquired_at = IF(acquisition = VALUES(acquisition), SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL :lease MICROSECOND, expires_at),
  note = IF(acquisition = VALUES(acquisition), VALUES(note), note),
  owner = IF(acquisition = VALUES(acquisition), VALUES(owner), owner)
/*M!100600 RETURNING :acquisition, IF(acquisition = :acquisition,
  IF(version = 0, 9223372036854775807 - (version - 1), version), NULL),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)' */;
-- read back: as acquire
-- making:
INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT :name, IF(EXISTS (SELECT 1 FROM rowlock_lock WHERE name = :name), 0, GREATEST(one.swept + 1, us(SYSDATE(6)))),
  :owner, :thread, :acquisition, SYSDATE(6), SYSDATE(6) + INTERVAL :lease MICROSECOND, :note
FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM rowlock_share WHERE name = '' AND acquisition = '') one{where guarded}
ON DUPLICATE KEY UPDATE
  acquisition = IF(version = :version AND (owner IS NULL OR expires_at <= SYSDATE(6)), VALUES(acquisition),
    acquisition),
  version = IF(acquisition = VALUES(acquisition), GREATEST(version + 1, us(SYSDATE(6))), version),
  thread = IF(acquisition = VALUES(acquisition), VALUES(thread), thread),
  acquired_at = IF(acquisition = VALUES(acquisition), SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL :lease MICROSECOND, expires_at),
  note = IF(acquisition = VALUES(acquisition), VALUES(note), note),
  owner = IF(acquisition = VALUES(acquisition), VALUES(owner), owner)
RETURNING :acquisition, IF(acquisition = :acquisition, IF(version = 0, 9223372036854775807 - (version - 1), version),
  NULL), TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)';

-- name: hold(name) -> name, version, waiting
-- doing: acquiring
-- does: acquires in a transaction that remains open
-- rules: always_changes
-- locks: MariaDB: the row, without waiting. MySQL: FOR UPDATE SKIP LOCKED on a row that looks free. Until the
--   transaction ends
-- clock: after the lock
-- no row: inspect shows: leased, missing, or locked
-- reply lost: the session is closed, as after a lost reply to the read back
-- START TRANSACTION is sent before it. The change always counts as one, since the version grows: if no row was
-- changed, the name is not held. The read back reads what the transaction itself has written. After 1205, 1213 or 1020
-- the transaction is rolled back, whatever the error has left of it. A leased row that was looked at is unlocked at
-- once, at the latest by the ROLLBACK.
--
-- Without the privilege PROCESS no client sees transactions of other users. So the row says which session holds it,
-- for clients that read uncommitted data (find_held). After the COMMIT that is obsolete: the row is vacant, or its
-- lease is over.
--
-- The release is COMMIT, as durable as the server's settings make it. If it is lost, so is only the higher version.
-- transaction_limit is wait_timeout on MySQL, idle_transaction_timeout on MariaDB. See
-- docs/protocol.md#locks-held-by-transactions.
-- write: in a transaction that remains open. No other session can see to which session the row's lock belongs, so the
--   row says so; with the version from which it began, it differs from what an earlier transaction has left there.
UPDATE /*!80000 (SELECT name FROM rowlock_lock
    WHERE name = :name AND (owner IS NULL OR expires_at <= SYSDATE(6)) LIMIT 1 FOR UPDATE SKIP LOCKED) free
      STRAIGHT_JOIN */
  rowlock_lock l /*!80000 ON l.name = free.name */
SET l.thread = CONCAT('session ', CONNECTION_ID(), ' from ', l.version),
  l.version = GREATEST(l.version + 1, us(SYSDATE(6))), l.note = NULL
/*M!100600 WHERE l.name = :name AND (l.owner IS NULL OR l.expires_at <= SYSDATE(6)) */;
-- read back: an update of joined tables would keep the row of {guarded} locked until the transaction ends
SELECT name, version, waiting FROM rowlock_lock WHERE name = :name{guarded};

-- name: hold_while_alive(name, owner, thread, acquisition, lease, note, liveness) -> acquisition, version, left, permits
-- doing: acquiring
-- does: acquires without a lease: while the client's liveness file is locked
-- none: a transaction holds a row without a lease: hold

-- name: names_liveness(liveness) -> anything
-- doing: tidying up after dead clients
-- does: answers whether a row names that liveness file
-- none: as hold_while_alive

-- name: vacate_dead(liveness) -> anything
-- doing: tidying up after dead clients
-- does: frees the rows that name it
-- none: as hold_while_alive

-- name: make(name) -> anything
-- doing: acquiring
-- does: makes a vacant row, if there is none
-- locks: the row, if another client has made it just then: MariaDB without waiting, MySQL for at most 1 s
-- clock: after the lock
-- no row: always
-- It changes nothing of a row that exists.
-- write:
INSERT INTO rowlock_lock (name, version, expires_at) SELECT :name, GREATEST(one.swept + 1, us(SYSDATE(6))), SYSDATE(6)
  FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM rowlock_share WHERE name = '' AND acquisition = '') one
  WHERE NOT EXISTS (SELECT 1 FROM rowlock_lock WHERE name = :name)
  ON DUPLICATE KEY UPDATE version = rowlock_lock.version;

-- name: vacate_expired(name) -> anything
-- doing: acquiring
-- does: frees the row, if its lease has ended and no session has it locked
-- locks: MariaDB: the row, without waiting. MySQL: FOR UPDATE SKIP LOCKED on a row whose lease has ended
-- clock: after the lock
-- no row: always
-- write: a late holder's renew and confirm find no owner then
UPDATE /*!80000 (SELECT name FROM rowlock_lock
    WHERE name = :name AND owner IS NOT NULL AND expires_at <= SYSDATE(6) LIMIT 1 FOR UPDATE SKIP LOCKED) own
  STRAIGHT_JOIN */ rowlock_lock l /*!80000 ON l.name = own.name */
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, us(SYSDATE(6))),
  l.expires_at = SYSDATE(6)
/*M!100600 WHERE l.name = :name AND l.owner IS NOT NULL AND l.expires_at <= SYSDATE(6) */;

-- ---- Holding and releasing ------------------------------------------------------------------------------------------

-- name: renew(name, acquisition, lease) -> acquisition, left
-- doing: renewing
-- does: the lease ends that long from now, but not earlier than before
-- answered by: lease
-- locks: MariaDB: the row, without waiting. MySQL, and batches: FOR UPDATE SKIP LOCKED
-- clock: after the lock
-- no row: inspect shows why
-- reply lost: the remaining lease is valid whichever statement wrote it, so it is repeated
-- An update answers how many rows it has changed, not which. If these are all, each has the new lease. Otherwise the
-- rows are read. A row that was skipped has less left than was asked for, and gives no answer: the renewal is
-- tried again.
-- write: a row that another session keeps locked is left out
UPDATE /*!80000 (SELECT name FROM rowlock_lock
    WHERE name = :name AND acquisition = :acquisition AND owner IS NOT NULL AND expires_at > SYSDATE(6)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own STRAIGHT_JOIN */
  rowlock_lock l /*!80000 ON l.name = own.name */
SET l.expires_at = GREATEST(l.expires_at, SYSDATE(6) + INTERVAL :lease MICROSECOND)
WHERE /*M!100600 l.name = :name AND l.acquisition = :acquisition AND l.owner IS NOT NULL
  AND */ l.expires_at > SYSDATE(6);
-- read back: an update does not answer which rows it has changed: this recognizes a changed lease
SELECT acquisition, remaining FROM (
  SELECT l.acquisition, :lease AS lease, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at) AS remaining
  FROM (SELECT 1) one STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = :name
  WHERE l.acquisition = :acquisition AND l.owner IS NOT NULL) own
WHERE remaining * 2 > lease;
-- batch:
UPDATE (SELECT l.name, w.lease FROM wanted(name, acquisition, lease) w
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL AND l.expires_at > SYSDATE(6)
    LIMIT 1000000 FOR UPDATE /*!80000 OF l */ SKIP LOCKED) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.expires_at = GREATEST(l.expires_at, SYSDATE(6) + INTERVAL own.lease MICROSECOND)
WHERE l.expires_at > SYSDATE(6);
-- batch read back:
SELECT acquisition, remaining FROM (
  SELECT l.acquisition, w.lease AS lease, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at) AS remaining
  FROM wanted(name, acquisition, lease) w STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY)
    ON l.name = CAST(w.name AS BINARY)
  WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL) own
WHERE remaining * 2 > lease;

-- name: extend(name, acquisition, lease) -> acquisition, left
-- doing: extending
-- does: the lease ends that long from now, even if it ended later before
-- rules: always_changes
-- answered by: lease
-- locks: MariaDB: the row, without waiting. MySQL, and batches: FOR UPDATE SKIP LOCKED
-- clock: after the lock
-- no row: inspect shows why
-- An extension that changed no row at all was not made, whatever the rows say.
-- write:
UPDATE /*!80000 (SELECT name FROM rowlock_lock
    WHERE name = :name AND acquisition = :acquisition AND owner IS NOT NULL AND expires_at > SYSDATE(6)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own STRAIGHT_JOIN */
  rowlock_lock l /*!80000 ON l.name = own.name */
SET l.expires_at = SYSDATE(6) + INTERVAL :lease MICROSECOND
WHERE /*M!100600 l.name = :name AND l.acquisition = :acquisition AND l.owner IS NOT NULL
  AND */ l.expires_at > SYSDATE(6);
-- read back: as renew
SELECT acquisition, remaining FROM (
  SELECT l.acquisition, :lease AS lease, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at) AS remaining
  FROM (SELECT 1) one STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = :name
  WHERE l.acquisition = :acquisition AND l.owner IS NOT NULL) own
WHERE remaining BETWEEN lease - 10000000 AND lease AND remaining > 0;
-- batch:
UPDATE (SELECT l.name, w.lease FROM wanted(name, acquisition, lease) w
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL AND l.expires_at > SYSDATE(6)
    LIMIT 1000000 FOR UPDATE /*!80000 OF l */ SKIP LOCKED) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.expires_at = SYSDATE(6) + INTERVAL own.lease MICROSECOND
WHERE l.expires_at > SYSDATE(6);
-- batch read back:
SELECT acquisition, remaining FROM (
  SELECT l.acquisition, w.lease AS lease, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at) AS remaining
  FROM wanted(name, acquisition, lease) w STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY)
    ON l.name = CAST(w.name AS BINARY)
  WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL) own
WHERE remaining BETWEEN lease - 10000000 AND lease AND remaining > 0;

-- name: reserve(name, acquisition, lease, number) -> acquisition, left, version, others_wait
-- doing: handing over
-- does: renews, and raises the version by that number at least, for tokens of holders in one process
-- rules: always_changes
-- locks: as release
-- clock: after the lock
-- no row: not ours, pinned, or expired: the lock is released
-- Between the two statements the name may be released, freed or taken over. The acquisition then has no owner, or is
-- not in the row, and nothing is answered. The remaining lease counts from before the update was sent.
-- write:
UPDATE /*!80000 (SELECT name FROM rowlock_lock
    WHERE name = :name AND acquisition = :acquisition AND owner IS NOT NULL AND expires_at > SYSDATE(6)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own STRAIGHT_JOIN */
  rowlock_lock l /*!80000 ON l.name = own.name */
SET l.version = GREATEST(l.version + :number, us(SYSDATE(6))),
  l.expires_at = GREATEST(l.expires_at, SYSDATE(6) + INTERVAL :lease MICROSECOND)
WHERE /*M!100600 l.name = :name AND l.acquisition = :acquisition AND l.owner IS NOT NULL
  AND */ l.expires_at > SYSDATE(6){guarded};
-- read back: only the acquisition itself raises its version, so this is the version after the update
SELECT l.acquisition, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at), l.version,
  EXISTS (SELECT 1 FROM rowlock_waiter w WHERE w.name = :name AND w.owner <> l.owner AND w.expires_at > SYSDATE(6)
    AND COALESCE(w.lease, 1) <> 0)
FROM rowlock_lock l WHERE l.name = :name AND l.acquisition = :acquisition AND l.owner IS NOT NULL;

-- name: release(name, acquisition) -> acquisition, notified, waiting
-- doing: releasing
-- does: frees the name, or grants it to the first waiter in turn. notified is NULL: no client is notified
-- rules: counts
-- locks: MariaDB: the row, without waiting. MySQL, and batches: FOR UPDATE SKIP LOCKED
-- clock: after the lock
-- no row: inspect shows: pinned, or not ours
-- The number of changed rows answers. If a batch changed fewer, the rows are read that still have the acquisition. If
-- those with an owner (pinned) are all that are missing, all others were released, even if another client holds the
-- row meanwhile. Otherwise some had been lost before, and those count as released whose rows are vacant.
--
-- It is as durable as the server's settings make it. It notifies no client: the releasing thread wakes the next waiter.
-- write:
UPDATE /*!80000 (SELECT name FROM rowlock_lock
    WHERE name = :name AND acquisition = :acquisition AND owner IS NOT NULL LIMIT 1 FOR UPDATE SKIP LOCKED) own
  STRAIGHT_JOIN */ rowlock_lock l /*!80000 ON l.name = own.name */
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, us(SYSDATE(6))),
  l.expires_at = SYSDATE(6)
/*M!100600 WHERE l.name = :name AND l.acquisition = :acquisition AND l.owner IS NOT NULL */;
-- batch:
UPDATE (SELECT l.name FROM wanted(name, acquisition) w
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL
    LIMIT 1000000 FOR UPDATE /*!80000 OF l */ SKIP LOCKED) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, us(SYSDATE(6))),
  l.expires_at = SYSDATE(6);
-- batch read back: a row that was released may have another owner already, and then it is not found
SELECT w.acquisition, l.owner IS NOT NULL FROM wanted(name, acquisition) w
STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
WHERE l.acquisition = w.acquisition;

-- name: release_alone(name, acquisition) -> acquisition, notified, waiting
-- doing: releasing
-- does: releases, if no client waits
-- rules: counts
-- locks: MariaDB: the row, without waiting. MySQL, and batches: FOR UPDATE SKIP LOCKED
-- clock: after the lock
-- no row: a client waits, as far as the row says, or as release: release follows
-- Sent first. A row that it leaves because a client waits gets grant, or release if no ticket may be granted the name.
-- write:
UPDATE /*!80000 (SELECT name FROM rowlock_lock
    WHERE name = :name AND acquisition = :acquisition AND owner IS NOT NULL AND NOT waiting LIMIT 1
      FOR UPDATE SKIP LOCKED) own
  STRAIGHT_JOIN */ rowlock_lock l /*!80000 ON l.name = own.name */
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, us(SYSDATE(6))),
  l.expires_at = SYSDATE(6)
/*M!100600 WHERE l.name = :name AND l.acquisition = :acquisition AND l.owner IS NOT NULL AND NOT waiting */;
-- batch:
UPDATE (SELECT l.name FROM wanted(name, acquisition) w
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL AND NOT l.waiting
    LIMIT 1000000 FOR UPDATE /*!80000 OF l */ SKIP LOCKED) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, us(SYSDATE(6))),
  l.expires_at = SYSDATE(6);
-- batch read back: as release

-- name: first_in_turn(name) -> owner, ticket, attempt, lease
-- doing: releasing
-- does: the first ticket without a grant
-- locks: none
-- clock: in the row's expression
-- no row: no ticket may be granted the name
-- A ticket that is committed between this and grant, with a lower number, came later.
-- read: in a statement of its own, which reads without locks: a writing statement would wait for tickets that others
--   are changing
SELECT q.owner, q.ticket, q.attempt, q.lease FROM rowlock_waiter q
WHERE q.name = :name AND q.expires_at > SYSDATE(6) AND COALESCE(q.lease, 1) <> 0
  AND (COALESCE(q.room, -1) <> -2 OR insists(q))
ORDER BY q.ticket LIMIT 1;

-- name: grant(name, acquisition, ticket, attempt) -> acquisition
-- doing: releasing
-- does: grants the lease to that ticket, which gets no second grant
-- rules: counts
-- locks: FOR UPDATE SKIP LOCKED on the row and the ticket
-- clock: after the lock
-- no row: release follows
-- reply lost: the reconciler repeats the release, which finds another acquisition in the row, or releases it
-- If the first waiter has left since first_in_turn, or its ticket is locked, or {guarded} does not hold, nothing is
-- granted, and release follows.
-- It also follows if the row is pinned or not ours any more, and shows which.
-- write: the lease does not end later than before
UPDATE (SELECT l.name, q.ticket, q.owner, q.thread, q.note, q.attempt, LEAST(q.lease, 1000000) AS time
    FROM rowlock_lock l FORCE INDEX (PRIMARY) STRAIGHT_JOIN rowlock_waiter q FORCE INDEX (PRIMARY) ON q.ticket = :ticket
    WHERE l.name = :name AND l.acquisition = :acquisition AND l.owner IS NOT NULL
      AND l.expires_at > SYSDATE(6) + INTERVAL 300000 MICROSECOND
      AND q.attempt = :attempt AND q.lease > 0 AND q.expires_at > SYSDATE(6){guarded} LIMIT 1 FOR UPDATE SKIP LOCKED) g
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = g.name
  STRAIGHT_JOIN rowlock_waiter q FORCE INDEX (PRIMARY) ON q.ticket = g.ticket
SET l.owner = g.owner, l.thread = g.thread, l.note = g.note, l.acquisition = g.attempt,
  l.version = GREATEST(l.version + 1, us(SYSDATE(6))), l.acquired_at = SYSDATE(6),
  l.expires_at = LEAST(l.expires_at, SYSDATE(6) + INTERVAL g.time MICROSECOND), q.lease = 0;

-- name: defer_release(name, acquisition, lease) -> acquisition, notified
-- doing: releasing
-- does: releases later: the lease ends that long after the grant
-- rules: counts
-- locks: as release
-- clock: after the lock
-- no row: inspect shows: pinned, over, or not ours
-- An update that writes the existing value counts as no change. So a row that has that end is deferred, whichever
-- statement wrote it. A batch answers as that of release. See docs/protocol.md#holding-time-at_least-and-hold_limit.
-- write: :lease is the time since the grant
UPDATE /*!80000 (SELECT name FROM rowlock_lock
    WHERE name = :name AND acquisition = :acquisition AND owner IS NOT NULL AND expires_at > SYSDATE(6)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own STRAIGHT_JOIN */
  rowlock_lock l /*!80000 ON l.name = own.name */
SET l.expires_at = l.acquired_at + INTERVAL :lease MICROSECOND, l.thread = '(released)'
/*M!100600 WHERE l.name = :name AND l.acquisition = :acquisition AND l.owner IS NOT NULL
  AND l.expires_at > SYSDATE(6) */;
-- read back: a row whose lease ends then already counts as not changed
SELECT :acquisition, l.expires_at <> l.acquired_at + INTERVAL :lease MICROSECOND
FROM (SELECT 1) one STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = :name
WHERE l.acquisition = :acquisition AND l.owner IS NOT NULL;
-- batch:
UPDATE (SELECT l.name, w.lease FROM wanted(name, acquisition, lease) w
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL AND l.expires_at > SYSDATE(6)
    LIMIT 1000000 FOR UPDATE /*!80000 OF l */ SKIP LOCKED) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.expires_at = l.acquired_at + INTERVAL own.lease MICROSECOND, l.thread = '(released)';
-- batch read back:
SELECT w.acquisition, l.expires_at <> l.acquired_at + INTERVAL w.lease MICROSECOND
FROM wanted(name, acquisition, lease) w STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY)
  ON l.name = CAST(w.name AS BINARY)
WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL;

-- name: free(name, version) -> name
-- doing: freeing
-- does: frees the row of that version, whichever client holds it, also after a crash
-- rules: counts
-- locks: as release
-- clock: after the lock
-- no row: locked by another session, or of another version
-- The number of changed rows answers. See docs/protocol.md#freeing-by-force.
-- write: whichever client is the owner: the version identifies the state of the row that was looked at
UPDATE /*!80000 (SELECT name FROM rowlock_lock
    WHERE name = :name AND version = :version AND owner IS NOT NULL LIMIT 1 FOR UPDATE SKIP LOCKED) own STRAIGHT_JOIN */
  rowlock_lock l /*!80000 ON l.name = own.name */
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, us(SYSDATE(6))),
  l.expires_at = SYSDATE(6)
/*M!100600 WHERE l.name = :name AND l.version = :version AND l.owner IS NOT NULL */;

-- ---- Sharing --------------------------------------------------------------------------------------------------------
--
-- No statement both updates and inserts, so most verbs are several statements, with their values in them (text in
-- hexadecimal), from START TRANSACTION to COMMIT, then the read back, in one message. The server carries out one after
-- the other, so a client that is paused or cut off keeps no row locked. The first that fails ends them, and the client
-- rolls back; if all but the last were carried out, they were committed. If the reply is lost, the outcome is unknown,
-- whichever was carried out. In these statements alone MariaDB waits for the row (innodb_lock_wait_timeout = 1). A
-- deadlock (1213) counts as inconclusive.

-- name: share(name, owner, thread, acquisition, lease, note, permits, room, version) -> acquisition, version, left, permits
-- doing: acquiring
-- does: shares the name, if it is free, or shared with at most `room` permits. version 0: if no client waits
-- locks: FOR UPDATE on a row that looks free, or shared with free permits: waits at most 1 s; of several names: SKIP
--   LOCKED
-- clock: after the lock
-- no row: turn shows why
-- The end of a share is at most the end of the row, which was written before.
-- write: waits for the row, briefly: clients that share a name change it at any time. The first assignment decides
--   whether this begins a new sharing of the name, and all others follow it. Version 0: no client may wait.
/*M!100600 SET STATEMENT innodb_lock_wait_timeout = 1 FOR */
UPDATE rowlock_lock SET
  acquisition = IF(COALESCE(owner = '(shared)' AND expires_at > SYSDATE(6), FALSE), acquisition,
    CONCAT('shared:', :acquisition)),
  sharers = IF(acquisition = CONCAT('shared:', :acquisition), 0, sharers) + :permits,
  acquired_at = IF(acquisition = CONCAT('shared:', :acquisition), SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = CONCAT('shared:', :acquisition), SYSDATE(6) + INTERVAL :lease MICROSECOND,
    GREATEST(expires_at, SYSDATE(6) + INTERVAL :lease MICROSECOND)),
  version = GREATEST(version + 1, us(SYSDATE(6))), owner = '(shared)', thread = NULL, note = NULL
WHERE name = :name AND (owner IS NULL OR expires_at <= SYSDATE(6) OR (owner = '(shared)' AND sharers <= :room))
  AND IF(:version = 0, NOT waiting, version = :version
    OR COALESCE(owner = '(shared)' AND expires_at > SYSDATE(6), FALSE)){guarded};
-- then:
INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
SELECT :name, :acquisition, l.acquisition, :permits, l.version, :owner, :thread, SYSDATE(6),
  LEAST(l.expires_at, SYSDATE(6) + INTERVAL :lease MICROSECOND), :note
FROM rowlock_lock l WHERE l.name = :name AND ROW_COUNT() > 0;
-- read back:
SELECT acquisition, token, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at) FROM rowlock_share
WHERE name = :name AND acquisition = :acquisition;
-- batch: of one name, and as a whole. Only the inner SELECT reads the clock, above the lock.
/*M!100600 SET STATEMENT innodb_lock_wait_timeout = 1 FOR */
UPDATE (SELECT r.*, r.at + INTERVAL r.lease MICROSECOND AS ends,
      COALESCE(r.owner = '(shared)' AND r.expires_at > r.at, FALSE) AS joins
    FROM (SELECT l.name, l.owner, l.expires_at, SYSDATE(6) AS at, t.number, t.permits, t.lease, t.first
      FROM (SELECT w.name, COUNT(*) AS number, SUM(w.permits) AS permits, MAX(w.lease) AS lease,
          MIN(w.acquisition) AS first, MAX(w.room) AS room, MAX(w.version) AS version
        FROM wanted(name, acquisition, lease, permits, room, version) w GROUP BY w.name) t
      STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(t.name AS BINARY)
      WHERE (l.owner IS NULL OR l.expires_at <= SYSDATE(6) OR (l.owner = '(shared)' AND l.sharers <= t.room))
        AND IF(t.version = 0, NOT l.waiting,
          l.version = t.version OR COALESCE(l.owner = '(shared)' AND l.expires_at > SYSDATE(6), FALSE)){guarded}
      LIMIT 1 FOR UPDATE /*!80000 OF l */) r) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.version = GREATEST(l.version + 1, us(own.at)) + own.number - 1, l.owner = '(shared)', l.thread = NULL,
  l.note = NULL, l.sharers = IF(own.joins, l.sharers, 0) + own.permits,
  l.acquisition = IF(own.joins, l.acquisition, CONCAT('shared:', own.first)),
  l.acquired_at = IF(own.joins, l.acquired_at, own.at),
  l.expires_at = IF(own.joins, GREATEST(l.expires_at, own.ends), own.ends);
-- batch then:
INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
SELECT l.name, w.acquisition, l.acquisition, w.permits, l.version + 1 - ROW_NUMBER() OVER (ORDER BY w.acquisition DESC),
  w.owner, w.thread, SYSDATE(6), LEAST(l.expires_at, SYSDATE(6) + INTERVAL w.lease MICROSECOND), w.note
FROM wanted(name, owner, thread, acquisition, lease, note, permits) w
STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY) AND ROW_COUNT() > 0;
-- batch skipping: of any names, those of a name as a whole. The locked rows are noted in a variable, each with its first
--   request, and the following statements use that.
/*M!100600 SET STATEMENT innodb_lock_wait_timeout = 1, group_concat_max_len = 1073741824 FOR */
SELECT JSON_ARRAYAGG(JSON_ARRAY(own.name, 0, 0, own.first)) INTO @rowlock.shares FROM (
  SELECT t.name, t.first
  FROM (SELECT w.name, MIN(w.acquisition) AS first, MAX(w.room) AS room, MAX(w.version) AS version
    FROM wanted(name, acquisition, room, version) w GROUP BY CAST(w.name AS BINARY)) t
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(t.name AS BINARY)
  WHERE (l.owner IS NULL OR l.expires_at <= SYSDATE(6) OR (l.owner = '(shared)' AND l.sharers <= t.room))
    AND IF(t.version = 0, NOT l.waiting,
      l.version = t.version OR COALESCE(l.owner = '(shared)' AND l.expires_at > SYSDATE(6), FALSE)){guarded}
  LIMIT 1000000 FOR UPDATE /*!80000 OF l */ SKIP LOCKED) own;
UPDATE (SELECT r.*, r.at + INTERVAL r.lease MICROSECOND AS ends,
      COALESCE(r.owner = '(shared)' AND r.expires_at > r.at, FALSE) AS joins
    FROM (SELECT l.name, l.owner, l.expires_at, SYSDATE(6) AS at, t.number, t.permits, t.lease, k.acquisition AS first
      FROM locked(name, acquisition) k
      STRAIGHT_JOIN (SELECT w.name, COUNT(*) AS number, SUM(w.permits) AS permits, MAX(w.lease) AS lease
        FROM wanted(name, lease, permits) w GROUP BY CAST(w.name AS BINARY)) t
        ON CAST(t.name AS BINARY) = CAST(k.name AS BINARY)
      STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(k.name AS BINARY)
      LIMIT 1000000 FOR UPDATE /*!80000 OF l */) r) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.version = GREATEST(l.version + 1, us(own.at)) + own.number - 1, l.owner = '(shared)', l.thread = NULL,
  l.note = NULL, l.sharers = IF(own.joins, l.sharers, 0) + own.permits,
  l.acquisition = IF(own.joins, l.acquisition, CONCAT('shared:', own.first)),
  l.acquired_at = IF(own.joins, l.acquired_at, own.at),
  l.expires_at = IF(own.joins, GREATEST(l.expires_at, own.ends), own.ends);
-- batch skipping then:
INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
SELECT l.name, w.acquisition, l.acquisition, w.permits,
  l.version + 1 - ROW_NUMBER() OVER (PARTITION BY l.name ORDER BY w.acquisition DESC),
  w.owner, w.thread, SYSDATE(6), LEAST(l.expires_at, SYSDATE(6) + INTERVAL w.lease MICROSECOND), w.note
FROM locked(name) k
STRAIGHT_JOIN wanted(name, owner, thread, acquisition, lease, note, permits) w
  ON CAST(w.name AS BINARY) = CAST(k.name AS BINARY)
STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(k.name AS BINARY);
-- batch read back:
SELECT s.acquisition, s.token, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), s.expires_at)
FROM wanted(name, acquisition) w
STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY) ON s.name = CAST(w.name AS BINARY)
  AND s.acquisition = w.acquisition;

-- name: renew_share(name, acquisition, lease) -> acquisition, left
-- doing: renewing
-- does: the lease of the share ends that long from now, but not earlier than before
-- rules: batch_waits
-- locks: FOR UPDATE on the rows and the shares; of one name: waits at most 1 s, of several: SKIP LOCKED
-- clock: after the lock
-- no row: one name: not among sharers: lost; several: repeated name by name
-- batch: of a row that is found for several shares an update makes one change only, so each has the last end of all
{waiting}/*M!100600 SET STATEMENT innodb_lock_wait_timeout = 1 FOR */
UPDATE (SELECT k.*, MAX(k.ends) OVER (PARTITION BY k.name) AS last FROM (
      SELECT r.name, r.acquisition, GREATEST(r.expires_at, r.at + INTERVAL r.lease MICROSECOND) AS ends FROM (
        SELECT l.name, s.acquisition, s.expires_at, w.lease, SYSDATE(6) AS at
        FROM wanted(name, acquisition, lease) w
        STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
        STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
        WHERE l.owner = '(shared)' AND l.acquisition = s.since
        LIMIT 1000000 FOR UPDATE /*!80000 OF l, s */{skipping}) r
      WHERE r.expires_at > r.at) k) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
  STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY) ON s.name = own.name AND s.acquisition = own.acquisition
SET l.expires_at = GREATEST(l.expires_at, own.last), s.expires_at = own.ends;
-- batch skipping: as batch
-- batch read back: an update does not answer what it has changed: this recognizes a changed lease
SELECT acquisition, remaining FROM (
  SELECT s.acquisition, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), s.expires_at) AS remaining, w.lease
  FROM wanted(name, acquisition, lease) w
  STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY)
    ON s.name = CAST(w.name AS BINARY) AND s.acquisition = w.acquisition
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY)
    ON l.name = s.name AND l.owner = '(shared)' AND l.acquisition = s.since) own
WHERE remaining > 0 AND remaining * 2 > lease;

-- name: extend_share(name, acquisition, lease) -> acquisition, left
-- doing: extending
-- does: the lease of the share ends that long from now, even if it ended later before
-- rules: batch_waits
-- locks: FOR UPDATE on the rows and the shares; of one name: waits at most 1 s, of several: SKIP LOCKED
-- clock: after the lock
-- no row: one name: not among sharers: lost; several: repeated name by name
-- batch:
{waiting}/*M!100600 SET STATEMENT innodb_lock_wait_timeout = 1 FOR */
UPDATE (SELECT k.*, MAX(k.ends) OVER (PARTITION BY k.name) AS last FROM (
      SELECT r.name, r.acquisition, r.at + INTERVAL r.lease MICROSECOND AS ends FROM (
        SELECT l.name, s.acquisition, s.expires_at, w.lease, SYSDATE(6) AS at
        FROM wanted(name, acquisition, lease) w
        STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
        STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
        WHERE l.owner = '(shared)' AND l.acquisition = s.since
        LIMIT 1000000 FOR UPDATE /*!80000 OF l, s */{skipping}) r
      WHERE r.expires_at > r.at) k) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
  STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY) ON s.name = own.name AND s.acquisition = own.acquisition
SET l.expires_at = GREATEST(l.expires_at, own.last), s.expires_at = own.ends;
-- batch skipping: as batch
-- batch read back:
SELECT acquisition, remaining FROM (
  SELECT s.acquisition, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), s.expires_at) AS remaining, w.lease
  FROM wanted(name, acquisition, lease) w
  STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY)
    ON s.name = CAST(w.name AS BINARY) AND s.acquisition = w.acquisition
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY)
    ON l.name = s.name AND l.owner = '(shared)' AND l.acquisition = s.since) own
WHERE remaining > 0 AND remaining BETWEEN lease - 10000000 AND lease;

-- name: release_share(name, acquisition, expired) -> acquisition, notified, waiting
-- doing: releasing
-- does: ends the share. expired is 1: only if its lease has ended
-- rules: batch_waits
-- locks: as renew_share
-- clock: after the lock
-- no row: sharers shows: pinned, or not ours
-- write: as upgrade_share: without a lock, then the row, then the share. Without any permits the row is vacant. One
--   share needs no variable with a document, which would cost more than the two looks.
SET @rowlock.share = NULL, @rowlock.name = NULL;
SELECT l.name INTO @rowlock.name
FROM rowlock_lock l FORCE INDEX (PRIMARY) STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name
WHERE l.name = :name AND l.owner = '(shared)' AND l.acquisition = s.since AND s.acquisition = :acquisition LIMIT 1;
/*M!100600 SET STATEMENT innodb_lock_wait_timeout = 1 FOR */
SELECT s.acquisition, s.permits INTO @rowlock.share, @rowlock.permits
FROM rowlock_lock l FORCE INDEX (PRIMARY) STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name
WHERE l.name = @rowlock.name AND l.owner = '(shared)' AND l.acquisition = s.since AND s.acquisition = :acquisition
  AND (:expired = 0 OR s.expires_at <= SYSDATE(6))
  LIMIT 1 FOR UPDATE;
UPDATE rowlock_lock SET sharers = sharers - @rowlock.permits, owner = IF(sharers > 0, owner, NULL),
  version = IF(sharers > 0, version, GREATEST(version + 1, us(SYSDATE(6)))),
  expires_at = IF(sharers > 0, expires_at, SYSDATE(6))
WHERE name = @rowlock.name AND @rowlock.share IS NOT NULL;
-- then:
DELETE FROM rowlock_share WHERE name = :name AND acquisition = @rowlock.share;
-- read back:
SELECT :acquisition, NULL, waiting FROM rowlock_lock WHERE name = :name AND @rowlock.share IS NOT NULL;
-- batch: the same of many. The locked rows are noted in a variable, and the following statements use that. The permits
--   of all shares of a name are taken off at once.
/*M!100600 SET STATEMENT innodb_lock_wait_timeout = 1, group_concat_max_len = 1073741824 FOR */
SELECT JSON_ARRAYAGG(JSON_ARRAY(own.name, own.acquisition)) INTO @rowlock.shares FROM (
  SELECT w.name, w.acquisition FROM (
    SELECT w.* FROM wanted(name, acquisition, expired) w
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
    WHERE l.owner = '(shared)' AND l.acquisition = s.since LIMIT 1000000) w
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
  STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
  WHERE l.owner = '(shared)' AND l.acquisition = s.since AND (w.expired = 0 OR s.expires_at <= SYSDATE(6))
  LIMIT 1000000 FOR UPDATE /*!80000 OF l, s */) own;
UPDATE (SELECT l.name, l.sharers - SUM(s.permits) AS sharers FROM locked(name, acquisition) w
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
    GROUP BY l.name, l.sharers) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.sharers = own.sharers, l.owner = IF(own.sharers > 0, l.owner, NULL),
  l.version = IF(own.sharers > 0, l.version, GREATEST(l.version + 1, us(SYSDATE(6)))),
  l.expires_at = IF(own.sharers > 0, l.expires_at, SYSDATE(6));
-- batch skipping: with innodb_lock_wait_timeout = 0, MariaDB answers 1180 to a SELECT that skips a row
/*M!100600 SET STATEMENT innodb_lock_wait_timeout = 1, group_concat_max_len = 1073741824 FOR */
SELECT JSON_ARRAYAGG(JSON_ARRAY(own.name, own.acquisition)) INTO @rowlock.shares FROM (
  SELECT w.name, w.acquisition FROM wanted(name, acquisition, expired) w
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
  STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
  WHERE l.owner = '(shared)' AND l.acquisition = s.since AND (w.expired = 0 OR s.expires_at <= SYSDATE(6))
  LIMIT 1000000 FOR UPDATE /*!80000 OF l, s */ SKIP LOCKED) own;
UPDATE (SELECT l.name, l.sharers - SUM(s.permits) AS sharers FROM locked(name, acquisition) w
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
    GROUP BY l.name, l.sharers) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.sharers = own.sharers, l.owner = IF(own.sharers > 0, l.owner, NULL),
  l.version = IF(own.sharers > 0, l.version, GREATEST(l.version + 1, us(SYSDATE(6)))),
  l.expires_at = IF(own.sharers > 0, l.expires_at, SYSDATE(6));
-- batch then:
DELETE s FROM locked(name, acquisition) w
STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY) ON s.name = CAST(w.name AS BINARY) AND s.acquisition = w.acquisition;
-- batch read back:
SELECT w.acquisition, NULL, l.waiting FROM locked(name, acquisition) w
STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY);

-- name: upgrade_share(name, acquisition, owner, thread, note) -> acquisition, version, left
-- doing: upgrading
-- does: the holder holds the name exclusively, if no other shares it
-- locks: as renew_share
-- clock: after the lock
-- no row: others share it, or it is not ours
-- write: a look without a lock comes first: a row without such a share may be locked while a transaction holds the
--   name. Then the row is locked, and then the share, of which the newest state is read. The expiry does not
--   change.
SET @rowlock.share = NULL, @rowlock.name = NULL;
SELECT l.name INTO @rowlock.name
FROM rowlock_lock l FORCE INDEX (PRIMARY) STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name
WHERE l.name = :name AND l.owner = '(shared)' AND l.acquisition = s.since AND s.acquisition = :acquisition LIMIT 1;
/*M!100600 SET STATEMENT innodb_lock_wait_timeout = 1 FOR */
UPDATE (SELECT r.* FROM (
      SELECT l.name, s.expires_at, SYSDATE(6) AS at
      FROM rowlock_lock l FORCE INDEX (PRIMARY)
      STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = :acquisition
      WHERE l.name = @rowlock.name AND l.owner = '(shared)' AND l.acquisition = s.since AND l.sharers = s.permits{guarded}
      LIMIT 1 FOR UPDATE) r WHERE r.expires_at > r.at) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.version = GREATEST(l.version + 1, us(own.at)), l.owner = :owner, l.thread = :thread, l.acquisition = :acquisition,
  l.acquired_at = own.at, l.expires_at = own.expires_at, l.note = :note, l.sharers = 0;
-- then:
DELETE FROM rowlock_share WHERE name = :name AND acquisition = :acquisition AND ROW_COUNT() > 0;
-- read back:
SELECT acquisition, version, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at) FROM rowlock_lock
WHERE name = :name AND acquisition = :acquisition AND owner IS NOT NULL;

-- name: downgrade(name, acquisition, owner, thread, note, attempt, permits) -> acquisition, version, left
-- doing: downgrading
-- does: the holder shares the name from now on
-- locks: as renew_share
-- clock: after the lock
-- no row: the lock is not ours any more
-- write:
SET @rowlock.share = NULL, @rowlock.name = NULL;
SELECT name INTO @rowlock.name FROM rowlock_lock
WHERE name = :name AND acquisition = :acquisition AND owner IS NOT NULL;
/*M!100600 SET STATEMENT innodb_lock_wait_timeout = 1 FOR */
UPDATE (SELECT r.* FROM (
      SELECT name, expires_at, SYSDATE(6) AS at FROM rowlock_lock
      WHERE name = @rowlock.name AND acquisition = :acquisition AND owner IS NOT NULL LIMIT 1 FOR UPDATE) r
    WHERE r.expires_at > r.at) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.version = GREATEST(l.version + 1, us(own.at)), l.owner = '(shared)', l.thread = NULL, l.note = NULL,
  l.acquisition = CONCAT('shared:', :attempt), l.sharers = :permits;
-- then:
INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
SELECT :name, :acquisition, l.acquisition, :permits, l.version, :owner, :thread, SYSDATE(6), l.expires_at, :note
  FROM rowlock_lock l
WHERE l.name = :name AND ROW_COUNT() > 0;
-- read back: as share

-- name: purge_shares(name) -> anything
-- doing: sweeping
-- does: deletes shares that have ended and do not count any more
-- locks: the shares
-- clock: after the lock
-- no row: always
-- write: those that belong to an earlier sharing of the name, which is over
DELETE FROM rowlock_share WHERE name = :name AND expires_at <= SYSDATE(6) AND NOT EXISTS (
  SELECT 1 FROM rowlock_lock l WHERE l.name = :name AND l.owner = '(shared)' AND l.acquisition = rowlock_share.since);

-- name: find_dead_shares(name, number, retention) -> name
-- doing: sweeping
-- does: finds such shares, of the next names
-- locks: none
-- clock: in the row's expression
-- no row: there are none
-- read:
SELECT DISTINCT name FROM rowlock_share
WHERE name > :name AND expires_at <= SYSDATE(6) - INTERVAL :retention MICROSECOND ORDER BY name LIMIT :number;

-- name: sharers(name, expired) -> name, version, owner, thread, acquisition, age, left, note, without_lease, permits
-- doing: listing locks
-- does: the shares of the name that have not ended; expired is 1: those that have
-- locks: none
-- clock: in the row's expression
-- no row: there are none
-- read:
SELECT s.name, s.token, s.owner, s.thread, s.acquisition, TIMESTAMPDIFF(MICROSECOND, s.acquired_at, SYSDATE(6)),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), s.expires_at), s.note, FALSE, s.permits
FROM rowlock_share s JOIN rowlock_lock l ON l.name = s.name AND l.owner = '(shared)' AND l.acquisition = s.since
WHERE s.name = :name AND (s.expires_at > SYSDATE(6)) = (:expired = 0) ORDER BY s.token;
-- batch:
SELECT s.name, s.token, s.owner, s.thread, s.acquisition, TIMESTAMPDIFF(MICROSECOND, s.acquired_at, SYSDATE(6)),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), s.expires_at), s.note, FALSE, s.permits FROM wanted(name, expired) w
STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name
WHERE l.owner = '(shared)' AND l.acquisition = s.since AND (s.expires_at > SYSDATE(6)) = (w.expired = 0);

-- ---- Waiting in turn ------------------------------------------------------------------------------------------------
--
-- Each client has a listener: a connection that is opened when a call first waits, holds the user-level lock
-- rowlock_ID (ID: the end of the client's owner), and sleeps in statements of 10 s. It is closed when no call has
-- waited for that long. A release of a marked name sends KILL QUERY IS_USED_LOCK('rowlock_ID') to the client that it
-- has granted the name; without a grant, to the owner of another client's first ticket (first_waiter). So does a
-- waiter that leaves, because a release may have woken its client. The thread that has released sends it: one round
-- trip or two, none if no client waits.
--
-- The server looks the session's number up inside that statement, and a KILL does the listener no harm. If the
-- listener ended between the look-up and the KILL, and its number was given to another session in that instant, a
-- statement of the same account would be interrupted. Servers count numbers upwards, so this takes a restart of the
-- count. An owner that does not end with 16 hexadecimal digits is not looked up.
--
-- On MySQL the listener sleeps in SELECT SLEEP(10). On MariaDB a KILL that meets a SLEEP as it begins or ends can
-- stop every SLEEP of the server for two seconds (seen on 10.11). There it waits in GET_LOCK(..., 10) for the lock
-- of its second, idle connection. If that is granted, the second connection has ended, and both are opened anew.
--
-- A wake-up names no lock. If all threads of the client wait for one name, the first of them tries; otherwise one
-- look (turn) shows which may try. A KILL between two sleeps has no effect. So the client looks at all its names in
-- one statement 20 ms after a sleep has begun, and then every 2 s. After a sleep that a KILL has ended, it looks
-- after 80 ms, and then after twice as long each time, up to 2 s. If a look shows that others take a name in its
-- turn and wake no client (lock_in, older programs), it looks after 20 ms, and then after twice as long each time,
-- up to 2 s. Waiters try by themselves as on every database.
--
-- The listener proves itself: another connection sends it KILL QUERY every 10 ms until the first sleep ends. If that
-- takes more than 2 s (proxies that share sessions, nodes of a cluster), or there are no user-level locks, the
-- client warns, looks at the queues instead (docs/protocol.md#wake-ups), and tries again after a minute. It also
-- looks while the connection is down. The look every 2 s finds a release by another account, which may not interrupt
-- the listener (1095, 1227). A client that commits for_update wakes the next waiter if the row was marked when it was
-- locked. No client can mark it after that. A waiter that comes later, or waits behind an older program, tries every 5
-- to 250 ms.

-- name: enqueue(name, owner, thread, attempt, life, note, lease, room) -> attempt, ticket
-- doing: waiting in turn
-- does: a ticket at the end of the queue. lease: the lease that a release may grant to it, or NULL
-- rules: always_changes
-- locks: none
-- clock: after the lock
-- no row: never
-- write:
INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at, note, lease, room)
VALUES (:name, :owner, :thread, :attempt, SYSDATE(6), SYSDATE(6) + INTERVAL :life MICROSECOND, :note, :lease, :room)
  /*M!100600 RETURNING attempt, ticket */;
-- read back:
SELECT :attempt, CAST(LAST_INSERT_ID() AS SIGNED);

-- name: refresh_ticket(name, attempt, ticket, life) -> attempt, may_go, waiting
-- doing: waiting in turn
-- does: prolongs the ticket. may_go: whether its turn has come, if that is asked
-- rules: counts
-- locks: FOR UPDATE SKIP LOCKED on tickets
-- clock: after the lock
-- no row: these tickets were deleted
-- A ticket that exists but was skipped counts as existing.
-- batch: only tickets that exist and that no other session has locked are changed
UPDATE (SELECT w.ticket, v.life FROM wanted(attempt, ticket, life) v
    STRAIGHT_JOIN rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = v.ticket
    WHERE w.attempt = v.attempt LIMIT 1000000 FOR UPDATE /*!80000 OF w */ SKIP LOCKED) own
  STRAIGHT_JOIN rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = own.ticket
SET w.expires_at = SYSDATE(6) + INTERVAL own.life MICROSECOND;
-- batch read back:
SELECT v.attempt, FALSE FROM wanted(attempt, ticket) v
STRAIGHT_JOIN rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = v.ticket WHERE w.attempt = v.attempt;

-- name: leave(name, attempt, ticket) -> attempt, notified
-- doing: waiting in turn
-- does: deletes the ticket, and notifies the next waiter of another client
-- rules: counts
-- locks: the ticket: MariaDB without waiting, MySQL for at most 1 s
-- clock: not read
-- no row: another session has it locked: the call is repeated
-- If a waiter acquires the lock by its own attempt, it waits for this durable commit: a release could grant the name to
-- that ticket. A lease that a release has granted needs none: the waiter claims it by renew.
-- write: by the primary key, which locks no other client's ticket
DELETE FROM rowlock_waiter WHERE ticket = :ticket AND attempt = :attempt;
-- read back:
SELECT :attempt, EXISTS (SELECT 1 FROM rowlock_waiter WHERE ticket = :ticket AND attempt = :attempt);
-- batch:
DELETE w FROM wanted(attempt, ticket) v
STRAIGHT_JOIN rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = v.ticket WHERE w.attempt = v.attempt;
-- batch read back:
SELECT v.attempt, w.ticket IS NOT NULL FROM wanted(attempt, ticket) v
LEFT JOIN rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = v.ticket AND w.attempt = v.attempt;

-- name: withdraw(name, attempt) -> anything
-- doing: waiting in turn
-- does: deletes a ticket whose number is not known
-- locks: tickets of the name, as leave
-- clock: not read
-- no row: always
-- write:
DELETE FROM rowlock_waiter WHERE name = :name AND attempt = :attempt;

-- name: mark_waiting(name) -> name
-- doing: waiting in turn
-- does: notes in the row that a client waits
-- locks: FOR UPDATE SKIP LOCKED
-- clock: not read
-- no row: the row could not be marked
-- write: if the row is marked already, nothing is written, and no row is locked. The ticket was committed before: the
--   client that clears the mark looks for tickets once more after that commit. A row that others have locked is left
--   as it is.
UPDATE (SELECT name FROM rowlock_lock WHERE name = :name AND NOT waiting LIMIT 1 FOR UPDATE SKIP LOCKED) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.waiting = TRUE;
-- read back:
SELECT name FROM rowlock_lock WHERE name = :name AND waiting;

-- name: clear_waiting(name) -> name
-- doing: notifying the next waiter
-- does: notes in the row that no client waits, since there is no ticket
-- rules: always_changes
-- locks: FOR UPDATE SKIP LOCKED
-- clock: after the lock
-- no row: a client has a ticket
-- write:
UPDATE (SELECT name FROM rowlock_lock WHERE name = :name AND waiting
    AND NOT EXISTS (SELECT 1 FROM rowlock_waiter
      WHERE name = :name AND expires_at > SYSDATE(6) AND COALESCE(lease, 1) <> 0)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.waiting = FALSE;
-- read back:
SELECT name FROM rowlock_lock WHERE name = :name AND NOT waiting;

-- name: first_waiter(name, attempt) -> owner, notified, is_behind
-- doing: notifying the next waiter
-- does: the first ticket of another client, if the name looks free
-- locks: none
-- clock: in the row's expression
-- no row: no client waits, or the name does not look free
-- read: the attempt begins with the id that ends the owner
SELECT q.owner, NULL, EXISTS (SELECT 1 FROM rowlock_waiter b
    WHERE b.name = :name AND b.ticket < q.ticket AND b.expires_at > SYSDATE(6) AND COALESCE(b.lease, 1) <> 0
      AND (COALESCE(b.room, -1) <> -2 OR insists(b)))
FROM rowlock_waiter q
WHERE q.name = :name AND q.expires_at > SYSDATE(6) AND COALESCE(q.lease, 1) <> 0
  AND RIGHT(q.owner, 16) <> LEFT(:attempt, 16)
  AND NOT EXISTS (SELECT 1 FROM rowlock_lock l
    WHERE l.name = :name AND l.owner <> '(shared)' AND (l.expires_at IS NULL OR l.expires_at > SYSDATE(6)))
ORDER BY COALESCE(q.room, -1) = -2 AND NOT insists(q), q.ticket LIMIT 1;

-- name: turn(name, turn, room, patience) -> name, is_behind, has_ticket, looks_free, left, version, holding, waiting
-- doing: waiting in turn
-- does: for a waiter: the state of its queue and of the name
-- locks: none
-- clock: in the row's expression
-- no row: no client waits
-- read: a ticket to which a release has granted the name does not count: if its waiter does not claim it, others pass,
--   and if it claims too late, it takes another
SELECT :name, EXISTS (SELECT 1 FROM rowlock_waiter b
    WHERE b.name = :name AND b.ticket < :turn AND b.expires_at > SYSDATE(6) AND COALESCE(b.lease, 1) <> 0
      AND CASE WHEN :patience = 0 THEN TRUE WHEN b.room = -2 OR (b.room < -1 AND :patience > 0) THEN insists(b)
        WHEN :patience < 0 THEN TRUE
        ELSE :room >= 0 AND b.enqueued_at <= SYSDATE(6) - INTERVAL :patience MICROSECOND END
      AND (COALESCE(b.room, -1) <> 9223372036854775807 OR :room <> 9223372036854775807)),
  EXISTS (SELECT 1 FROM rowlock_waiter o
    WHERE o.ticket = :turn AND (COALESCE(o.lease, 1) <> 0 OR o.attempt = l.acquisition)),
  l.owner IS NULL OR COALESCE(l.expires_at <= SYSDATE(6) OR (l.owner = '(shared)' AND l.sharers <= :room), FALSE),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at),
  l.version, IF(l.owner IS NULL, NULL, l.acquisition), l.waiting
FROM (SELECT 1) one LEFT JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = :name;
-- batch:
SELECT w.name, EXISTS (SELECT 1 FROM rowlock_waiter b
    WHERE b.name = CAST(w.name AS BINARY) AND b.ticket < w.turn AND b.expires_at > SYSDATE(6)
      AND COALESCE(b.lease, 1) <> 0
      AND CASE WHEN w.patience = 0 THEN TRUE WHEN b.room = -2 OR (b.room < -1 AND w.patience > 0) THEN insists(b)
        WHEN w.patience < 0 THEN TRUE
        ELSE w.room >= 0 AND b.enqueued_at <= SYSDATE(6) - INTERVAL w.patience MICROSECOND END
      AND (COALESCE(b.room, -1) <> 9223372036854775807 OR w.room <> 9223372036854775807)),
  EXISTS (SELECT 1 FROM rowlock_waiter o
    WHERE o.ticket = w.turn AND (COALESCE(o.lease, 1) <> 0 OR o.attempt = l.acquisition)),
  l.owner IS NULL OR COALESCE(l.expires_at <= SYSDATE(6) OR (l.owner = '(shared)' AND l.sharers <= w.room), FALSE),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at),
  l.version, IF(l.owner IS NULL, NULL, l.acquisition), l.waiting
FROM wanted(name, turn, room, patience) w LEFT JOIN rowlock_lock l FORCE INDEX (PRIMARY)
  ON l.name = CAST(w.name AS BINARY);

-- name: waiters(prefix, prefix_end) -> name, ticket, owner, thread, age, note
-- doing: listing waiters
-- does: the live tickets of names with that prefix
-- locks: none
-- clock: in the row's expression
-- no row: no client waits
-- read:
SELECT name, ticket, owner, thread, TIMESTAMPDIFF(MICROSECOND, enqueued_at, SYSDATE(6)), note FROM rowlock_waiter
WHERE name >= :prefix AND (:prefix_end IS NULL OR name < :prefix_end) AND expires_at > SYSDATE(6)
  AND COALESCE(lease, 1) <> 0
ORDER BY name, ticket;

-- name: ring(owner) -> anything
-- doing: waiting in turn
-- does: notifies the own client, which shows that notifications arrive
-- none: the server cannot notify

-- name: notify_waiters(name, number) -> name, notified
-- doing: notifying the next waiter
-- does: notifies the first waiter of each name of a page that looks free
-- none: the server cannot notify

-- ---- Deadlocks ------------------------------------------------------------------------------------------------------

-- name: declare_held(ticket, name, acquisition) -> anything
-- doing: looking for deadlocks
-- does: notes that the waiter holds that name. acquisition is empty: its transaction holds it
-- locks: the edges
-- clock: not read
-- no row: always
-- write:
INSERT INTO rowlock_edge (ticket, name, acquisition) VALUES (:ticket, :name, :acquisition)
ON DUPLICATE KEY UPDATE acquisition = VALUES(acquisition);

-- name: forget_held(ticket) -> anything
-- doing: looking for deadlocks
-- does: deletes these notes
-- locks: the edges
-- clock: not read
-- no row: always
-- write:
DELETE FROM rowlock_edge WHERE ticket = :ticket;

-- name: waiting_holders() -> name, ticket, owner, thread, held_name
-- doing: looking for deadlocks
-- does: each waiter with the names that it holds
-- locks: none
-- clock: in the row's expression
-- no row: there are none
-- read: a waiter that shares the name by now does not wait any more, although its ticket is not deleted yet
SELECT q.name, q.ticket, q.owner, q.thread, e.name
FROM rowlock_edge e JOIN rowlock_waiter q ON q.ticket = e.ticket AND q.expires_at > SYSDATE(6)
LEFT JOIN rowlock_lock l ON l.name = e.name AND l.owner IS NOT NULL
  AND (l.expires_at IS NULL OR l.expires_at > SYSDATE(6))
WHERE (e.acquisition = '' OR l.acquisition = e.acquisition OR EXISTS (SELECT 1 FROM rowlock_share s
    WHERE s.name = e.name AND s.acquisition = e.acquisition AND s.since = l.acquisition AND s.expires_at > SYSDATE(6)))
  AND NOT EXISTS (SELECT 1 FROM rowlock_share s WHERE s.name = q.name AND s.owner = q.owner AND s.thread = q.thread
    AND s.acquired_at > q.enqueued_at)
ORDER BY q.ticket, e.name;

-- name: purge_held() -> anything
-- doing: sweeping
-- does: deletes the notes of deleted tickets
-- locks: the edges
-- clock: not read
-- no row: always
-- write:
DELETE e FROM rowlock_edge e LEFT JOIN rowlock_waiter q ON q.ticket = e.ticket WHERE q.ticket IS NULL;

-- ---- Inspecting -----------------------------------------------------------------------------------------------------

-- name: inspect(name) -> name, version, owner, thread, acquisition, age, left, note, without_lease, waiting
-- doing: listing locks
-- does: the row
-- locks: none
-- clock: in the row's expression
-- no row: there is no row
-- read:
SELECT l.name, l.version, l.owner, l.thread, l.acquisition, TIMESTAMPDIFF(MICROSECOND, l.acquired_at, SYSDATE(6)),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at), l.note, l.expires_at IS NULL, l.waiting FROM rowlock_lock l
    WHERE l.name = :name;
-- batch:
SELECT l.name, l.version, l.owner, l.thread, l.acquisition, TIMESTAMPDIFF(MICROSECOND, l.acquired_at, SYSDATE(6)),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at), l.note, l.expires_at IS NULL, l.waiting FROM wanted(name) w
STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY);

-- name: list(prefix, prefix_end) -> name, version, owner, thread, acquisition, age, left, note, without_lease, permits
-- doing: listing locks
-- does: the rows of names with that prefix
-- locks: none
-- clock: in the row's expression
-- no row: no name is held
-- read:
SELECT l.name, l.version, l.owner, l.thread, l.acquisition, TIMESTAMPDIFF(MICROSECOND, l.acquired_at, SYSDATE(6)),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at), l.note, l.expires_at IS NULL,
  IF(l.owner = '(shared)', (SELECT CAST(LEAST(SUM(GREATEST(s.permits, 0)), 9223372036854775807) AS SIGNED)
    FROM rowlock_share s WHERE s.name = l.name AND s.since = l.acquisition AND s.expires_at > SYSDATE(6)), NULL)
FROM rowlock_lock l
WHERE l.name >= :prefix AND (:prefix_end IS NULL OR l.name < :prefix_end) AND l.owner IS NOT NULL
  AND (l.expires_at IS NULL OR l.expires_at > SYSDATE(6)) ORDER BY l.name;

-- name: touch(name) -> name, version, owner, thread, acquisition, age, left, note, without_lease, is_unlocked
-- doing: acquiring
-- does: the row, and whether it is vacant and no session has it locked
-- none: a transaction's snapshot begins with a statement that reads

-- name: find_held(prefix, prefix_end) -> name, version, owner, session, acquisition, age, left, note, without_lease, transaction
-- doing: listing locks
-- does: the rows of names with that prefix, as open transactions have changed them
-- locks: none
-- clock: in the row's expression
-- no row: no transaction holds the name
-- The driver sends it three times, the second with SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED for it alone. The
-- first and the third show what is committed. A row that all three show free, the second with another version than the
-- first, the third with that of the first, is being changed by an open transaction. If the first and the third differ,
-- a session has committed in between, and nothing is said. If `thread` is as in the first, the transaction, of an
-- older program, has not said which session it has.
--
-- Only force_release depends on this, for the session that it ends, and it can err for a moment: it may leave out a
-- name whose holder has just changed, and show an expired lease that is just being vacated. A lock that is just being
-- acquired has an owner in the second read, and is not shown. The version that was read is the holder's token. Of the
-- holder only the session's number is known.
--
-- Ending a session (force_release) is KILL with its number; 1094 (no such session) counts as ended. A role may end its
-- own sessions, those of others with CONNECTION ADMIN (MySQL: CONNECTION_ADMIN). Any client that may take locks may
-- have written any number into the row. So the server is asked before. MySQL shows which session has the key locked
-- (performance_schema.data_locks). On MariaDB a second session waits for the row (SELECT 1 ... FOR UPDATE, 2 s at
-- most) while the first asks for which one it waits (information_schema.innodb_lock_waits). Only a session among those
-- is ended; otherwise force_release throws and says which ones to look at. That takes the privilege PROCESS (on MySQL
-- instead SELECT on performance_schema.data_locks and threads). MySQL's innodb_trx and processlist cannot be read
-- while any session has a statement with characters of four bytes (error 3854, seen on 9.7).
--
-- A row that confirm has pinned shows its lease. The session that has it pinned is not known, and if the pin has
-- outlasted the lease, it looks free. The program whose session was ended learns it at its next statement:
-- sql::Connection::commit() of Connector/C++ 1.1 does not report that it has failed (seen), the statement COMMIT does.
-- read: an open transaction writes "session N ..." into the row that it changes (hold, lock_in). The note is that of
--   lock_in.
SELECT l.name, l.version, NULL, IF(l.thread REGEXP '^session [0-9]{1,18} ',
    CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(l.thread, ' ', 2), ' ', -1) AS SIGNED), NULL), NULL, NULL,
  NULL, l.note, TRUE, l.thread FROM rowlock_lock l
WHERE (l.owner IS NULL OR l.expires_at <= SYSDATE(6)) AND l.name >= :prefix
  AND (:prefix_end IS NULL OR l.name < :prefix_end);

-- name: find_pinning(name) -> name, version, owner, session, acquisition, age, left, note, without_lease, transaction
-- doing: listing locks
-- does: the transactions that keep the row locked; first those that do not change it
-- none: the server does not show which session has a row locked

-- name: pinned_by(name, sign) -> anything
-- doing: acquiring
-- does: answers whether the transaction of that sign keeps the row as it is
-- locks: none
-- clock: in the row's expression
-- no row: the row is as that transaction sees it: it has not changed it
-- read: no other session sees what a transaction has changed and not committed; confirm always changes the end of the
--   lease
SELECT 1 FROM rowlock_lock WHERE name = :name AND us(expires_at) <> :sign;

-- name: end_session(name, session) -> anything
-- doing: ending another session
-- does: ends that session of the server, if it keeps the row locked
-- none: as find_pinning

-- name: count() -> names, waiters, longest_wait
-- doing: counting
-- does: how many locks and waiters there are
-- locks: none
-- clock: in the row's expression
-- no row: never
-- The figures of `database_stats()` are this and list, on one connection but in two statements, and so perhaps of two
-- moments.
-- read:
SELECT (SELECT COUNT(*) FROM rowlock_lock), COUNT(*), TIMESTAMPDIFF(MICROSECOND, MIN(enqueued_at), SYSDATE(6))
FROM rowlock_waiter WHERE expires_at > SYSDATE(6) AND COALESCE(lease, 1) <> 0;

-- ---- Sweeping -------------------------------------------------------------------------------------------------------

-- name: find_unused(name, number, retention) -> name, is_over, version
-- doing: sweeping
-- does: a page of names: all whose row may be deleted, and the last one
-- locks: none
-- clock: in the row's expression
-- no row: the end of the table
-- read: the version is as old as the last change of ownership, even if that change wrote no expiry
WITH page AS (
  SELECT name, version, expires_at <= SYSDATE(6) - INTERVAL :retention MICROSECOND
    AND version <= us(SYSDATE(6)) - :retention AS is_unused
  FROM rowlock_lock WHERE name > :name ORDER BY name LIMIT :number)
SELECT name, 1, version FROM page WHERE is_unused UNION ALL SELECT MAX(name), 0, 0 FROM page HAVING COUNT(*) > 0;

-- name: raise_floor(version) -> anything
-- doing: sweeping
-- does: rows that are made from now on begin above that version
-- locks: that row, until its commit
-- clock: not read
-- no row: it is as high already
-- write: in a transaction of its own, before the deletion. Raising it in vain does no harm.
INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at)
VALUES ('', '', '', 0, :version, '', '', '1970-01-01', '1970-01-01')
ON DUPLICATE KEY UPDATE token = GREATEST(token, VALUES(token));

-- name: sweep(name, retention) -> name
-- doing: sweeping
-- does: deletes the row, if no client has held the name for so long. Its version is at most the floor
-- rules: counts
-- locks: FOR UPDATE SKIP LOCKED
-- clock: after the lock
-- no row: nothing was deleted
-- batch: the conditions are tested again under the lock
DELETE l FROM (SELECT l.name
  FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM rowlock_share WHERE name = '' AND acquisition = '') one
  STRAIGHT_JOIN wanted(name, retention) w
    STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.expires_at <= SYSDATE(6) - INTERVAL w.retention MICROSECOND AND l.version <= us(SYSDATE(6)) - w.retention
      AND l.version <= one.swept
    LIMIT 1000000 FOR UPDATE /*!80000 OF l */ SKIP LOCKED) unused
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = unused.name;
-- batch read back:
SELECT w.name, TRUE FROM wanted(name) w
STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY);

-- name: find_dead(ticket, number, retention) -> ticket, name, attempt, is_over
-- doing: sweeping
-- does: a page of tickets: all that may be deleted, and the last one
-- locks: none
-- clock: in the row's expression
-- no row: the end of the table
-- read:
WITH page AS (
  SELECT ticket, name, attempt, expires_at <= SYSDATE(6) - INTERVAL :retention MICROSECOND AS is_dead
  FROM rowlock_waiter WHERE ticket > :ticket ORDER BY ticket LIMIT :number)
SELECT ticket, name, attempt, 1 FROM page WHERE is_dead
UNION ALL (SELECT ticket, name, attempt, 0 FROM page ORDER BY ticket DESC LIMIT 1);

-- name: purge_tickets(name, attempt, ticket, retention) -> attempt
-- doing: sweeping
-- does: deletes the tickets of a page that are still dead
-- rules: counts
-- locks: FOR UPDATE SKIP LOCKED
-- clock: after the lock
-- no row: nothing was deleted
-- batch:
DELETE t FROM (SELECT t.ticket FROM wanted(attempt, ticket, retention) w
    STRAIGHT_JOIN rowlock_waiter t FORCE INDEX (PRIMARY) ON t.ticket = w.ticket
    WHERE t.attempt = w.attempt AND t.expires_at <= SYSDATE(6) - INTERVAL w.retention MICROSECOND
    LIMIT 1000000 FOR UPDATE /*!80000 OF t */ SKIP LOCKED) dead
  STRAIGHT_JOIN rowlock_waiter t FORCE INDEX (PRIMARY) ON t.ticket = dead.ticket;
-- batch read back:
SELECT w.attempt, TRUE FROM wanted(attempt, ticket) w
STRAIGHT_JOIN rowlock_waiter t FORCE INDEX (PRIMARY) ON t.ticket = w.ticket WHERE t.attempt = w.attempt;

-- ---- Jobs -----------------------------------------------------------------------------------------------------------
--
-- See docs/protocol.md#jobs. A job is locked under its own name.

-- name: close_runs(name, acquisition, token) -> anything
-- doing: recording a run
-- does: runs of the job whose lock another holder had, and that have no end, are lost from now on
-- locks: FOR UPDATE SKIP LOCKED on the lock's row; the runs
-- clock: after the lock
-- no row: there is none, or the lock is not held
-- An earlier holder cannot record an end any more: end_run would have to find its acquisition in the lock's row. So it
-- does not matter whether it has died, or is paused. Sent twice, it finds nothing to do.
-- write:
UPDATE (SELECT name FROM rowlock_lock
    WHERE name = :name AND acquisition = :acquisition AND owner IS NOT NULL AND expires_at > SYSDATE(6)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own
  STRAIGHT_JOIN rowlock_job_run r ON r.job = own.name
SET r.finished_at = SYSDATE(6), r.result = 'lost'
WHERE r.finished_at IS NULL AND r.token <> :token;

-- name: begin_run(name, acquisition, token, begin, end, number, wait) -> anything
-- doing: recording a run
-- does: records a run that begins, as the next of its period
-- locks: FOR UPDATE SKIP LOCKED on the lock's row
-- clock: after the lock
-- no row: find_runs shows why: a run has succeeded, this lock has begun one, `number` have begun, the last one ended less
--   than `wait` ago, or the lock is not held
-- Only the holder of the lock passes the condition, and no other can hold it before this is committed. So no other
-- client changes the runs of the job in between, and all runs of earlier holders are seen. Whether its reply is lost or
-- it is sent twice, one lock begins one run in a period; a statement that is late finds another acquisition. A run that
-- ended later than now was recorded before the clock was set back, and delays nothing.
-- write:
INSERT INTO rowlock_job_run (job, period_begin, attempt, period_end, owner, token, started_at)
SELECT own.name, TIMESTAMP'1970-01-01 00:00:00.000000' + INTERVAL :begin MICROSECOND,
  (SELECT COALESCE(MAX(r.attempt), 0) + 1 FROM rowlock_job_run r WHERE r.job = :name
    AND r.period_begin = TIMESTAMP'1970-01-01 00:00:00.000000' + INTERVAL :begin MICROSECOND),
  TIMESTAMP'1970-01-01 00:00:00.000000' + INTERVAL :end MICROSECOND, own.owner, :token, SYSDATE(6)
FROM (SELECT name, owner FROM rowlock_lock
    WHERE name = :name AND acquisition = :acquisition AND owner IS NOT NULL AND expires_at > SYSDATE(6)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own
WHERE NOT EXISTS (SELECT 1 FROM rowlock_job_run r WHERE r.job = :name
  AND r.period_begin = TIMESTAMP'1970-01-01 00:00:00.000000' + INTERVAL :begin MICROSECOND
  AND (r.succeeded = 1 OR r.token = :token OR r.attempt >= :number
    OR r.finished_at <= SYSDATE(6) AND r.finished_at > SYSDATE(6) - INTERVAL :wait MICROSECOND))
ON DUPLICATE KEY UPDATE attempt = VALUES(attempt);

-- name: end_run(name, acquisition, token, begin, result, exit_status, signal, output) -> anything
-- doing: recording a run
-- does: records the end of the run that this lock has begun in the period
-- locks: FOR UPDATE SKIP LOCKED on the lock's row; the run
-- clock: after the lock
-- no row: find_runs shows why: an end is recorded, or the lock is not held
-- A holder that has lost the lock records nothing, even if it is not aware of the loss: the row has another acquisition,
-- no owner, or a lease that is over. Otherwise no other client can hold the lock before this is committed. Sent twice,
-- the second finds an end. Besides, a unique key permits one success in a period.
-- write:
UPDATE (SELECT name FROM rowlock_lock
    WHERE name = :name AND acquisition = :acquisition AND owner IS NOT NULL AND expires_at > SYSDATE(6)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own
  STRAIGHT_JOIN rowlock_job_run r ON r.job = own.name
SET r.finished_at = SYSDATE(6), r.result = :result, r.exit_status = :exit_status, r.signal_number = :signal,
  r.output = :output, r.succeeded = IF(:result = 'succeeded', 1, NULL)
WHERE r.period_begin = TIMESTAMP'1970-01-01 00:00:00.000000' + INTERVAL :begin MICROSECOND
  AND r.token = :token AND r.finished_at IS NULL;

-- name: find_runs(name, begin) -> name, begin, end, attempt, owner, token, started_at, finished_at, result, exit_status, signal, output, clock
-- doing: looking for runs
-- does: the runs of a job in a period, the newest first
-- locks: none
-- clock: in the row's expression
-- no row: there is none
-- A run without an end is running if its lock is held, otherwise lost.
-- read:
SELECT r.job, us(r.period_begin), us(r.period_end), r.attempt, r.owner, r.token, us(r.started_at),
  us(r.finished_at), COALESCE(r.result, IF(EXISTS (SELECT 1 FROM rowlock_lock l
    WHERE l.name = r.job AND l.version = r.token AND l.owner IS NOT NULL AND l.expires_at > SYSDATE(6)),
    'running', 'lost')), r.exit_status, r.signal_number, r.output, us(SYSDATE(6))
FROM rowlock_job_run r
WHERE r.job = :name AND r.period_begin = TIMESTAMP'1970-01-01 00:00:00.000000' + INTERVAL :begin MICROSECOND
ORDER BY r.attempt DESC;

-- name: list_runs(prefix, prefix_end, number, each_result) -> name, begin, end, attempt, owner, token, started_at, finished_at, result, exit_status, signal, output
-- doing: looking for runs
-- does: the last runs of each job whose name begins so, or of each of its results, by job, the newest first
-- locks: none
-- clock: in the row's expression
-- no row: there is none
-- read:
SELECT r.job, us(r.period_begin), us(r.period_end), r.attempt, r.owner, r.token, us(r.started_at),
  us(r.finished_at), COALESCE(r.result, IF(EXISTS (SELECT 1 FROM rowlock_lock l
    WHERE l.name = r.job AND l.version = r.token AND l.owner IS NOT NULL AND l.expires_at > SYSDATE(6)),
    'running', 'lost')), r.exit_status, r.signal_number, r.output
FROM (SELECT j.*, ROW_NUMBER() OVER (PARTITION BY j.job, IF(:each_result = 1, j.result, NULL)
    ORDER BY j.period_begin DESC, j.attempt DESC) AS place
  FROM rowlock_job_run j
  WHERE j.job >= :prefix AND (:prefix_end IS NULL OR j.job < :prefix_end)) r
WHERE r.place <= :number ORDER BY r.job, r.period_begin DESC, r.attempt DESC;

-- name: forget_runs(kept, retention, number) -> count
-- doing: sweeping
-- does: deletes runs of periods that ended that long ago, `number` at most, but not the last `kept` of a job
-- locks: the runs
-- clock: in WHERE
-- no row: never; count: of all that were deleted
-- write:
DELETE d FROM rowlock_job_run d JOIN (SELECT r.job, r.period_begin, r.attempt FROM rowlock_job_run r
  WHERE r.period_end <= SYSDATE(6) - INTERVAL :retention MICROSECOND
    AND (SELECT n.attempt FROM rowlock_job_run n
      WHERE n.job = r.job AND n.period_begin >= r.period_begin
        AND (n.period_begin > r.period_begin OR n.attempt >= r.attempt)
      ORDER BY n.period_begin, n.attempt LIMIT 1 OFFSET :kept) IS NOT NULL
  ORDER BY r.period_end LIMIT :number) old
ON d.job = old.job AND d.period_begin = old.period_begin AND d.attempt = old.attempt;
-- read back:
SELECT ROW_COUNT();

-- ---- Schema and settings --------------------------------------------------------------------------------------------
--
-- Statements that change tables commit by themselves, so a file cannot be one transaction. migrate runs it under a
-- user-level lock named after the database, every statement may be run again, and the row that marks the file as
-- applied comes last. A column is added by a prepared statement that does nothing if the column exists: MySQL has no
-- ADD COLUMN IF NOT EXISTS. Killed inside: some tables or columns may exist, the file is not recorded, and the
-- next migrate runs it again. See docs/protocol.md#schema-and-migration.
--
-- A request to change a table comes before all later ones, so renewals would wait behind it, and lock_wait_timeout
-- counts whole seconds. So a second session looks every 25 ms for the state "Waiting for table ..." of the first, and
-- ends the statement by KILL QUERY IS_USED_LOCK(...) after 50 to 100 ms. The missing part is run again after 100 to 200
-- ms, until call_timeout. The same is done after 1205 (MariaDB locks rows of its own tables to change one), 1213 and
-- 1020. Without user-level locks or a second session the limit is lock_wait_timeout = 1.
--
-- Percona XtraDB Cluster refuses GET_LOCK (1105) by default, and each node of a cluster has user-level locks of its
-- own. Then several clients may run one file at once. Statements that make tables and rows do nothing if these
-- exist. A column is looked for and then added, so one of two clients may fail (1050, 1060, 1061): it reads again what
-- is missing, and continues. The row that marks the file as applied is still written after all that is in the file.

-- name: schema() -> version, serves_from, installation, applied_at, clock, checksum
-- doing: reading the schema's version
-- does: the schema files that were applied, the newest first; which database this is, and where in it the tables are
-- locks: none
-- clock: in the row's expression
-- no row: there is no schema
-- read: a copy of a database has the same installation id, but another name, and each table is named in full
SELECT version, serves_from, installation, us(applied_at), us(SYSDATE(6)), checksum
FROM rowlock_migration ORDER BY version DESC;

-- name: probe() -> name
-- doing: checking for permission to write
-- does: the table whose rows may be hidden from this role, if there is one. Fails if locks could not be taken
-- locks: none
-- clock: after the lock
-- no row: always
-- read: privileges are checked even if nothing is written
INSERT INTO rowlock_lock (name, version) SELECT '', 0 FROM (SELECT 1) one WHERE FALSE
ON DUPLICATE KEY UPDATE version = VALUES(version);
-- write:
INSERT INTO rowlock_job_run (job, period_begin, attempt, period_end, owner, token, started_at)
SELECT '', SYSDATE(6), 0, SYSDATE(6), '', 0, SYSDATE(6) FROM (SELECT 1) one WHERE FALSE
ON DUPLICATE KEY UPDATE token = VALUES(token);
-- then:
DELETE l, w, s, e, r FROM rowlock_lock l JOIN rowlock_waiter w JOIN rowlock_share s JOIN rowlock_edge e
  JOIN rowlock_job_run r WHERE FALSE;
-- read back:
INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at, note)
SELECT '', '', '', '', SYSDATE(6), SYSDATE(6), '' FROM (SELECT 1) one WHERE FALSE
ON DUPLICATE KEY UPDATE expires_at = VALUES(expires_at);

-- name: settings() -> name, value
-- doing: reading the settings
-- does: the server's settings, and those of this session
-- locks: none
-- clock: not read
-- no row: never
-- Needs no privilege. For people: no decision depends on it. src/core/diagnosis.cpp says what is good and what is not.
-- read: a server leaves out the settings that it does not have. Each of the tables can be read without a privilege;
--   without PROCESS, no replica of the server is seen. Settings that begin with ssl are '' if nothing is encrypted.
SELECT 'user', CONVERT(CURRENT_USER() USING utf8mb4) UNION ALL SELECT 'database', CONVERT(DATABASE() USING utf8mb4)
UNION ALL SELECT LOWER(s.variable_name), s.variable_value
FROM /*M!100600 information_schema.session_status */ /*!80000 performance_schema.session_status */ s
WHERE s.variable_name IN ('Ssl_version', 'Ssl_cipher')
UNION ALL SELECT LOWER(v.variable_name), v.variable_value
FROM /*M!100600 information_schema.session_variables */ /*!80000 performance_schema.session_variables */ v
WHERE v.variable_name IN ('version', 'innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog', 'wsrep_on',
  'group_replication_group_name')
UNION ALL SELECT 'standbys', COUNT(*) FROM information_schema.processlist p WHERE p.command LIKE 'Binlog Dump%';

-- name: applying(version, checksum) -> anything
-- doing: migrating
-- does: notes the checksum of a schema file
-- locks: the row
-- clock: not read
-- no row: the checksum is there already
-- write:
UPDATE rowlock_migration SET checksum = :checksum WHERE version = :version AND checksum IS NULL;

-- ---- The guard over failovers ----------------------------------------------------------------------------------------
--
-- See docs/protocol.md#the-guard. A server's incarnation is server_uuid on MySQL. MariaDB has none: there it is the
-- host, the port and server_id, which differs between the servers of one replication.
--
-- To test {guarded}, an update of joined tables (acquire_any, acquire_all, grant, a batch of share, upgrade_share, on
-- MySQL also reserve) locks the row of the guard in share mode until its commit. All other statements lock nothing.

-- name: see_guard() -> term, incarnation, quarantine, left, since, relaxed
-- doing: reading the guard
-- does: its row. incarnation is NULL if it is off; left: until the end of a quarantine
-- locks: none
-- clock: in the row's expression
-- no row: the row was deleted: as if the guard were off
-- read:
SELECT term, incarnation, quarantine, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), grants_from), us(since)
FROM rowlock_guard;

-- name: see_witness() -> term
-- doing: reading the guard
-- does: the term in its row, which was written with the guard's row
-- none: here no table shows that the server has crashed

-- name: incarnation() -> incarnation
-- doing: reading the guard
-- does: the incarnation of this server
-- locks: none
-- clock: not read
-- no row: never
-- read:
SELECT CONVERT({incarnation} USING utf8mb4);

-- name: set_guard(term, incarnation, quarantine, left, number, relaxed) -> term
-- doing: changing the guard
-- does: replaces the row, if it has the term that was seen, and gives it the term `number`
-- rules: always_changes
-- locks: the row; waits at most 1 s for statements that test {guarded}
-- clock: in the row's expression
-- no row: another client has changed it
-- write: grants begin after :left. NULL: after a quarantine if a lease that is longer than it is out, otherwise at once
/*M!100600 SET STATEMENT innodb_lock_wait_timeout = 1 FOR */
UPDATE rowlock_guard SET term = :number, incarnation = :incarnation, quarantine = :quarantine, since = SYSDATE(6),
  grants_from = SYSDATE(6) + INTERVAL COALESCE(:left, IF(EXISTS (SELECT 1 FROM rowlock_lock l
    WHERE l.owner IS NOT NULL AND l.expires_at > SYSDATE(6) + INTERVAL :quarantine MICROSECOND), :quarantine, 0))
    MICROSECOND
WHERE term = :term;
-- read back:
SELECT term FROM rowlock_guard WHERE term = :number;

-- name: await_relaxed() -> anything
-- doing: changing the guard
-- does: waits for statements that may commit without waiting for the disk
-- none: as see_witness

-- name: serve_from(version, number) -> version
-- doing: changing the guard
-- does: programs that expect an older schema than `number` are refused from now on
-- locks: the row
-- clock: not read
-- no row: the schema has no such version
-- write:
UPDATE rowlock_migration SET serves_from = :number WHERE version >= :version;
-- read back:
SELECT version FROM rowlock_migration WHERE version = :version;

-- ---- In the caller's transaction ------------------------------------------------------------------------------------
--
-- Names and notes are sent in hexadecimal, whatever the session's character set is. A session with autocommit and no
-- transaction is refused. {clock} is right in every time zone, except for a wait across a change of daylight
-- saving time, or a session that has set `timestamp` to another season.

-- name: enlisted.take(name, released) -> version, is_vacant, next_version, autocommit, expires_at, is_without_owner, is_same_in_snapshot, installation
-- InnoDB locks the newest row whatever the snapshot says. So the version and the end of the lease that were locked are
-- compared with those of the snapshot. A first statement sees all that was committed before the lock, even if it had
-- to wait: its sub-selects take the snapshot when they are evaluated for the locked row. A sub-select for a certain
-- key would be read while MariaDB makes the plan, which takes a snapshot even if the row is skipped (seen). With
-- innodb_snapshot_isolation (from 11.6 on the default) MariaDB answers 1020, which lock_in and confirm call
-- stale_snapshot. At SERIALIZABLE that also meets a lock_in that is the first statement and had to wait (seen on
-- 11.8).
--
-- The level of SET TRANSACTION for one transaction cannot be read back. There a pin that was committed since the
-- snapshot shows in the end of the lease, which confirm always changes. And nothing is taken at once: above READ
-- COMMITTED InnoDB would keep a row locked that is found to be leased, and its holder could not release it. So the pool
-- is asked first. If the row is refused nevertheless, InnoDB unlocks it up to READ COMMITTED. Above that it does not:
-- the answer is serialization_failure, and the caller has to roll back.
-- write: the sub-selects read by the snapshot, and take it if there is none: after the row was locked, and not if it
--   was not. They look for a first row, not for a certain one, which the server could read before. :released is the
--   acquisition that the client has released, and cannot vacate over its pool because this transaction has it locked.
--   Up to READ COMMITTED, a row that does not match is unlocked at once.
SELECT l.version, l.owner IS NULL{guarded} OR l.acquisition = :released{guarded}, GREATEST(l.version + 1, us({clock})), @@autocommit,
  us(l.expires_at), l.owner IS NULL,
  (SELECT s.name = l.name AND s.version = l.version AND s.expires_at <=> l.expires_at FROM rowlock_lock s
    WHERE s.name >= l.name ORDER BY s.name LIMIT 1),
  (SELECT m.installation FROM rowlock_migration m WHERE m.version >= 1 + 0 * l.version ORDER BY m.version LIMIT 1)
FROM rowlock_lock l WHERE l.name = :name AND (l.owner IS NULL{guarded} OR l.acquisition = :released{guarded}
  OR /*M!100600 @@tx_isolation */ /*!80000 @@transaction_isolation */ NOT LIKE 'READ-%')
FOR UPDATE SKIP LOCKED;

-- name: enlisted.await(name, released) -> version, is_vacant, next_version, autocommit, expires_at, is_without_owner, is_same_in_snapshot, installation
-- With an innodb_lock_wait_timeout of its own, 1 to 3 s. With innodb_rollback_on_timeout, and for less than a second,
-- MySQL is only polled. If the server does not find deadlocks, the wait is given up as a deadlock after the
-- session's own innodb_lock_wait_timeout.
-- write: as take, but waits for a transaction that has the row locked
SELECT l.version, l.owner IS NULL{guarded} OR l.acquisition = :released{guarded}, GREATEST(l.version + 1, us({clock})), @@autocommit,
  us(l.expires_at), l.owner IS NULL,
  (SELECT s.name = l.name AND s.version = l.version AND s.expires_at <=> l.expires_at FROM rowlock_lock s
    WHERE s.name >= l.name ORDER BY s.name LIMIT 1),
  (SELECT m.installation FROM rowlock_migration m WHERE m.version >= 1 + 0 * l.version ORDER BY m.version LIMIT 1)
FROM rowlock_lock l WHERE l.name = :name AND (l.owner IS NULL{guarded} OR l.acquisition = :released{guarded}
  OR /*M!100600 @@tx_isolation */ /*!80000 @@transaction_isolation */ NOT LIKE 'READ-%')
FOR UPDATE;

-- name: enlisted.change(name, version, note) -> anything
-- write:
UPDATE rowlock_lock SET version = :version, owner = NULL,
  thread = CONCAT('session ', CONNECTION_ID(), ' to ', :version), note = CONVERT(:note USING utf8mb4),
  expires_at = {clock}
WHERE name = :name;

-- name: enlisted.pin(name, acquisition) -> is_ours, is_unexpired, is_ours_in_snapshot, installation, autocommit, session
-- This is confirm. It compares the snapshot's acquisition, too.
-- read:
SELECT l.owner IS NOT NULL AND l.acquisition = :acquisition, l.expires_at > {clock},
  (SELECT s.acquisition = :acquisition FROM rowlock_lock s WHERE s.name = l.name),
    (SELECT m.installation FROM rowlock_migration m WHERE m.version = 1), @@autocommit, CONNECTION_ID()
FROM rowlock_lock l WHERE l.name = :name FOR UPDATE SKIP LOCKED;

-- name: enlisted.isolation() -> isolation, session
-- read:
SELECT /*M!100600 @@tx_isolation */ /*!80000 @@transaction_isolation */, CONNECTION_ID();

-- name: enlisted.prolong(name, lease) -> anything
-- confirm prolongs the lease in the caller's transaction: with the commit the lease begins anew. After a rollback it
-- is as it was, so the client does not rely on it. If the transaction outlasts the lease, lost() fires, and the commit
-- is nevertheless safe. On Galera the update makes a commit fail that another node has overtaken.
-- write:
UPDATE rowlock_lock SET expires_at = GREATEST(expires_at + INTERVAL 1 MICROSECOND,
  {clock} + INTERVAL :lease MICROSECOND)
WHERE name = :name;

-- name: enlisted.installation() -> installation, autocommit
-- read:
SELECT m.installation, @@autocommit FROM rowlock_migration m WHERE m.version = 1;

-- name: enlisted.set(name, version) -> next_version, installation, autocommit
-- read:
SELECT GREATEST(version + 1, us({clock})), (SELECT m.installation FROM rowlock_migration m WHERE m.version = 1),
  @@autocommit FROM rowlock_lock
WHERE name = :name AND version = :version AND owner IS NULL{guarded} FOR UPDATE SKIP LOCKED;
