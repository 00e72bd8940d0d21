-- rowlock, schema 6 for PostgreSQL 13 and later. By hand: psql -v ON_ERROR_STOP=1 -1 -f 0006_sharing.sql
-- Every statement may be run again. The tables are looked for where search_path says. Another table prefix: replace
-- "rowlock_" in this file. It needs the tables' owner, and waits for transactions that use the tables.

-- How many permits are given out, while the owner is "(shared)".
ALTER TABLE rowlock_lock ADD COLUMN IF NOT EXISTS sharers bigint NOT NULL DEFAULT 0;

-- How many permits of others the waiter can be beside; NULL: none, it waits for the name alone.
ALTER TABLE rowlock_waiter ADD COLUMN IF NOT EXISTS room bigint;

-- One row for each holder that shares a name with others. It counts while the name's row has the acquisition that is in
-- "since".
CREATE TABLE IF NOT EXISTS rowlock_share (
  name        text COLLATE "C" NOT NULL,
  acquisition text             NOT NULL, -- unique to every single attempt
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
) WITH (fillfactor = 50); -- room for the next versions of a row beside it: updates touch no index

-- What a waiter has that has waited for long, so that waiters who wait for each other can be found. A row counts while
-- the ticket is alive and the name is had by that acquisition.
CREATE TABLE IF NOT EXISTS rowlock_edge (
  ticket      bigint           NOT NULL, -- the waiter's
  name        text COLLATE "C" NOT NULL, -- what it has
  acquisition text             NOT NULL, -- by which it has that; empty: by a transaction
  PRIMARY KEY (ticket, name)
);

-- Libraries that know schema 5 only see a name that is shared as leased by "(shared)".
INSERT INTO rowlock_migration (version, checksum, serves_from, applied_at)
VALUES (6, NULL, 1, clock_timestamp())
ON CONFLICT (version) DO NOTHING;
