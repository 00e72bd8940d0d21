-- rowlock: what a program needs that takes locks and is not to make tables. Behind the numbered files, by whoever ran
-- them: psql -v ON_ERROR_STOP=1 -1 -f grants.sql
-- It may be run again, and is, behind every new numbered file. The tables are looked for where search_path says. Another
-- name for the role: replace "rowlock_app" in this file; another table prefix: replace "rowlock_" in what is left.

-- One for all who need it. A program connects as a role of its own that is a member: GRANT rowlock_app TO orders;
-- Roles are the whole server's, so there may be one already.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'rowlock_app') THEN
    CREATE ROLE rowlock_app NOLOGIN;
  END IF;
END $$;

DO $$
BEGIN
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO rowlock_app',
    (SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = 'rowlock_lock'::regclass));
END $$;

GRANT SELECT, INSERT, UPDATE, DELETE ON rowlock_lock, rowlock_waiter, rowlock_share, rowlock_edge,
  rowlock_job_run TO rowlock_app;
GRANT SELECT, UPDATE ON rowlock_guard TO rowlock_app;
GRANT SELECT, INSERT, UPDATE ON rowlock_witness TO rowlock_app;
GRANT SELECT ON rowlock_migration TO rowlock_app;
