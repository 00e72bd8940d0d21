-- rowlock, schema 6 for SQLite. By hand: sqlite3 -bail locks.db < 0006_sharing.sql
-- The file may be run again, and is carried out as a whole: an interrupted run changes nothing. Another table prefix:
-- replace "rowlock_" in this file.

-- SQLite cannot add a column only where it is missing, so the table is made anew, with its tickets and their numbers.
SAVEPOINT rowlock_sharing;

-- In the inner query "room" is the table's column, if it has one, or else that of the outer query.
CREATE TABLE rowlock_waiter_before AS
SELECT w.ticket, w.name, w.owner, w.thread, w.attempt, w.enqueued_at, w.expires_at, w.note, w.lease,
  (SELECT room FROM rowlock_waiter own WHERE own.ticket = w.ticket) AS room
FROM rowlock_waiter w CROSS JOIN (SELECT NULL AS room) missing;

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
  lease       INTEGER,          -- for how many microseconds a release may grant it the lock; NULL: it may not; 0: one has
  room        INTEGER           -- how many permits of others it can be beside; NULL: none, it waits for the name alone
);

INSERT INTO rowlock_waiter (ticket, name, owner, thread, attempt, enqueued_at, expires_at, note, lease, room)
SELECT ticket, name, owner, thread, attempt, enqueued_at, expires_at, note, lease, room FROM rowlock_waiter_before;
DROP TABLE rowlock_waiter_before;

CREATE INDEX rowlock_waiter_queue ON rowlock_waiter (name, ticket);

-- One row for each holder that shares a name with others. It counts while the name's row has the acquisition that is in
-- "since".
CREATE TABLE IF NOT EXISTS rowlock_share (
  name        TEXT    NOT NULL COLLATE BINARY,
  acquisition TEXT    NOT NULL, -- unique to every single attempt
  since       TEXT    NOT NULL,
  permits     INTEGER NOT NULL,
  token       INTEGER NOT NULL, -- the fencing token
  owner       TEXT    NOT NULL, -- the client: application:host:pid:id
  thread      TEXT    NOT NULL, -- the holder inside the client
  acquired_at INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL, -- not after that of the name's row
  note        TEXT,             -- free text of the holder
  PRIMARY KEY (name, acquisition)
) WITHOUT ROWID;

-- What a waiter has that has waited for long, so that waiters who wait for each other can be found. A row counts while
-- the ticket is alive and the name is had by that acquisition.
CREATE TABLE IF NOT EXISTS rowlock_edge (
  ticket      INTEGER NOT NULL, -- the waiter's
  name        TEXT    NOT NULL COLLATE BINARY, -- what it has
  acquisition TEXT    NOT NULL, -- by which it has that
  PRIMARY KEY (ticket, name)
) WITHOUT ROWID;

-- Libraries that know schema 5 only see a name that is shared as leased by "(shared)".
INSERT OR IGNORE INTO rowlock_migration (version, checksum, serves_from, applied_at)
VALUES (6, NULL, 1, CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER));

RELEASE rowlock_sharing;
