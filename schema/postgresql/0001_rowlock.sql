-- rowlock, schema 1 for PostgreSQL 13 and later. By hand: psql -v ON_ERROR_STOP=1 -1 -f 0001_rowlock.sql
-- The file may be run again: it makes what is missing, and changes nothing that is there. The tables are made where
-- search_path says. Another table prefix: replace "rowlock_" in this file. At run time a role needs SELECT, INSERT,
-- UPDATE and DELETE on the tables, and nothing else: see grants.sql. Times are the database's.

-- A row for each name. All strategies contend for it. A vacant row stays until it is swept, so that versions go on.
CREATE TABLE IF NOT EXISTS rowlock_lock (
  name        text COLLATE "C" NOT NULL PRIMARY KEY, -- 1 to 255 bytes of UTF-8
  version     bigint           NOT NULL, -- grows at every change of ownership; the fencing token
  owner       text,                      -- the client: application:host:pid:id; "(shared)": see rowlock_share; NULL: vacant
  thread      text,                      -- the holder inside the client
  acquisition text,                      -- unique to each attempt; kept when the row is vacated
  acquired_at timestamptz,
  expires_at  timestamptz,
  note        text,                      -- free text of the holder
  waiting     boolean          NOT NULL DEFAULT false, -- the name may have waiters: a release must look for them
  sharers     bigint           NOT NULL DEFAULT 0,     -- permits that are given out, while the owner is "(shared)"
  CHECK (octet_length(name) BETWEEN 1 AND 255),
  CONSTRAINT rowlock_lock_finite CHECK (isfinite(acquired_at) AND isfinite(expires_at))
) WITH (fillfactor = 50); -- space for the next versions of a row beside it: updates touch no index

-- A row for each thread that waits for a name. Of the tickets that have not expired, the lowest is served first.
CREATE TABLE IF NOT EXISTS rowlock_waiter (
  ticket      bigint           GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name        text COLLATE "C" NOT NULL,
  owner       text             NOT NULL, -- the client: application:host:pid:id
  thread      text             NOT NULL, -- the waiter inside the client
  attempt     text             NOT NULL, -- unique to each ticket: the client knows it before the row exists
  enqueued_at timestamptz      NOT NULL,
  expires_at  timestamptz      NOT NULL, -- kept ahead of the clock while the thread waits
  note        text,                      -- free text of the waiter
  lease       bigint,                    -- microseconds for which a release may grant it the lock; NULL: a release may not
  room        bigint,                    -- permits that other holders may have beside it; NULL: none, it wants the name alone; negative: with other names
  CONSTRAINT rowlock_waiter_name CHECK (octet_length(name) BETWEEN 1 AND 255),
  CONSTRAINT rowlock_waiter_finite CHECK (isfinite(enqueued_at) AND isfinite(expires_at))
) WITH (fillfactor = 50); -- space for the next versions of a row beside it: updates touch no index

CREATE INDEX IF NOT EXISTS rowlock_waiter_queue ON rowlock_waiter (name, ticket);

-- A row for each holder that shares a name with others. It counts while "since" is the acquisition in the name's row.
-- The row of the empty name is no holder: its token is the highest version that was swept.
CREATE TABLE IF NOT EXISTS rowlock_share (
  name        text COLLATE "C" NOT NULL,
  acquisition text             NOT NULL, -- unique to each attempt
  since       text             NOT NULL,
  permits     bigint           NOT NULL,
  token       bigint           NOT NULL, -- the fencing token
  owner       text             NOT NULL, -- the client: application:host:pid:id
  thread      text             NOT NULL, -- the holder inside the client
  acquired_at timestamptz      NOT NULL,
  expires_at  timestamptz      NOT NULL, -- not after that of the name's row
  note        text,                      -- free text of the holder
  PRIMARY KEY (name, acquisition),
  CONSTRAINT rowlock_share_finite CHECK (isfinite(acquired_at) AND isfinite(expires_at))
) WITH (fillfactor = 50); -- space for the next versions of a row beside it: updates touch no index

-- The names that long-waiting threads hold, so that threads that wait for each other can be found. A row counts while the
-- ticket has not expired and the name is held by that acquisition.
CREATE TABLE IF NOT EXISTS rowlock_edge (
  ticket      bigint           NOT NULL, -- the waiter's
  name        text COLLATE "C" NOT NULL, -- a name that the waiter holds
  acquisition text             NOT NULL, -- by which it holds the name; empty: by a transaction
  PRIMARY KEY (ticket, name)
);

-- A row for each schema file that was run.
CREATE TABLE IF NOT EXISTS rowlock_migration (
  version      integer     NOT NULL PRIMARY KEY,
  checksum     text,                 -- SHA-256 of the file; NULL: run by hand and not yet adopted by migrate
  serves_from  integer     NOT NULL, -- the oldest schema that a program may expect and still work with these tables
  applied_at   timestamptz NOT NULL,
  installation text                  -- random, made by the first file: tells one database from another
);

-- Last: a run that was interrupted is not taken for a whole one.
INSERT INTO rowlock_migration (version, checksum, serves_from, applied_at, installation)
VALUES (1, NULL, 1, clock_timestamp(), replace(gen_random_uuid()::text, '-', ''))
ON CONFLICT (version) DO NOTHING;
