-- rowlock, schema 2 for MySQL 8 and MariaDB 10.6 and later: the guard over failovers. Run it after 0001_rowlock.sql in
-- the same way. It may be run again. Programs that expect schema 1 keep working until the guard is switched on.

-- One row. It names the server to whose history of commits these tables belong. Another server, such as a promoted
-- replica, may lack the last commits; then nothing is granted until every lease in them has ended.
CREATE TABLE IF NOT EXISTS rowlock_guard (
  id          INT          NOT NULL PRIMARY KEY,
  term        BIGINT       NOT NULL, -- grows at every change of this row
  incarnation VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, -- the server; NULL: the guard is off
  quarantine  BIGINT,                -- microseconds that no lease exceeds; NULL: the guard is off
  grants_from DATETIME(6)  NOT NULL, -- nothing is granted before
  since       DATETIME(6)  NOT NULL, -- the time of the last change
  CHECK (id = 1),
  CHECK ((incarnation IS NULL) = (quarantine IS NULL))
) ENGINE = InnoDB;

INSERT INTO rowlock_guard (id, term, grants_from, since) VALUES (1, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE id = 1;

-- Last: a run that was interrupted is not taken for a whole one.
INSERT INTO rowlock_migration (version, checksum, serves_from, applied_at)
VALUES (2, NULL, 1, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE version = 2;
