-- rowlock, schema 5 for SQLite. By hand: sqlite3 -bail locks.db < 0005_granting.sql
-- The file may be run again, and is carried out as a whole: an interrupted run changes nothing. Another table prefix:
-- replace "rowlock_" in this file.

-- SQLite cannot add a column only where it is missing, so the table is made anew, with its tickets and their numbers.
SAVEPOINT rowlock_granting;

-- In the inner query "lease" is the table's column, if it has one, or else that of the outer query.
CREATE TABLE rowlock_waiter_before AS
SELECT w.ticket, w.name, w.owner, w.thread, w.attempt, w.enqueued_at, w.expires_at, w.note,
  (SELECT lease FROM rowlock_waiter own WHERE own.ticket = w.ticket) AS lease
FROM rowlock_waiter w CROSS JOIN (SELECT NULL AS lease) missing;

-- Under another name the last number outlives the table.
UPDATE sqlite_sequence SET name = 'rowlock_waiter_before' WHERE name = 'rowlock_waiter';
DROP TABLE rowlock_waiter;
UPDATE sqlite_sequence SET name = 'rowlock_waiter' WHERE name = 'rowlock_waiter_before';

-- One row for each thread that waits for a name. Of those that have not expired, the least ticket has its turn. Times
-- are microseconds since 1970, UTC.
CREATE TABLE rowlock_waiter (
  ticket      INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  name        TEXT    NOT NULL COLLATE BINARY,
  owner       TEXT    NOT NULL, -- the client: application:host:pid:id
  thread      TEXT    NOT NULL, -- who waits inside the client
  attempt     TEXT    NOT NULL, -- unique to every ticket: known to the client before the ticket is there
  enqueued_at INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL, -- kept ahead of the clock for as long as somebody waits
  note        TEXT,             -- free text of the waiter
  lease       INTEGER           -- for how many microseconds a release may grant it the lock; NULL: it may not; 0: one has
);

INSERT INTO rowlock_waiter (ticket, name, owner, thread, attempt, enqueued_at, expires_at, note, lease)
SELECT ticket, name, owner, thread, attempt, enqueued_at, expires_at, note, lease FROM rowlock_waiter_before;
DROP TABLE rowlock_waiter_before;

CREATE INDEX rowlock_waiter_queue ON rowlock_waiter (name, ticket);

-- Libraries that know schema 4 only name the columns that they write and read: nothing is granted to their tickets.
INSERT OR IGNORE INTO rowlock_migration (version, checksum, serves_from, applied_at)
VALUES (5, NULL, 1, CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER));

RELEASE rowlock_granting;
