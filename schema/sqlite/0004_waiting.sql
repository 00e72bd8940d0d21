-- rowlock, schema 4 for SQLite. By hand: sqlite3 -bail locks.db < 0004_waiting.sql
-- The statement may be run again. Another table prefix: replace "rowlock_" in this file.

-- On servers a row says whether somebody waits for its name. In a file waiters see each commit by themselves, so nothing
-- but the number changes.
INSERT OR IGNORE INTO rowlock_migration (version, checksum, serves_from, applied_at)
VALUES (4, NULL, 1, CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER));
