-- rowlock, schema 4 for PostgreSQL 13 and later. By hand: psql -v ON_ERROR_STOP=1 -1 -f 0004_waiting.sql
-- Every statement may be run again. The table is looked for where search_path says. Another table prefix: replace
-- "rowlock_" in this file. It needs the table's owner, and waits for transactions that use the table.

-- Somebody may have a ticket for this name: a release has to look.
ALTER TABLE rowlock_lock ADD COLUMN IF NOT EXISTS waiting boolean NOT NULL DEFAULT false;

-- For how long a release may grant its waiter the lock, in microseconds; NULL: it may not.
ALTER TABLE rowlock_waiter ADD COLUMN IF NOT EXISTS lease bigint;

-- Libraries that know schema 3 only leave the columns as they are, and look for tickets at every release.
INSERT INTO rowlock_migration (version, checksum, serves_from, applied_at)
VALUES (4, NULL, 1, clock_timestamp())
ON CONFLICT (version) DO NOTHING;
