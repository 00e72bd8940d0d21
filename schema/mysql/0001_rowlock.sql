-- rowlock, schema 1 for MySQL 8.0 and MariaDB 10.6, and later. By hand: mysql DATABASE < 0001_rowlock.sql
-- The file may be run again: it makes what is missing, and changes nothing that is there. So an interrupted run is
-- finished by running it once more. Another table prefix: replace "rowlock_" in this file. At run time a role needs
-- SELECT, INSERT, UPDATE and DELETE on the tables, and nothing else: see grants.sql. Times are the database's, in UTC.

-- A row for each name. All strategies contend for it. A vacant row stays until it is swept, so that versions go on.
CREATE TABLE IF NOT EXISTS rowlock_lock (
  name        VARBINARY(255) NOT NULL PRIMARY KEY, -- 1 to 255 bytes of UTF-8, compared byte for byte
  version     BIGINT         NOT NULL, -- grows at every change of ownership; the fencing token
  owner       VARCHAR(500)   CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, -- the client: application:host:pid:id; "(shared)": see rowlock_share; NULL: vacant
  thread      VARCHAR(255)   CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, -- the holder inside the client
  acquisition VARCHAR(64)    CHARACTER SET ascii   COLLATE ascii_bin,   -- unique to each attempt; kept when the row is vacated
  acquired_at DATETIME(6),
  expires_at  DATETIME(6),
  note        VARCHAR(1000)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, -- free text of the holder
  waiting     BOOLEAN        NOT NULL DEFAULT FALSE, -- the name may have waiters: a release must look for them
  sharers     BIGINT         NOT NULL DEFAULT 0,     -- permits that are given out, while the owner is "(shared)"
  CHECK (OCTET_LENGTH(name) BETWEEN 1 AND 255)
) ENGINE = InnoDB;

-- A row for each thread that waits for a name. Of the tickets that have not expired, the lowest is served first.
CREATE TABLE IF NOT EXISTS rowlock_waiter (
  ticket      BIGINT         NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name        VARBINARY(255) NOT NULL,
  owner       VARCHAR(500)   CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- the client: application:host:pid:id
  thread      VARCHAR(255)   CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- the waiter inside the client
  attempt     VARCHAR(64)    CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL, -- unique to each ticket: the client knows it before the row exists
  enqueued_at DATETIME(6)    NOT NULL,
  expires_at  DATETIME(6)    NOT NULL, -- kept ahead of the clock while the thread waits
  note        VARCHAR(1000)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, -- free text of the waiter
  lease       BIGINT, -- microseconds for which a release may grant it the lock; NULL: a release may not; 0: a release has
  room        BIGINT, -- permits that other holders may have beside it; NULL: none, it wants the name alone; negative: with other names
  KEY queue (name, ticket),
  CHECK (OCTET_LENGTH(name) BETWEEN 1 AND 255)
) ENGINE = InnoDB;

-- A row for each holder that shares a name with others. It counts while "since" is the acquisition in the name's row.
-- The row of the empty name is no holder: its token is the highest version that was swept.
CREATE TABLE IF NOT EXISTS rowlock_share (
  name        VARBINARY(255) NOT NULL,
  acquisition VARCHAR(64)    CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL, -- unique to each attempt
  since       VARCHAR(64)    CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL,
  permits     BIGINT         NOT NULL,
  token       BIGINT         NOT NULL, -- the fencing token
  owner       VARCHAR(500)   CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- the client: application:host:pid:id
  thread      VARCHAR(255)   CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- the holder inside the client
  acquired_at DATETIME(6)    NOT NULL,
  expires_at  DATETIME(6)    NOT NULL, -- not after that of the name's row
  note        VARCHAR(1000)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, -- free text of the holder
  PRIMARY KEY (name, acquisition)
) ENGINE = InnoDB;

-- The names that long-waiting threads hold, so that threads that wait for each other can be found. A row counts while the
-- ticket has not expired and the name is held by that acquisition.
CREATE TABLE IF NOT EXISTS rowlock_edge (
  ticket      BIGINT         NOT NULL, -- the waiter's
  name        VARBINARY(255) NOT NULL, -- a name that the waiter holds
  acquisition VARCHAR(64)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- by which it holds the name; empty: by a transaction
  PRIMARY KEY (ticket, name)
) ENGINE = InnoDB;

-- A row for each schema file that was run.
CREATE TABLE IF NOT EXISTS rowlock_migration (
  version      INT         NOT NULL PRIMARY KEY,
  checksum     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin, -- SHA-256 of the file; NULL: run by hand and not yet adopted by migrate
  serves_from  INT         NOT NULL, -- the oldest schema that a program may expect and still work with these tables
  applied_at   DATETIME(6) NOT NULL,
  installation VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin -- random, made by the first file: tells one database from another
) ENGINE = InnoDB;

-- Last: a run that was interrupted is not taken for a whole one.
INSERT INTO rowlock_migration (version, checksum, serves_from, applied_at, installation)
VALUES (1, NULL, 1, UTC_TIMESTAMP(6), SHA2(CONCAT(UUID(), RAND()), 256))
ON DUPLICATE KEY UPDATE version = 1;
