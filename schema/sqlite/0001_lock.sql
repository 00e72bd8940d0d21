-- rowlock, schema 1 for SQLite. By hand: sqlite3 -bail locks.db < 0001_lock.sql
-- Every statement may be run again, and the row that marks the schema as applied comes last: an interrupted run is
-- finished by running it once more. Another table prefix: replace "rowlock_" in this file.

-- One row per name, contended for by every strategy. Times are microseconds since 1970, UTC.
CREATE TABLE IF NOT EXISTS rowlock_lock (
  name        TEXT    NOT NULL PRIMARY KEY COLLATE BINARY, -- 1 to 255 bytes of UTF-8
  version     INTEGER NOT NULL, -- grows at every change of ownership; the fencing token
  owner       TEXT,             -- the client: application:host:pid:id; NULL: vacant
  thread      TEXT,             -- the holder inside the client
  acquisition TEXT,             -- unique to every single attempt; kept when the row is vacated
  acquired_at INTEGER,
  expires_at  INTEGER,          -- NULL with an owner: held without a lease, see liveness
  note        TEXT,             -- free text of the holder
  liveness    TEXT,             -- the file whose lock tells that a holder without a lease is alive
  CHECK (length(CAST(name AS BLOB)) BETWEEN 1 AND 255)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS rowlock_migration (
  version      INTEGER NOT NULL PRIMARY KEY,
  checksum     TEXT,             -- SHA-256 of the file; NULL: run by hand and not yet adopted by migrate
  serves_from  INTEGER NOT NULL, -- the oldest schema a library may expect and still work with this one
  applied_at   INTEGER NOT NULL,
  installation TEXT              -- random, made by the first schema file: tells one database from another
);

INSERT OR IGNORE INTO rowlock_migration (version, checksum, serves_from, applied_at, installation)
VALUES (1, NULL, 1, CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER), lower(hex(randomblob(16))));
