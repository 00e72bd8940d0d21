-- rowlock, schema 3 for MySQL 8 and MariaDB 10.6 and later: jobs. Run it after 0002_guard.sql in the same way. It may be
-- run again. Programs that expect an earlier schema keep working.

-- A row for each run of a job. It is written in the transaction that confirms the job's lock.
CREATE TABLE IF NOT EXISTS rowlock_job_run (
  job           VARBINARY(255) NOT NULL, -- the name of the job's lock
  period_begin  DATETIME(6)    NOT NULL,
  attempt       INT            NOT NULL, -- in the period, from 1
  period_end    DATETIME(6)    NOT NULL,
  owner         VARCHAR(500)   CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- the client: application:host:pid:id
  token         BIGINT         NOT NULL, -- the fencing token of the lock
  started_at    DATETIME(6)    NOT NULL,
  finished_at   DATETIME(6),             -- NULL: no end is recorded
  result        VARCHAR(20)    CHARACTER SET ascii COLLATE ascii_bin, -- succeeded, failed, killed, timed_out, lost; NULL: no end is recorded
  exit_status   INT,                     -- of a command
  signal_number INT,                     -- which ended a command
  succeeded     INT,                     -- 1 or NULL
  output        VARCHAR(1024)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, -- the end of the output, or a message
  PRIMARY KEY (job, period_begin, attempt),
  UNIQUE KEY once (job, period_begin, succeeded), -- a period has one success
  KEY open (job, finished_at),
  KEY ended (period_end),
  CHECK ((succeeded <=> 1) = (result <=> 'succeeded')),
  CHECK ((finished_at IS NULL) = (result IS NULL)),
  CHECK (OCTET_LENGTH(job) BETWEEN 1 AND 255)
) ENGINE = InnoDB;

-- Last: a run that was interrupted is not taken for a whole one. While the guard is on, it serves no older programs than
-- before.
INSERT INTO rowlock_migration (version, checksum, serves_from, applied_at)
SELECT 3, NULL, COALESCE(MAX(m.serves_from), 1), UTC_TIMESTAMP(6) FROM rowlock_migration m
ON DUPLICATE KEY UPDATE version = 3;
