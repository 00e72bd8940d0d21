-- rowlock, schema 3 for PostgreSQL 13 and later: jobs. Run it after 0002_guard.sql in the same way:
-- psql -v ON_ERROR_STOP=1 -1 -f 0003_job_run.sql. It may be run again. Programs that expect an earlier schema keep
-- working.

-- A row for each run of a job. It is written in the transaction that confirms the job's lock.
CREATE TABLE IF NOT EXISTS rowlock_job_run (
  job           text COLLATE "C" NOT NULL, -- the name of the job's lock
  period_begin  timestamptz      NOT NULL,
  attempt       integer          NOT NULL, -- in the period, from 1
  period_end    timestamptz      NOT NULL,
  owner         text             NOT NULL, -- the client: application:host:pid:id
  token         bigint           NOT NULL, -- the fencing token of the lock
  started_at    timestamptz      NOT NULL,
  finished_at   timestamptz,               -- NULL: no end is recorded
  result        text,                      -- succeeded, failed, killed, timed_out, lost; NULL: no end is recorded
  exit_status   integer,                   -- of a command
  signal_number integer,                   -- which ended a command
  succeeded     integer,                   -- 1 or NULL
  output        text,                      -- the end of the output, or a message
  PRIMARY KEY (job, period_begin, attempt),
  CONSTRAINT rowlock_job_run_once UNIQUE (job, period_begin, succeeded), -- a period has one success
  CONSTRAINT rowlock_job_run_success CHECK ((succeeded = 1) IS NOT DISTINCT FROM nullif(result = 'succeeded', false)),
  CONSTRAINT rowlock_job_run_whole CHECK ((finished_at IS NULL) = (result IS NULL)),
  CONSTRAINT rowlock_job_run_name CHECK (octet_length(job) BETWEEN 1 AND 255),
  CONSTRAINT rowlock_job_run_finite CHECK (isfinite(period_begin) AND isfinite(period_end) AND isfinite(started_at)
    AND isfinite(finished_at))
);

CREATE INDEX IF NOT EXISTS rowlock_job_run_open ON rowlock_job_run (job) WHERE finished_at IS NULL;
CREATE INDEX IF NOT EXISTS rowlock_job_run_end ON rowlock_job_run (period_end);

-- Last: a run that was interrupted is not taken for a whole one. While the guard is on, it serves no older programs than
-- before.
INSERT INTO rowlock_migration (version, checksum, serves_from, applied_at)
SELECT 3, NULL, coalesce(max(serves_from), 1), clock_timestamp() FROM rowlock_migration
ON CONFLICT (version) DO NOTHING;
