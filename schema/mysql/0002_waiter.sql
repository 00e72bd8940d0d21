-- rowlock, schema 2 for MySQL 8.0 and MariaDB 10.6, and later. By hand: mysql DATABASE < 0002_waiter.sql
-- Every statement may be run again, and the row that marks the schema as applied comes last: an interrupted run is
-- finished by running it once more. Another table prefix: replace "rowlock_" in this file. At run time a role needs
-- SELECT, INSERT, UPDATE and DELETE on the table, nothing else.

-- One row for each thread that waits for a name. Of those that have not expired, the least ticket has its turn.
CREATE TABLE IF NOT EXISTS rowlock_waiter (
  ticket      BIGINT         NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name        VARBINARY(255) NOT NULL,
  owner       VARCHAR(500) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- the client: application:host:pid:id
  thread      VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- who waits inside the client
  attempt     VARCHAR(64)  CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL, -- unique to every ticket: known to the client before the ticket is there
  enqueued_at DATETIME(6)    NOT NULL,
  expires_at  DATETIME(6)    NOT NULL, -- kept ahead of the clock for as long as somebody waits
  KEY queue (name, ticket),
  CHECK (OCTET_LENGTH(name) BETWEEN 1 AND 255)
) ENGINE = InnoDB;

-- Libraries that know schema 1 only do not wait in turn, and need not: all else is as it was.
INSERT INTO rowlock_migration (version, checksum, serves_from, applied_at)
VALUES (2, NULL, 1, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE version = 2;
