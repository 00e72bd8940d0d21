-- rowlock, schema 2 for PostgreSQL 13 and later. By hand: psql -v ON_ERROR_STOP=1 -1 -f 0002_waiter.sql
-- Every statement may be run again. The table is made where search_path says. Another table prefix: replace
-- "rowlock_" in this file. At run time a role needs SELECT, INSERT, UPDATE and DELETE on the table, nothing else.

-- One row for each thread that waits for a name. Of those that have not expired, the least ticket has its turn.
CREATE TABLE IF NOT EXISTS rowlock_waiter (
  ticket      bigint           GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name        text COLLATE "C" NOT NULL,
  owner       text             NOT NULL, -- the client: application:host:pid:id
  thread      text             NOT NULL, -- who waits inside the client
  attempt     text             NOT NULL, -- unique to every ticket: known to the client before the ticket is there
  enqueued_at timestamptz      NOT NULL,
  expires_at  timestamptz      NOT NULL, -- kept ahead of the clock for as long as somebody waits
  CONSTRAINT rowlock_waiter_name CHECK (octet_length(name) BETWEEN 1 AND 255),
  CONSTRAINT rowlock_waiter_finite CHECK (isfinite(enqueued_at) AND isfinite(expires_at))
) WITH (fillfactor = 50); -- room for the next versions of a row beside it: updates touch no index

CREATE INDEX IF NOT EXISTS rowlock_waiter_queue ON rowlock_waiter (name, ticket);

-- Libraries that know schema 1 only do not wait in turn, and need not: all else is as it was.
INSERT INTO rowlock_migration (version, checksum, serves_from, applied_at)
VALUES (2, NULL, 1, clock_timestamp())
ON CONFLICT (version) DO NOTHING;
