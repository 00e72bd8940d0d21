-- rowlock, schema 3 for PostgreSQL 13 and later. By hand: psql -v ON_ERROR_STOP=1 -1 -f 0003_waiter_note.sql
-- Every statement may be run again. The table is looked for where search_path says. Another table prefix: replace
-- "rowlock_" in this file. It needs the table's owner, and waits for transactions that use the table.

ALTER TABLE rowlock_waiter ADD COLUMN IF NOT EXISTS note text; -- free text of the waiter

-- Libraries that know schema 2 only name the columns that they write and read: their tickets have no note.
INSERT INTO rowlock_migration (version, checksum, serves_from, applied_at)
VALUES (3, NULL, 1, clock_timestamp())
ON CONFLICT (version) DO NOTHING;
