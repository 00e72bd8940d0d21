-- rowlock, schema 3 for MySQL 8.0 and MariaDB 10.6, and later. By hand: mysql DATABASE < 0003_waiter_note.sql
-- Every statement may be run again, and the row that marks the schema as applied comes last: an interrupted run is
-- finished by running it once more. Another table prefix: replace "rowlock_" in this file. It needs ALTER on the table,
-- and waits for transactions that use the table.

-- MySQL has no ADD COLUMN IF NOT EXISTS. The column: free text of the waiter.
SET @rowlock_change = IF(
  EXISTS (SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'rowlock_waiter' AND COLUMN_NAME = 'note'),
  'DO 0',
  'ALTER TABLE rowlock_waiter ADD COLUMN note VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin');
PREPARE rowlock_change FROM @rowlock_change;
EXECUTE rowlock_change;
DEALLOCATE PREPARE rowlock_change;

-- Libraries that know schema 2 only name the columns that they write and read: their tickets have no note.
INSERT INTO rowlock_migration (version, checksum, serves_from, applied_at)
VALUES (3, NULL, 1, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE version = 3;
