-- rowlock: what a program needs that takes locks and is not to make tables. Behind the numbered files:
-- mysql DATABASE < grants.sql
-- It may be run again, and is, behind every new numbered file. Another name for the role: replace "rowlock_app" in this
-- file; another table prefix: replace "rowlock_" in what is left.

-- One for all who need it. A program connects as an account of its own that has it from the start:
--   GRANT rowlock_app TO 'orders'@'%';
--   SET DEFAULT ROLE rowlock_app TO 'orders'@'%';   (MariaDB: FOR instead of TO)
CREATE ROLE IF NOT EXISTS rowlock_app;

GRANT SELECT, INSERT, UPDATE, DELETE ON rowlock_lock TO rowlock_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON rowlock_waiter TO rowlock_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON rowlock_share TO rowlock_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON rowlock_edge TO rowlock_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON rowlock_job_run TO rowlock_app;
GRANT SELECT, UPDATE ON rowlock_guard TO rowlock_app;
GRANT SELECT ON rowlock_migration TO rowlock_app;
