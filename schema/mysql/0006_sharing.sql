-- rowlock, schema 6 for MySQL 8.0 and MariaDB 10.6, and later. By hand: mysql DATABASE < 0006_sharing.sql
-- Every statement may be run again, and the row that marks the schema as applied comes last: an interrupted run is
-- finished by running it once more. Another table prefix: replace "rowlock_" in this file. It needs ALTER on the tables,
-- and waits for transactions that use the tables.

-- MySQL has no ADD COLUMN IF NOT EXISTS. The column: how many permits are given out, while the owner is "(shared)".
SET @rowlock_change = IF(
  EXISTS (SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'rowlock_lock' AND COLUMN_NAME = 'sharers'),
  'DO 0',
  'ALTER TABLE rowlock_lock ADD COLUMN sharers BIGINT NOT NULL DEFAULT 0');
PREPARE rowlock_change FROM @rowlock_change;
EXECUTE rowlock_change;
DEALLOCATE PREPARE rowlock_change;

-- The column: how many permits of others the waiter can be beside; NULL: none, it waits for the name alone.
SET @rowlock_change = IF(
  EXISTS (SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'rowlock_waiter' AND COLUMN_NAME = 'room'),
  'DO 0',
  'ALTER TABLE rowlock_waiter ADD COLUMN room BIGINT');
PREPARE rowlock_change FROM @rowlock_change;
EXECUTE rowlock_change;
DEALLOCATE PREPARE rowlock_change;

-- One row for each holder that shares a name with others. It counts while the name's row has the acquisition that is in
-- "since".
CREATE TABLE IF NOT EXISTS rowlock_share (
  name        VARBINARY(255) NOT NULL,
  acquisition VARCHAR(64)    CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL, -- unique to every single attempt
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

-- What a waiter has that has waited for long, so that waiters who wait for each other can be found. A row counts while
-- the ticket is alive and the name is had by that acquisition.
CREATE TABLE IF NOT EXISTS rowlock_edge (
  ticket      BIGINT         NOT NULL, -- the waiter's
  name        VARBINARY(255) NOT NULL, -- what it has
  acquisition VARCHAR(64)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- by which it has that; empty: by a transaction
  PRIMARY KEY (ticket, name)
) ENGINE = InnoDB;

-- Libraries that know schema 5 only see a name that is shared as leased by "(shared)".
INSERT INTO rowlock_migration (version, checksum, serves_from, applied_at)
VALUES (6, NULL, 1, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE version = 6;
