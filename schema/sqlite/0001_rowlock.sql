-- rowlock, schema 1 for SQLite. By hand: sqlite3 -bail locks.db < 0001_rowlock.sql
-- The file may be run again: it makes what is missing, and changes nothing that is there. So an interrupted run is
-- finished by running it once more. Another table prefix: replace "rowlock_" in this file. Times are microseconds since
-- 1970, UTC.

-- A row for each name. All strategies contend for it. A vacant row stays until it is swept, so that versions go on.
CREATE TABLE IF NOT EXISTS rowlock_lock (
  name        TEXT    NOT NULL PRIMARY KEY COLLATE BINARY, -- 1 to 255 bytes of UTF-8
  version     INTEGER NOT NULL, -- grows at every change of ownership; the fencing token
  owner       TEXT,             -- the client: application:host:pid:id; "(shared)": see rowlock_share; NULL: vacant
  thread      TEXT,             -- the holder inside the client
  acquisition TEXT,             -- unique to each attempt; kept when the row is vacated
  acquired_at INTEGER,
  expires_at  INTEGER,          -- NULL with an owner: held without a lease, see liveness
  note        TEXT,             -- free text of the holder
  liveness    TEXT,             -- the file whose lock tells that a holder without a lease is alive
  CHECK (length(CAST(name AS BLOB)) BETWEEN 1 AND 255)
) WITHOUT ROWID;

-- A row for each thread that waits for a name. Of the tickets that have not expired, the lowest is served first.
CREATE TABLE IF NOT EXISTS rowlock_waiter (
  ticket      INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  name        TEXT    NOT NULL COLLATE BINARY,
  owner       TEXT    NOT NULL, -- the client: application:host:pid:id
  thread      TEXT    NOT NULL, -- the waiter inside the client
  attempt     TEXT    NOT NULL, -- unique to each ticket: the client knows it before the row exists
  enqueued_at INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL, -- kept ahead of the clock while the thread waits
  note        TEXT,             -- free text of the waiter
  lease       INTEGER,          -- microseconds for which a release may grant it the lock; NULL: a release may not; 0: a release has
  room        INTEGER           -- permits that other holders may have beside it; NULL: none, it wants the name alone; negative: with other names
);

CREATE INDEX IF NOT EXISTS rowlock_waiter_queue ON rowlock_waiter (name, ticket);

-- A row for each holder that shares a name with others. It counts while "since" is the acquisition in the name's row.
-- The row of the empty name is no holder: its token is the highest version that was swept.
CREATE TABLE IF NOT EXISTS rowlock_share (
  name        TEXT    NOT NULL COLLATE BINARY,
  acquisition TEXT    NOT NULL, -- unique to each attempt
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

-- The names that long-waiting threads hold, so that threads that wait for each other can be found. A row counts while the
-- ticket has not expired and the name is held by that acquisition.
CREATE TABLE IF NOT EXISTS rowlock_edge (
  ticket      INTEGER NOT NULL, -- the waiter's
  name        TEXT    NOT NULL COLLATE BINARY, -- a name that the waiter holds
  acquisition TEXT    NOT NULL, -- by which it holds the name
  PRIMARY KEY (ticket, name)
) WITHOUT ROWID;

-- A row for each schema file that was run.
CREATE TABLE IF NOT EXISTS rowlock_migration (
  version      INTEGER NOT NULL PRIMARY KEY,
  checksum     TEXT,             -- SHA-256 of the file; NULL: run by hand and not yet adopted by migrate
  serves_from  INTEGER NOT NULL, -- the oldest schema that a program may expect and still work with these tables
  applied_at   INTEGER NOT NULL,
  installation TEXT              -- random, made by the first file: tells one database from another
);

-- Last: a run that was interrupted is not taken for a whole one.
INSERT OR IGNORE INTO rowlock_migration (version, checksum, serves_from, applied_at, installation)
VALUES (1, NULL, 1, CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER), lower(hex(randomblob(16))));
