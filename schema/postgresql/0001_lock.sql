-- rowlock, schema 1 for PostgreSQL 13 and later. By hand: psql -v ON_ERROR_STOP=1 -1 -f 0001_lock.sql
-- Every statement may be run again. The tables are made where search_path says. Another table prefix: replace
-- "rowlock_" in this file. At run time a role needs SELECT, INSERT, UPDATE and DELETE on the tables, nothing else.

-- One row per name, contended for by every strategy. Times are the database's.
CREATE TABLE IF NOT EXISTS rowlock_lock (
  name        text COLLATE "C" NOT NULL PRIMARY KEY, -- 1 to 255 bytes of UTF-8
  version     bigint           NOT NULL, -- grows at every change of ownership; the fencing token
  owner       text,                      -- the client: application:host:pid:id; NULL: vacant
  thread      text,                      -- the holder inside the client
  acquisition text,                      -- unique to every single attempt; kept when the row is vacated
  acquired_at timestamptz,
  expires_at  timestamptz,
  note        text,                      -- free text of the holder
  CHECK (octet_length(name) BETWEEN 1 AND 255),
  CONSTRAINT rowlock_lock_finite CHECK (isfinite(acquired_at) AND isfinite(expires_at))
) WITH (fillfactor = 50); -- room for the next versions of a row beside it: updates touch no index

CREATE TABLE IF NOT EXISTS rowlock_migration (
  version      integer     NOT NULL PRIMARY KEY,
  checksum     text,                 -- SHA-256 of the file; NULL: run by hand and not yet adopted by migrate
  serves_from  integer     NOT NULL, -- the oldest schema a library may expect and still work with this one
  applied_at   timestamptz NOT NULL,
  installation text                  -- random, made by the first schema file: tells one database from another
);

INSERT INTO rowlock_migration (version, checksum, serves_from, applied_at, installation)
VALUES (1, NULL, 1, clock_timestamp(), replace(gen_random_uuid()::text, '-', ''))
ON CONFLICT (version) DO NOTHING;
