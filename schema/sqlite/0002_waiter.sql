-- rowlock, schema 2 for SQLite. By hand: sqlite3 -bail locks.db < 0002_waiter.sql
-- Every statement may be run again, and the row that marks the schema as applied comes last: an interrupted run is
-- finished by running it once more. Another table prefix: replace "rowlock_" in this file.

-- One row for each thread that waits for a name. Of those that have not expired, the least ticket has its turn. Times
-- are microseconds since 1970, UTC.
CREATE TABLE IF NOT EXISTS rowlock_waiter (
  ticket      INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  name        TEXT    NOT NULL COLLATE BINARY,
  owner       TEXT    NOT NULL, -- the client: application:host:pid:id
  thread      TEXT    NOT NULL, -- who waits inside the client
  attempt     TEXT    NOT NULL, -- unique to every ticket: known to the client before the ticket is there
  enqueued_at INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL  -- kept ahead of the clock for as long as somebody waits
);

CREATE INDEX IF NOT EXISTS rowlock_waiter_queue ON rowlock_waiter (name, ticket);

-- Libraries that know schema 1 only do not wait in turn, and need not: all else is as it was.
INSERT OR IGNORE INTO rowlock_migration (version, checksum, serves_from, applied_at)
VALUES (2, NULL, 1, CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER));
