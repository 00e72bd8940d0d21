-- rowlock, schema 2 for SQLite: jobs. By hand: sqlite3 -bail locks.db < 0002_job_run.sql, after 0001_rowlock.sql. It may
-- be run again. Programs that expect schema 1 keep working.

-- A row for each run of a job. It is written in the transaction that confirms the job's lock.
CREATE TABLE IF NOT EXISTS rowlock_job_run (
  job           TEXT    NOT NULL COLLATE BINARY, -- the name of the job's lock
  period_begin  INTEGER NOT NULL,
  attempt       INTEGER NOT NULL, -- in the period, from 1
  period_end    INTEGER NOT NULL,
  owner         TEXT    NOT NULL, -- the client: application:host:pid:id
  token         INTEGER NOT NULL, -- the fencing token of the lock
  started_at    INTEGER NOT NULL,
  finished_at   INTEGER,          -- NULL: no end is recorded
  result        TEXT,             -- succeeded, failed, killed, timed_out, lost; NULL: no end is recorded
  exit_status   INTEGER,          -- of a command
  signal_number INTEGER,          -- which ended a command
  succeeded     INTEGER,          -- 1 or NULL
  output        TEXT,             -- the end of the output, or a message
  PRIMARY KEY (job, period_begin, attempt),
  UNIQUE (job, period_begin, succeeded), -- a period has one success
  CHECK ((succeeded IS 1) = (result IS 'succeeded')),
  CHECK ((finished_at IS NULL) = (result IS NULL)),
  CHECK (length(CAST(job AS BLOB)) BETWEEN 1 AND 255)
);

CREATE INDEX IF NOT EXISTS rowlock_job_run_open ON rowlock_job_run (job) WHERE finished_at IS NULL;
CREATE INDEX IF NOT EXISTS rowlock_job_run_end ON rowlock_job_run (period_end);

-- Last: a run that was interrupted is not taken for a whole one.
INSERT OR IGNORE INTO rowlock_migration (version, checksum, serves_from, applied_at)
VALUES (2, NULL, 1, CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER));
