-- rowlock, schema 2 for PostgreSQL 13 and later: the guard over failovers. Run it after 0001_rowlock.sql in the same way:
-- psql -v ON_ERROR_STOP=1 -1 -f 0002_guard.sql. It may be run again. Programs that expect schema 1 keep working until
-- the guard is switched on.

-- One row. It names the history of commits to which these tables belong. A server that continues another history, such
-- as a promoted standby, may lack the last commits; then nothing is granted until every lease in them has ended.
CREATE TABLE IF NOT EXISTS rowlock_guard (
  id          integer     NOT NULL PRIMARY KEY,
  term        bigint      NOT NULL, -- grows at every change of this row
  incarnation text,                 -- the server's history: its system identifier and timeline; NULL: the guard is off
  quarantine  bigint,               -- microseconds that no lease exceeds; NULL: the guard is off
  grants_from timestamptz NOT NULL, -- nothing is granted before
  since       timestamptz NOT NULL, -- the time of the last change
  -- From then on, grants, renewals and releases do not wait for the disk; NULL: they do.
  relaxed_from timestamptz,
  CONSTRAINT rowlock_guard_one CHECK (id = 1),
  CONSTRAINT rowlock_guard_whole CHECK ((incarnation IS NULL) = (quarantine IS NULL)),
  CONSTRAINT rowlock_guard_finite CHECK (isfinite(grants_from) AND isfinite(since)),
  CONSTRAINT rowlock_guard_relaxed CHECK (relaxed_from IS NULL OR (quarantine IS NOT NULL AND isfinite(relaxed_from)))
);

-- One row while grants do not wait for the disk. It must remain UNLOGGED: a crash of the server, and a promotion, empty
-- the table, a clean restart does not. So its absence shows that commits may have been lost.
CREATE UNLOGGED TABLE IF NOT EXISTS rowlock_witness (
  id   integer NOT NULL PRIMARY KEY,
  term bigint  NOT NULL, -- of the row of rowlock_guard with which it was written
  CONSTRAINT rowlock_witness_one CHECK (id = 1)
);

INSERT INTO rowlock_guard (id, term, grants_from, since) VALUES (1, 0, clock_timestamp(), clock_timestamp())
ON CONFLICT (id) DO NOTHING;

-- Last: a run that was interrupted is not taken for a whole one.
INSERT INTO rowlock_migration (version, checksum, serves_from, applied_at)
VALUES (2, NULL, 1, clock_timestamp())
ON CONFLICT (version) DO NOTHING;
