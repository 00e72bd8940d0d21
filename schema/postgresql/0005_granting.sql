-- rowlock, schema 5 for PostgreSQL 13 and later. By hand: psql -v ON_ERROR_STOP=1 -1 -f 0005_granting.sql
-- The statement may be run again. The table is looked for where search_path says. Another table prefix: replace
-- "rowlock_" in this file.

-- Elsewhere a ticket says by this schema for how long a release may grant its waiter the lock. Here it does already.
INSERT INTO rowlock_migration (version, checksum, serves_from, applied_at)
VALUES (5, NULL, 1, clock_timestamp())
ON CONFLICT (version) DO NOTHING;
