-- rowlock, schema 4 for MySQL 8.0 and MariaDB 10.6, and later. By hand: mysql DATABASE < 0004_waiting.sql
-- Every statement may be run again, and the row that marks the schema as applied comes last: an interrupted run is
-- finished by running it once more. Another table prefix: replace "rowlock_" in this file. It needs ALTER on the table,
-- and waits for transactions that use the table.

-- MySQL has no ADD COLUMN IF NOT EXISTS. The column: somebody may have a ticket for this name, so a release has to look.
SET @rowlock_change = IF(
  EXISTS (SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'rowlock_lock' AND COLUMN_NAME = 'waiting'),
  'DO 0',
  'ALTER TABLE rowlock_lock ADD COLUMN waiting BOOLEAN NOT NULL DEFAULT FALSE');
PREPARE rowlock_change FROM @rowlock_change;
EXECUTE rowlock_change;
DEALLOCATE PREPARE rowlock_change;

-- Libraries that know schema 3 only leave the column as it is; those who wait for them ask by themselves.
INSERT INTO rowlock_migration (version, checksum, serves_from, applied_at)
VALUES (4, NULL, 1, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE version = 4;
