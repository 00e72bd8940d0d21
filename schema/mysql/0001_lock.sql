-- rowlock, schema 1 for MySQL 8.0 and MariaDB 10.6, and later. By hand: mysql DATABASE < 0001_lock.sql
-- Every statement may be run again, and the row that marks the schema as applied comes last: an interrupted run is
-- finished by running it once more. Another table prefix: replace "rowlock_" in this file. At run time a role needs
-- SELECT, INSERT, UPDATE and DELETE on the tables, nothing else.

-- One row per name, contended for by every strategy. Times are the database's, in UTC.
CREATE TABLE IF NOT EXISTS rowlock_lock (
  name        VARBINARY(255) NOT NULL PRIMARY KEY, -- 1 to 255 bytes of UTF-8, compared byte for byte
  version     BIGINT         NOT NULL, -- grows at every change of ownership; the fencing token
  owner       VARCHAR(500) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, -- the client: application:host:pid:id; NULL: vacant
  thread      VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, -- the holder inside the client
  acquisition VARCHAR(64)  CHARACTER SET ascii   COLLATE ascii_bin,   -- unique to every single attempt; kept when the row is vacated
  acquired_at DATETIME(6),
  expires_at  DATETIME(6),
  note        VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, -- free text of the holder
  CHECK (OCTET_LENGTH(name) BETWEEN 1 AND 255)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS rowlock_migration (
  version      INT         NOT NULL PRIMARY KEY,
  checksum     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin, -- SHA-256 of the file; NULL: run by hand and not yet adopted by migrate
  serves_from  INT         NOT NULL, -- the oldest schema a library may expect and still work with this one
  applied_at   DATETIME(6) NOT NULL,
  installation VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin -- random, made by the first schema file: tells one database from another
) ENGINE = InnoDB;

INSERT INTO rowlock_migration (version, checksum, serves_from, applied_at, installation)
VALUES (1, NULL, 1, UTC_TIMESTAMP(6), SHA2(CONCAT(UUID(), RAND()), 256))
ON DUPLICATE KEY UPDATE version = 1;
