-- rowlock, schema 5 for MySQL 8.0 and MariaDB 10.6, and later. By hand: mysql DATABASE < 0005_granting.sql
-- Every statement may be run again, and the row that marks the schema as applied comes last: an interrupted run is
-- finished by running it once more. Another table prefix: replace "rowlock_" in this file. It needs ALTER on the table,
-- and waits for transactions that use the table.

-- MySQL has no ADD COLUMN IF NOT EXISTS. The column: for how many microseconds a release may grant
-- its waiter the lock; NULL: it may not; 0: one has.
SET @rowlock_change = IF(
  EXISTS (SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'rowlock_waiter' AND COLUMN_NAME = 'lease'),
  'DO 0',
  'ALTER TABLE rowlock_waiter ADD COLUMN lease BIGINT');
PREPARE rowlock_change FROM @rowlock_change;
EXECUTE rowlock_change;
DEALLOCATE PREPARE rowlock_change;

-- Libraries that know schema 4 only name the columns that they write and read: nothing is granted to their tickets.
INSERT INTO rowlock_migration (version, checksum, serves_from, applied_at)
VALUES (5, NULL, 1, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE version = 5;
