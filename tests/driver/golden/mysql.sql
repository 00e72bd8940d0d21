--- MySQL

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT ?, GREATEST(one.swept + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), 
?, ?, ?, SYSDATE(6), SYSDATE(6) + INTERVAL ? MICROSECOND, ?
 
FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM place.rowlock_share WHERE name = '' AND acquisition = '') one
WHERE ? IN (SELECT name FROM (SELECT name FROM place.rowlock_lock
    WHERE name = ? AND NOT waiting AND (owner IS NULL OR expires_at <= SYSDATE(6)) LIMIT 1
      FOR UPDATE SKIP LOCKED) free)
  OR NOT EXISTS (SELECT 1 FROM place.rowlock_lock WHERE name = ?) 
ON DUPLICATE KEY UPDATE
  acquisition = IF(NOT waiting AND (owner IS NULL OR expires_at <= SYSDATE(6)), VALUES(acquisition), acquisition),
  version = IF(acquisition = VALUES(acquisition), GREATEST(version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), version),
  thread = IF(acquisition = VALUES(acquisition), VALUES(thread), thread),
  acquired_at = IF(acquisition = VALUES(acquisition), SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL ? MICROSECOND, expires_at),
  note = IF(acquisition = VALUES(acquisition), VALUES(note), note),
  owner = IF(acquisition = VALUES(acquisition), VALUES(owner), owner)


--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT ?, IF(acquisition = ?, version, NULL), TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at),
  owner = '(shared)'
FROM place.rowlock_lock
WHERE name = ?
  AND (waiting OR (owner IS NOT NULL AND (acquisition = ? OR expires_at IS NULL
    OR expires_at > SYSDATE(6))))

--- MySQL

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT w.name,  IF(EXISTS (SELECT 1 FROM place.rowlock_lock s WHERE s.name = CAST(w.name AS BINARY)),
  0, GREATEST(one.swept + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)))) , w.owner, w.thread, w.acquisition, SYSDATE(6),
  SYSDATE(6) + INTERVAL w.lease MICROSECOND, w.note
FROM  (SELECT COALESCE(MAX(token), 0) AS swept FROM place.rowlock_share WHERE name = '' AND acquisition = '') one
  STRAIGHT_JOIN JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', owner VARCHAR(500) CHARACTER SET utf8mb4 PATH '$[1]', thread VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[2]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', note VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$[5]')) w
 WHERE CAST(w.name AS BINARY) IN (SELECT name FROM (
    SELECT l.name FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]')) v
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(v.name AS BINARY)
    WHERE NOT l.waiting AND (l.owner IS NULL OR l.expires_at <= SYSDATE(6))
    LIMIT 1000000 FOR UPDATE OF l SKIP LOCKED) free)
  OR NOT EXISTS (SELECT 1 FROM place.rowlock_lock l FORCE INDEX (PRIMARY) WHERE l.name = CAST(w.name AS BINARY)) 
ON DUPLICATE KEY UPDATE
  acquisition = IF(NOT place.rowlock_lock.waiting AND (place.rowlock_lock.owner IS NULL OR place.rowlock_lock.expires_at <= SYSDATE(6)),
    VALUES(acquisition), place.rowlock_lock.acquisition),
  version = IF(place.rowlock_lock.acquisition = VALUES(acquisition), GREATEST(place.rowlock_lock.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
    place.rowlock_lock.version),
  thread = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(thread), place.rowlock_lock.thread),
  acquired_at = IF(place.rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6), place.rowlock_lock.acquired_at),
  expires_at = IF(place.rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL w.lease MICROSECOND,
    place.rowlock_lock.expires_at),
  note = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(note), place.rowlock_lock.note),
  owner = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(owner), place.rowlock_lock.owner)


--- MySQL

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT w.name, IF(EXISTS (SELECT 1 FROM place.rowlock_lock s WHERE s.name = CAST(w.name AS BINARY)), 0,
  GREATEST(one.swept + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)))), w.owner, w.thread, w.acquisition, SYSDATE(6),
  SYSDATE(6) + INTERVAL w.lease MICROSECOND, w.note
FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM place.rowlock_share WHERE name = '' AND acquisition = '') one
  STRAIGHT_JOIN JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', owner VARCHAR(500) CHARACTER SET utf8mb4 PATH '$[1]', thread VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[2]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', note VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$[5]')) w
WHERE CAST(w.name AS BINARY) IN (SELECT name FROM (
    SELECT l.name FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]')) v
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(v.name AS BINARY)
    WHERE NOT l.waiting AND (l.owner IS NULL OR l.expires_at <= SYSDATE(6))
    LIMIT 1000000 FOR UPDATE  OF l  SKIP LOCKED) free)
  OR NOT EXISTS (SELECT 1 FROM place.rowlock_lock l FORCE INDEX (PRIMARY) WHERE l.name = CAST(w.name AS BINARY))
ON DUPLICATE KEY UPDATE
  acquisition = IF(NOT place.rowlock_lock.waiting AND (place.rowlock_lock.owner IS NULL OR place.rowlock_lock.expires_at <= SYSDATE(6)),
    VALUES(acquisition), place.rowlock_lock.acquisition),
  version = IF(place.rowlock_lock.acquisition = VALUES(acquisition), GREATEST(place.rowlock_lock.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
    place.rowlock_lock.version),
  thread = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(thread), place.rowlock_lock.thread),
  acquired_at = IF(place.rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6), place.rowlock_lock.acquired_at),
  expires_at = IF(place.rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL w.lease MICROSECOND,
    place.rowlock_lock.expires_at),
  note = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(note), place.rowlock_lock.note),
  owner = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(owner), place.rowlock_lock.owner)


--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT w.acquisition, IF(l.acquisition = w.acquisition, l.version, NULL),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at), l.owner = '(shared)'
FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]')) w
STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
WHERE l.waiting
  OR (l.owner IS NOT NULL AND (l.acquisition = w.acquisition OR l.expires_at IS NULL OR l.expires_at > SYSDATE(6)))

--- MySQL

UPDATE (SELECT l.name, w.owner, w.thread, w.acquisition, w.lease, w.note
    FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', owner VARCHAR(500) CHARACTER SET utf8mb4 PATH '$[1]', thread VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[2]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', note VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$[5]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE NOT l.waiting AND (l.owner IS NULL OR l.expires_at <= SYSDATE(6))
    LIMIT 1 FOR UPDATE  OF l  SKIP LOCKED) g
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = g.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), l.owner = g.owner, l.thread = g.thread,
  l.acquisition = g.acquisition, l.acquired_at = SYSDATE(6), l.expires_at = SYSDATE(6) + INTERVAL g.lease MICROSECOND,
  l.note = g.note

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT l.name, l.version, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at) FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]')) w
STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
WHERE l.owner IS NOT NULL AND l.acquisition = w.acquisition

--- MySQL

UPDATE (SELECT f.*, COUNT(*) OVER () AS number FROM (
      SELECT l.name, w.owner, w.thread, w.acquisition, w.lease, w.note
      FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', owner VARCHAR(500) CHARACTER SET utf8mb4 PATH '$[1]', thread VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[2]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', note VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$[5]', version BIGINT PATH '$[6]')) w
      STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
      WHERE (l.owner IS NULL OR l.expires_at <= SYSDATE(6)) AND IF(w.version = 0, NOT l.waiting, l.version = w.version)
      LIMIT 1000000 FOR UPDATE  OF l  SKIP LOCKED) f) g
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = g.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), l.owner = g.owner, l.thread = g.thread,
  l.acquisition = g.acquisition, l.acquired_at = SYSDATE(6), l.expires_at = SYSDATE(6) + INTERVAL g.lease MICROSECOND,
  l.note = g.note
WHERE g.number = JSON_LENGTH(?)

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT l.acquisition, l.version, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at) FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]')) w
STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
WHERE l.owner IS NOT NULL AND l.acquisition = w.acquisition

--- MySQL

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT ?, GREATEST(one.swept + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), 
?, ?, ?, SYSDATE(6), SYSDATE(6) + INTERVAL ? MICROSECOND, ?
 
FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM place.rowlock_share WHERE name = '' AND acquisition = '') one
WHERE ? IN (SELECT name FROM (SELECT name FROM place.rowlock_lock
    WHERE name = ? AND version = ? AND (owner IS NULL OR expires_at <= SYSDATE(6)) LIMIT 1
      FOR UPDATE SKIP LOCKED) free)
  OR NOT EXISTS (SELECT 1 FROM place.rowlock_lock WHERE name = ?) 
ON DUPLICATE KEY UPDATE
  acquisition = IF(version = ? AND (owner IS NULL OR expires_at <= SYSDATE(6)), VALUES(acquisition),
    acquisition),
  version = IF(acquisition = VALUES(acquisition), GREATEST(version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), version),
  thread = IF(acquisition = VALUES(acquisition), VALUES(thread), thread),
  acquired_at = IF(acquisition = VALUES(acquisition), SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL ? MICROSECOND, expires_at),
  note = IF(acquisition = VALUES(acquisition), VALUES(note), note),
  owner = IF(acquisition = VALUES(acquisition), VALUES(owner), owner)


--- MySQL, MySQL guarded

UPDATE  (SELECT name FROM place.rowlock_lock
    WHERE name = ? AND (owner IS NULL OR expires_at <= SYSDATE(6)) LIMIT 1 FOR UPDATE SKIP LOCKED) free
      STRAIGHT_JOIN 
  place.rowlock_lock l  ON l.name = free.name 
SET l.thread = CONCAT('session ', CONNECTION_ID(), ' from ', l.version),
  l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), l.note = NULL


--- MySQL, MariaDB
SELECT name, version, waiting FROM place.rowlock_lock WHERE name = ?

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

INSERT INTO place.rowlock_lock (name, version, expires_at) SELECT ?, GREATEST(one.swept + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), SYSDATE(6)
  FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM place.rowlock_share WHERE name = '' AND acquisition = '') one
  WHERE NOT EXISTS (SELECT 1 FROM place.rowlock_lock WHERE name = ?)
  ON DUPLICATE KEY UPDATE version = place.rowlock_lock.version

--- MySQL, MySQL guarded

UPDATE  (SELECT name FROM place.rowlock_lock
    WHERE name = ? AND owner IS NOT NULL AND expires_at <= SYSDATE(6) LIMIT 1 FOR UPDATE SKIP LOCKED) own
  STRAIGHT_JOIN  place.rowlock_lock l  ON l.name = own.name 
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
  l.expires_at = SYSDATE(6)


--- MySQL, MySQL guarded

UPDATE  (SELECT name FROM place.rowlock_lock
    WHERE name = ? AND acquisition = ? AND owner IS NOT NULL AND expires_at > SYSDATE(6)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own STRAIGHT_JOIN 
  place.rowlock_lock l  ON l.name = own.name 
SET l.expires_at = GREATEST(l.expires_at, SYSDATE(6) + INTERVAL ? MICROSECOND)
WHERE  l.expires_at > SYSDATE(6)

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT acquisition, remaining FROM (
  SELECT l.acquisition, ? AS lease, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at) AS remaining
  FROM (SELECT 1) one STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = ?
  WHERE l.acquisition = ? AND l.owner IS NOT NULL) own
WHERE remaining * 2 > lease

--- MySQL, MySQL guarded

UPDATE (SELECT l.name, w.lease FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', lease BIGINT PATH '$[2]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL AND l.expires_at > SYSDATE(6)
    LIMIT 1000000 FOR UPDATE  OF l  SKIP LOCKED) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.expires_at = GREATEST(l.expires_at, SYSDATE(6) + INTERVAL own.lease MICROSECOND)
WHERE l.expires_at > SYSDATE(6)

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT acquisition, remaining FROM (
  SELECT l.acquisition, w.lease AS lease, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at) AS remaining
  FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', lease BIGINT PATH '$[2]')) w STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY)
    ON l.name = CAST(w.name AS BINARY)
  WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL) own
WHERE remaining * 2 > lease

--- MySQL, MySQL guarded

UPDATE  (SELECT name FROM place.rowlock_lock
    WHERE name = ? AND acquisition = ? AND owner IS NOT NULL AND expires_at > SYSDATE(6)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own STRAIGHT_JOIN 
  place.rowlock_lock l  ON l.name = own.name 
SET l.expires_at = SYSDATE(6) + INTERVAL ? MICROSECOND
WHERE  l.expires_at > SYSDATE(6)

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT acquisition, remaining FROM (
  SELECT l.acquisition, ? AS lease, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at) AS remaining
  FROM (SELECT 1) one STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = ?
  WHERE l.acquisition = ? AND l.owner IS NOT NULL) own
WHERE remaining BETWEEN lease - 10000000 AND lease AND remaining > 0

--- MySQL, MySQL guarded

UPDATE (SELECT l.name, w.lease FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', lease BIGINT PATH '$[2]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL AND l.expires_at > SYSDATE(6)
    LIMIT 1000000 FOR UPDATE  OF l  SKIP LOCKED) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.expires_at = SYSDATE(6) + INTERVAL own.lease MICROSECOND
WHERE l.expires_at > SYSDATE(6)

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT acquisition, remaining FROM (
  SELECT l.acquisition, w.lease AS lease, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at) AS remaining
  FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', lease BIGINT PATH '$[2]')) w STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY)
    ON l.name = CAST(w.name AS BINARY)
  WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL) own
WHERE remaining BETWEEN lease - 10000000 AND lease AND remaining > 0

--- MySQL

UPDATE  (SELECT name FROM place.rowlock_lock
    WHERE name = ? AND acquisition = ? AND owner IS NOT NULL AND expires_at > SYSDATE(6)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own STRAIGHT_JOIN 
  place.rowlock_lock l  ON l.name = own.name 
SET l.version = GREATEST(l.version + ?, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
  l.expires_at = GREATEST(l.expires_at, SYSDATE(6) + INTERVAL ? MICROSECOND)
WHERE  l.expires_at > SYSDATE(6)

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT l.acquisition, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at), l.version,
  EXISTS (SELECT 1 FROM place.rowlock_waiter w WHERE w.name = ? AND w.owner <> l.owner AND w.expires_at > SYSDATE(6)
    AND COALESCE(w.lease, 1) <> 0)
FROM place.rowlock_lock l WHERE l.name = ? AND l.acquisition = ? AND l.owner IS NOT NULL

--- MySQL, MySQL guarded

UPDATE  (SELECT name FROM place.rowlock_lock
    WHERE name = ? AND acquisition = ? AND owner IS NOT NULL LIMIT 1 FOR UPDATE SKIP LOCKED) own
  STRAIGHT_JOIN  place.rowlock_lock l  ON l.name = own.name 
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
  l.expires_at = SYSDATE(6)


--- MySQL, MySQL guarded

UPDATE (SELECT l.name FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL
    LIMIT 1000000 FOR UPDATE  OF l  SKIP LOCKED) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
  l.expires_at = SYSDATE(6)

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT w.acquisition, l.owner IS NOT NULL FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]')) w
STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
WHERE l.acquisition = w.acquisition

--- MySQL, MySQL guarded

UPDATE  (SELECT name FROM place.rowlock_lock
    WHERE name = ? AND acquisition = ? AND owner IS NOT NULL AND NOT waiting LIMIT 1
      FOR UPDATE SKIP LOCKED) own
  STRAIGHT_JOIN  place.rowlock_lock l  ON l.name = own.name 
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
  l.expires_at = SYSDATE(6)


--- MySQL, MySQL guarded

UPDATE (SELECT l.name FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL AND NOT l.waiting
    LIMIT 1000000 FOR UPDATE  OF l  SKIP LOCKED) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
  l.expires_at = SYSDATE(6)

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT q.owner, q.ticket, q.attempt, q.lease FROM place.rowlock_waiter q
WHERE q.name = ? AND q.expires_at > SYSDATE(6) AND COALESCE(q.lease, 1) <> 0
  AND (COALESCE(q.room, -1) <> -2 OR (q.room < -1 AND q.enqueued_at <= SYSDATE(6) - INTERVAL 100000 MICROSECOND AND (q.enqueued_at > SYSDATE(6) - INTERVAL 1100000 MICROSECOND OR TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)) % 5000000 < 1000000)))
ORDER BY q.ticket LIMIT 1

--- MySQL, MariaDB

UPDATE (SELECT l.name, q.ticket, q.owner, q.thread, q.note, q.attempt, LEAST(q.lease, 1000000) AS time
    FROM place.rowlock_lock l FORCE INDEX (PRIMARY) STRAIGHT_JOIN place.rowlock_waiter q FORCE INDEX (PRIMARY) ON q.ticket = ?
    WHERE l.name = ? AND l.acquisition = ? AND l.owner IS NOT NULL
      AND l.expires_at > SYSDATE(6) + INTERVAL 300000 MICROSECOND
      AND q.attempt = ? AND q.lease > 0 AND q.expires_at > SYSDATE(6) LIMIT 1 FOR UPDATE SKIP LOCKED) g
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = g.name
  STRAIGHT_JOIN place.rowlock_waiter q FORCE INDEX (PRIMARY) ON q.ticket = g.ticket
SET l.owner = g.owner, l.thread = g.thread, l.note = g.note, l.acquisition = g.attempt,
  l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), l.acquired_at = SYSDATE(6),
  l.expires_at = LEAST(l.expires_at, SYSDATE(6) + INTERVAL g.time MICROSECOND), q.lease = 0

--- MySQL, MySQL guarded

UPDATE  (SELECT name FROM place.rowlock_lock
    WHERE name = ? AND acquisition = ? AND owner IS NOT NULL AND expires_at > SYSDATE(6)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own STRAIGHT_JOIN 
  place.rowlock_lock l  ON l.name = own.name 
SET l.expires_at = l.acquired_at + INTERVAL ? MICROSECOND, l.thread = '(released)'


--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT ?, l.expires_at <> l.acquired_at + INTERVAL ? MICROSECOND
FROM (SELECT 1) one STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = ?
WHERE l.acquisition = ? AND l.owner IS NOT NULL

--- MySQL, MySQL guarded

UPDATE (SELECT l.name, w.lease FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', lease BIGINT PATH '$[2]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL AND l.expires_at > SYSDATE(6)
    LIMIT 1000000 FOR UPDATE  OF l  SKIP LOCKED) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.expires_at = l.acquired_at + INTERVAL own.lease MICROSECOND, l.thread = '(released)'

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT w.acquisition, l.expires_at <> l.acquired_at + INTERVAL w.lease MICROSECOND
FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', lease BIGINT PATH '$[2]')) w STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY)
  ON l.name = CAST(w.name AS BINARY)
WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL

--- MySQL, MySQL guarded

UPDATE  (SELECT name FROM place.rowlock_lock
    WHERE name = ? AND version = ? AND owner IS NOT NULL LIMIT 1 FOR UPDATE SKIP LOCKED) own STRAIGHT_JOIN 
  place.rowlock_lock l  ON l.name = own.name 
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
  l.expires_at = SYSDATE(6)


--- MySQL


UPDATE place.rowlock_lock SET
  acquisition = IF(COALESCE(owner = '(shared)' AND expires_at > SYSDATE(6), FALSE), acquisition,
    CONCAT('shared:', ?)),
  sharers = IF(acquisition = CONCAT('shared:', ?), 0, sharers) + ?,
  acquired_at = IF(acquisition = CONCAT('shared:', ?), SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = CONCAT('shared:', ?), SYSDATE(6) + INTERVAL ? MICROSECOND,
    GREATEST(expires_at, SYSDATE(6) + INTERVAL ? MICROSECOND)),
  version = GREATEST(version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), owner = '(shared)', thread = NULL, note = NULL
WHERE name = ? AND (owner IS NULL OR expires_at <= SYSDATE(6) OR (owner = '(shared)' AND sharers <= ?))
  AND IF(? = 0, NOT waiting, version = ?
    OR COALESCE(owner = '(shared)' AND expires_at > SYSDATE(6), FALSE))

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

INSERT INTO place.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
SELECT ?, ?, l.acquisition, ?, l.version, ?, ?, SYSDATE(6),
  LEAST(l.expires_at, SYSDATE(6) + INTERVAL ? MICROSECOND), ?
FROM place.rowlock_lock l WHERE l.name = ? AND ROW_COUNT() > 0

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT acquisition, token, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at) FROM place.rowlock_share
WHERE name = ? AND acquisition = ?

--- MySQL


UPDATE (SELECT r.*, r.at + INTERVAL r.lease MICROSECOND AS ends,
      COALESCE(r.owner = '(shared)' AND r.expires_at > r.at, FALSE) AS joins
    FROM (SELECT l.name, l.owner, l.expires_at, SYSDATE(6) AS at, t.number, t.permits, t.lease, t.first
      FROM (SELECT w.name, COUNT(*) AS number, SUM(w.permits) AS permits, MAX(w.lease) AS lease,
          MIN(w.acquisition) AS first, MAX(w.room) AS room, MAX(w.version) AS version
        FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', permits BIGINT PATH '$[6]', room BIGINT PATH '$[7]', version BIGINT PATH '$[8]')) w GROUP BY w.name) t
      STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(t.name AS BINARY)
      WHERE (l.owner IS NULL OR l.expires_at <= SYSDATE(6) OR (l.owner = '(shared)' AND l.sharers <= t.room))
        AND IF(t.version = 0, NOT l.waiting,
          l.version = t.version OR COALESCE(l.owner = '(shared)' AND l.expires_at > SYSDATE(6), FALSE))
      LIMIT 1 FOR UPDATE  OF l ) r) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', own.at)) + own.number - 1, l.owner = '(shared)', l.thread = NULL,
  l.note = NULL, l.sharers = IF(own.joins, l.sharers, 0) + own.permits,
  l.acquisition = IF(own.joins, l.acquisition, CONCAT('shared:', own.first)),
  l.acquired_at = IF(own.joins, l.acquired_at, own.at),
  l.expires_at = IF(own.joins, GREATEST(l.expires_at, own.ends), own.ends)

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

INSERT INTO place.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
SELECT l.name, w.acquisition, l.acquisition, w.permits, l.version + 1 - ROW_NUMBER() OVER (ORDER BY w.acquisition DESC),
  w.owner, w.thread, SYSDATE(6), LEAST(l.expires_at, SYSDATE(6) + INTERVAL w.lease MICROSECOND), w.note
FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', owner VARCHAR(500) CHARACTER SET utf8mb4 PATH '$[1]', thread VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[2]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', note VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$[5]', permits BIGINT PATH '$[6]')) w
STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY) AND ROW_COUNT() > 0

--- MySQL


SELECT JSON_ARRAYAGG(JSON_ARRAY(own.name, 0, 0, own.first)) INTO @rowlock.shares FROM (
  SELECT t.name, t.first
  FROM (SELECT w.name, MIN(w.acquisition) AS first, MAX(w.room) AS room, MAX(w.version) AS version
    FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', room BIGINT PATH '$[7]', version BIGINT PATH '$[8]')) w GROUP BY CAST(w.name AS BINARY)) t
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(t.name AS BINARY)
  WHERE (l.owner IS NULL OR l.expires_at <= SYSDATE(6) OR (l.owner = '(shared)' AND l.sharers <= t.room))
    AND IF(t.version = 0, NOT l.waiting,
      l.version = t.version OR COALESCE(l.owner = '(shared)' AND l.expires_at > SYSDATE(6), FALSE))
  LIMIT 1000000 FOR UPDATE  OF l  SKIP LOCKED) own;
UPDATE (SELECT r.*, r.at + INTERVAL r.lease MICROSECOND AS ends,
      COALESCE(r.owner = '(shared)' AND r.expires_at > r.at, FALSE) AS joins
    FROM (SELECT l.name, l.owner, l.expires_at, SYSDATE(6) AS at, t.number, t.permits, t.lease, k.acquisition AS first
      FROM JSON_TABLE(@rowlock.shares, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]')) k
      STRAIGHT_JOIN (SELECT w.name, COUNT(*) AS number, SUM(w.permits) AS permits, MAX(w.lease) AS lease
        FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', lease BIGINT PATH '$[4]', permits BIGINT PATH '$[6]')) w GROUP BY CAST(w.name AS BINARY)) t
        ON CAST(t.name AS BINARY) = CAST(k.name AS BINARY)
      STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(k.name AS BINARY)
      LIMIT 1000000 FOR UPDATE  OF l ) r) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', own.at)) + own.number - 1, l.owner = '(shared)', l.thread = NULL,
  l.note = NULL, l.sharers = IF(own.joins, l.sharers, 0) + own.permits,
  l.acquisition = IF(own.joins, l.acquisition, CONCAT('shared:', own.first)),
  l.acquired_at = IF(own.joins, l.acquired_at, own.at),
  l.expires_at = IF(own.joins, GREATEST(l.expires_at, own.ends), own.ends)

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

INSERT INTO place.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
SELECT l.name, w.acquisition, l.acquisition, w.permits,
  l.version + 1 - ROW_NUMBER() OVER (PARTITION BY l.name ORDER BY w.acquisition DESC),
  w.owner, w.thread, SYSDATE(6), LEAST(l.expires_at, SYSDATE(6) + INTERVAL w.lease MICROSECOND), w.note
FROM JSON_TABLE(@rowlock.shares, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]')) k
STRAIGHT_JOIN JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', owner VARCHAR(500) CHARACTER SET utf8mb4 PATH '$[1]', thread VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[2]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', note VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$[5]', permits BIGINT PATH '$[6]')) w
  ON CAST(w.name AS BINARY) = CAST(k.name AS BINARY)
STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(k.name AS BINARY)

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT s.acquisition, s.token, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), s.expires_at)
FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]')) w
STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = CAST(w.name AS BINARY)
  AND s.acquisition = w.acquisition

--- MySQL, MySQL guarded


UPDATE (SELECT k.*, MAX(k.ends) OVER (PARTITION BY k.name) AS last FROM (
      SELECT r.name, r.acquisition, GREATEST(r.expires_at, r.at + INTERVAL r.lease MICROSECOND) AS ends FROM (
        SELECT l.name, s.acquisition, s.expires_at, w.lease, SYSDATE(6) AS at
        FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', lease BIGINT PATH '$[2]')) w
        STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
        STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
        WHERE l.owner = '(shared)' AND l.acquisition = s.since
        LIMIT 1000000 FOR UPDATE  OF l, s ) r
      WHERE r.expires_at > r.at) k) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
  STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = own.name AND s.acquisition = own.acquisition
SET l.expires_at = GREATEST(l.expires_at, own.last), s.expires_at = own.ends

--- MySQL, MySQL guarded

UPDATE (SELECT k.*, MAX(k.ends) OVER (PARTITION BY k.name) AS last FROM (
      SELECT r.name, r.acquisition, GREATEST(r.expires_at, r.at + INTERVAL r.lease MICROSECOND) AS ends FROM (
        SELECT l.name, s.acquisition, s.expires_at, w.lease, SYSDATE(6) AS at
        FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', lease BIGINT PATH '$[2]')) w
        STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
        STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
        WHERE l.owner = '(shared)' AND l.acquisition = s.since
        LIMIT 1000000 FOR UPDATE  OF l, s  SKIP LOCKED) r
      WHERE r.expires_at > r.at) k) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
  STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = own.name AND s.acquisition = own.acquisition
SET l.expires_at = GREATEST(l.expires_at, own.last), s.expires_at = own.ends

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT acquisition, remaining FROM (
  SELECT s.acquisition, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), s.expires_at) AS remaining, w.lease
  FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', lease BIGINT PATH '$[2]')) w
  STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY)
    ON s.name = CAST(w.name AS BINARY) AND s.acquisition = w.acquisition
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY)
    ON l.name = s.name AND l.owner = '(shared)' AND l.acquisition = s.since) own
WHERE remaining > 0 AND remaining * 2 > lease

--- MySQL, MySQL guarded


UPDATE (SELECT k.*, MAX(k.ends) OVER (PARTITION BY k.name) AS last FROM (
      SELECT r.name, r.acquisition, r.at + INTERVAL r.lease MICROSECOND AS ends FROM (
        SELECT l.name, s.acquisition, s.expires_at, w.lease, SYSDATE(6) AS at
        FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', lease BIGINT PATH '$[2]')) w
        STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
        STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
        WHERE l.owner = '(shared)' AND l.acquisition = s.since
        LIMIT 1000000 FOR UPDATE  OF l, s ) r
      WHERE r.expires_at > r.at) k) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
  STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = own.name AND s.acquisition = own.acquisition
SET l.expires_at = GREATEST(l.expires_at, own.last), s.expires_at = own.ends

--- MySQL, MySQL guarded

UPDATE (SELECT k.*, MAX(k.ends) OVER (PARTITION BY k.name) AS last FROM (
      SELECT r.name, r.acquisition, r.at + INTERVAL r.lease MICROSECOND AS ends FROM (
        SELECT l.name, s.acquisition, s.expires_at, w.lease, SYSDATE(6) AS at
        FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', lease BIGINT PATH '$[2]')) w
        STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
        STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
        WHERE l.owner = '(shared)' AND l.acquisition = s.since
        LIMIT 1000000 FOR UPDATE  OF l, s  SKIP LOCKED) r
      WHERE r.expires_at > r.at) k) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
  STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = own.name AND s.acquisition = own.acquisition
SET l.expires_at = GREATEST(l.expires_at, own.last), s.expires_at = own.ends

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT acquisition, remaining FROM (
  SELECT s.acquisition, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), s.expires_at) AS remaining, w.lease
  FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', lease BIGINT PATH '$[2]')) w
  STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY)
    ON s.name = CAST(w.name AS BINARY) AND s.acquisition = w.acquisition
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY)
    ON l.name = s.name AND l.owner = '(shared)' AND l.acquisition = s.since) own
WHERE remaining > 0 AND remaining BETWEEN lease - 10000000 AND lease

--- MySQL, MySQL guarded

SET @rowlock.share = NULL, @rowlock.name = NULL;
SELECT l.name INTO @rowlock.name
FROM place.rowlock_lock l FORCE INDEX (PRIMARY) STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name
WHERE l.name = ? AND l.owner = '(shared)' AND l.acquisition = s.since AND s.acquisition = ? LIMIT 1;

SELECT s.acquisition, s.permits INTO @rowlock.share, @rowlock.permits
FROM place.rowlock_lock l FORCE INDEX (PRIMARY) STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name
WHERE l.name = @rowlock.name AND l.owner = '(shared)' AND l.acquisition = s.since AND s.acquisition = ?
  AND (? = 0 OR s.expires_at <= SYSDATE(6))
  LIMIT 1 FOR UPDATE;
UPDATE place.rowlock_lock SET sharers = sharers - @rowlock.permits, owner = IF(sharers > 0, owner, NULL),
  version = IF(sharers > 0, version, GREATEST(version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)))),
  expires_at = IF(sharers > 0, expires_at, SYSDATE(6))
WHERE name = @rowlock.name AND @rowlock.share IS NOT NULL

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded
DELETE FROM place.rowlock_share WHERE name = ? AND acquisition = @rowlock.share

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded
SELECT ?, NULL, waiting FROM place.rowlock_lock WHERE name = ? AND @rowlock.share IS NOT NULL

--- MySQL, MySQL guarded


SELECT JSON_ARRAYAGG(JSON_ARRAY(own.name, own.acquisition)) INTO @rowlock.shares FROM (
  SELECT w.name, w.acquisition FROM (
    SELECT w.* FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', expired BIGINT PATH '$[2]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
    WHERE l.owner = '(shared)' AND l.acquisition = s.since LIMIT 1000000) w
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
  STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
  WHERE l.owner = '(shared)' AND l.acquisition = s.since AND (w.expired = 0 OR s.expires_at <= SYSDATE(6))
  LIMIT 1000000 FOR UPDATE  OF l, s ) own;
UPDATE (SELECT l.name, l.sharers - SUM(s.permits) AS sharers FROM JSON_TABLE(@rowlock.shares, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
    GROUP BY l.name, l.sharers) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.sharers = own.sharers, l.owner = IF(own.sharers > 0, l.owner, NULL),
  l.version = IF(own.sharers > 0, l.version, GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)))),
  l.expires_at = IF(own.sharers > 0, l.expires_at, SYSDATE(6))

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

DELETE s FROM JSON_TABLE(@rowlock.shares, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]')) w
STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = CAST(w.name AS BINARY) AND s.acquisition = w.acquisition

--- MySQL, MySQL guarded


SELECT JSON_ARRAYAGG(JSON_ARRAY(own.name, own.acquisition)) INTO @rowlock.shares FROM (
  SELECT w.name, w.acquisition FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', expired BIGINT PATH '$[2]')) w
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
  STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
  WHERE l.owner = '(shared)' AND l.acquisition = s.since AND (w.expired = 0 OR s.expires_at <= SYSDATE(6))
  LIMIT 1000000 FOR UPDATE  OF l, s  SKIP LOCKED) own;
UPDATE (SELECT l.name, l.sharers - SUM(s.permits) AS sharers FROM JSON_TABLE(@rowlock.shares, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
    GROUP BY l.name, l.sharers) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.sharers = own.sharers, l.owner = IF(own.sharers > 0, l.owner, NULL),
  l.version = IF(own.sharers > 0, l.version, GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)))),
  l.expires_at = IF(own.sharers > 0, l.expires_at, SYSDATE(6))

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT w.acquisition, NULL, l.waiting FROM JSON_TABLE(@rowlock.shares, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]')) w
STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)

--- MySQL

SET @rowlock.share = NULL, @rowlock.name = NULL;
SELECT l.name INTO @rowlock.name
FROM place.rowlock_lock l FORCE INDEX (PRIMARY) STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name
WHERE l.name = ? AND l.owner = '(shared)' AND l.acquisition = s.since AND s.acquisition = ? LIMIT 1;

UPDATE (SELECT r.* FROM (
      SELECT l.name, s.expires_at, SYSDATE(6) AS at
      FROM place.rowlock_lock l FORCE INDEX (PRIMARY)
      STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = ?
      WHERE l.name = @rowlock.name AND l.owner = '(shared)' AND l.acquisition = s.since AND l.sharers = s.permits
      LIMIT 1 FOR UPDATE) r WHERE r.expires_at > r.at) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', own.at)), l.owner = ?, l.thread = ?, l.acquisition = ?,
  l.acquired_at = own.at, l.expires_at = own.expires_at, l.note = ?, l.sharers = 0

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded
DELETE FROM place.rowlock_share WHERE name = ? AND acquisition = ? AND ROW_COUNT() > 0

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT acquisition, version, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at) FROM place.rowlock_lock
WHERE name = ? AND acquisition = ? AND owner IS NOT NULL

--- MySQL, MySQL guarded

SET @rowlock.share = NULL, @rowlock.name = NULL;
SELECT name INTO @rowlock.name FROM place.rowlock_lock
WHERE name = ? AND acquisition = ? AND owner IS NOT NULL;

UPDATE (SELECT r.* FROM (
      SELECT name, expires_at, SYSDATE(6) AS at FROM place.rowlock_lock
      WHERE name = @rowlock.name AND acquisition = ? AND owner IS NOT NULL LIMIT 1 FOR UPDATE) r
    WHERE r.expires_at > r.at) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', own.at)), l.owner = '(shared)', l.thread = NULL, l.note = NULL,
  l.acquisition = CONCAT('shared:', ?), l.sharers = ?

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

INSERT INTO place.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
SELECT ?, ?, l.acquisition, ?, l.version, ?, ?, SYSDATE(6), l.expires_at, ?
  FROM place.rowlock_lock l
WHERE l.name = ? AND ROW_COUNT() > 0

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

DELETE FROM place.rowlock_share WHERE name = ? AND expires_at <= SYSDATE(6) AND NOT EXISTS (
  SELECT 1 FROM place.rowlock_lock l WHERE l.name = ? AND l.owner = '(shared)' AND l.acquisition = place.rowlock_share.since)

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT DISTINCT name FROM place.rowlock_share
WHERE name > ? AND expires_at <= SYSDATE(6) - INTERVAL ? MICROSECOND ORDER BY name LIMIT ?

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT s.name, s.token, s.owner, s.thread, s.acquisition, TIMESTAMPDIFF(MICROSECOND, s.acquired_at, SYSDATE(6)),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), s.expires_at), s.note, FALSE, s.permits
FROM place.rowlock_share s JOIN place.rowlock_lock l ON l.name = s.name AND l.owner = '(shared)' AND l.acquisition = s.since
WHERE s.name = ? AND (s.expires_at > SYSDATE(6)) = (? = 0) ORDER BY s.token

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT s.name, s.token, s.owner, s.thread, s.acquisition, TIMESTAMPDIFF(MICROSECOND, s.acquired_at, SYSDATE(6)),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), s.expires_at), s.note, FALSE, s.permits FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', expired BIGINT PATH '$[1]')) w
STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name
WHERE l.owner = '(shared)' AND l.acquisition = s.since AND (s.expires_at > SYSDATE(6)) = (w.expired = 0)

--- MySQL, MySQL guarded

INSERT INTO place.rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at, note, lease, room)
VALUES (?, ?, ?, ?, SYSDATE(6), SYSDATE(6) + INTERVAL ? MICROSECOND, ?, ?, ?)
  

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded
SELECT ?, CAST(LAST_INSERT_ID() AS SIGNED)

--- MySQL, MySQL guarded

UPDATE (SELECT w.ticket, v.life FROM JSON_TABLE(?, '$[*]' COLUMNS (attempt VARCHAR(64) CHARACTER SET ascii PATH '$[1]', ticket BIGINT PATH '$[2]', life BIGINT PATH '$[3]')) v
    STRAIGHT_JOIN place.rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = v.ticket
    WHERE w.attempt = v.attempt LIMIT 1000000 FOR UPDATE  OF w  SKIP LOCKED) own
  STRAIGHT_JOIN place.rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = own.ticket
SET w.expires_at = SYSDATE(6) + INTERVAL own.life MICROSECOND

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT v.attempt, FALSE FROM JSON_TABLE(?, '$[*]' COLUMNS (attempt VARCHAR(64) CHARACTER SET ascii PATH '$[1]', ticket BIGINT PATH '$[2]')) v
STRAIGHT_JOIN place.rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = v.ticket WHERE w.attempt = v.attempt

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded
DELETE FROM place.rowlock_waiter WHERE ticket = ? AND attempt = ?

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded
SELECT ?, EXISTS (SELECT 1 FROM place.rowlock_waiter WHERE ticket = ? AND attempt = ?)

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

DELETE w FROM JSON_TABLE(?, '$[*]' COLUMNS (attempt VARCHAR(64) CHARACTER SET ascii PATH '$[1]', ticket BIGINT PATH '$[2]')) v
STRAIGHT_JOIN place.rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = v.ticket WHERE w.attempt = v.attempt

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT v.attempt, w.ticket IS NOT NULL FROM JSON_TABLE(?, '$[*]' COLUMNS (attempt VARCHAR(64) CHARACTER SET ascii PATH '$[1]', ticket BIGINT PATH '$[2]')) v
LEFT JOIN place.rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = v.ticket AND w.attempt = v.attempt

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded
DELETE FROM place.rowlock_waiter WHERE name = ? AND attempt = ?

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

UPDATE (SELECT name FROM place.rowlock_lock WHERE name = ? AND NOT waiting LIMIT 1 FOR UPDATE SKIP LOCKED) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.waiting = TRUE

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded
SELECT name FROM place.rowlock_lock WHERE name = ? AND waiting

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

UPDATE (SELECT name FROM place.rowlock_lock WHERE name = ? AND waiting
    AND NOT EXISTS (SELECT 1 FROM place.rowlock_waiter
      WHERE name = ? AND expires_at > SYSDATE(6) AND COALESCE(lease, 1) <> 0)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.waiting = FALSE

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded
SELECT name FROM place.rowlock_lock WHERE name = ? AND NOT waiting

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT q.owner, NULL, EXISTS (SELECT 1 FROM place.rowlock_waiter b
    WHERE b.name = ? AND b.ticket < q.ticket AND b.expires_at > SYSDATE(6) AND COALESCE(b.lease, 1) <> 0
      AND (COALESCE(b.room, -1) <> -2 OR (b.room < -1 AND b.enqueued_at <= SYSDATE(6) - INTERVAL 100000 MICROSECOND AND (b.enqueued_at > SYSDATE(6) - INTERVAL 1100000 MICROSECOND OR TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)) % 5000000 < 1000000))))
FROM place.rowlock_waiter q
WHERE q.name = ? AND q.expires_at > SYSDATE(6) AND COALESCE(q.lease, 1) <> 0
  AND RIGHT(q.owner, 16) <> LEFT(?, 16)
  AND NOT EXISTS (SELECT 1 FROM place.rowlock_lock l
    WHERE l.name = ? AND l.owner <> '(shared)' AND (l.expires_at IS NULL OR l.expires_at > SYSDATE(6)))
ORDER BY COALESCE(q.room, -1) = -2 AND NOT (q.room < -1 AND q.enqueued_at <= SYSDATE(6) - INTERVAL 100000 MICROSECOND AND (q.enqueued_at > SYSDATE(6) - INTERVAL 1100000 MICROSECOND OR TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)) % 5000000 < 1000000)), q.ticket LIMIT 1

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT ?, EXISTS (SELECT 1 FROM place.rowlock_waiter b
    WHERE b.name = ? AND b.ticket < ? AND b.expires_at > SYSDATE(6) AND COALESCE(b.lease, 1) <> 0
      AND CASE WHEN ? = 0 THEN TRUE WHEN b.room = -2 OR (b.room < -1 AND ? > 0) THEN (b.room < -1 AND b.enqueued_at <= SYSDATE(6) - INTERVAL 100000 MICROSECOND AND (b.enqueued_at > SYSDATE(6) - INTERVAL 1100000 MICROSECOND OR TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)) % 5000000 < 1000000))
        WHEN ? < 0 THEN TRUE
        ELSE ? >= 0 AND b.enqueued_at <= SYSDATE(6) - INTERVAL ? MICROSECOND END
      AND (COALESCE(b.room, -1) <> 9223372036854775807 OR ? <> 9223372036854775807)),
  EXISTS (SELECT 1 FROM place.rowlock_waiter o
    WHERE o.ticket = ? AND (COALESCE(o.lease, 1) <> 0 OR o.attempt = l.acquisition)),
  l.owner IS NULL OR COALESCE(l.expires_at <= SYSDATE(6) OR (l.owner = '(shared)' AND l.sharers <= ?), FALSE),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at),
  l.version, IF(l.owner IS NULL, NULL, l.acquisition), l.waiting
FROM (SELECT 1) one LEFT JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = ?

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT w.name, EXISTS (SELECT 1 FROM place.rowlock_waiter b
    WHERE b.name = CAST(w.name AS BINARY) AND b.ticket < w.turn AND b.expires_at > SYSDATE(6)
      AND COALESCE(b.lease, 1) <> 0
      AND CASE WHEN w.patience = 0 THEN TRUE WHEN b.room = -2 OR (b.room < -1 AND w.patience > 0) THEN (b.room < -1 AND b.enqueued_at <= SYSDATE(6) - INTERVAL 100000 MICROSECOND AND (b.enqueued_at > SYSDATE(6) - INTERVAL 1100000 MICROSECOND OR TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)) % 5000000 < 1000000))
        WHEN w.patience < 0 THEN TRUE
        ELSE w.room >= 0 AND b.enqueued_at <= SYSDATE(6) - INTERVAL w.patience MICROSECOND END
      AND (COALESCE(b.room, -1) <> 9223372036854775807 OR w.room <> 9223372036854775807)),
  EXISTS (SELECT 1 FROM place.rowlock_waiter o
    WHERE o.ticket = w.turn AND (COALESCE(o.lease, 1) <> 0 OR o.attempt = l.acquisition)),
  l.owner IS NULL OR COALESCE(l.expires_at <= SYSDATE(6) OR (l.owner = '(shared)' AND l.sharers <= w.room), FALSE),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at),
  l.version, IF(l.owner IS NULL, NULL, l.acquisition), l.waiting
FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', turn BIGINT PATH '$[1]', room BIGINT PATH '$[2]', patience BIGINT PATH '$[3]')) w LEFT JOIN place.rowlock_lock l FORCE INDEX (PRIMARY)
  ON l.name = CAST(w.name AS BINARY)

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT name, ticket, owner, thread, TIMESTAMPDIFF(MICROSECOND, enqueued_at, SYSDATE(6)), note FROM place.rowlock_waiter
WHERE name >= ? AND (? IS NULL OR name < ?) AND expires_at > SYSDATE(6)
  AND COALESCE(lease, 1) <> 0
ORDER BY name, ticket

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

INSERT INTO place.rowlock_edge (ticket, name, acquisition) VALUES (?, ?, ?)
ON DUPLICATE KEY UPDATE acquisition = VALUES(acquisition)

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded
DELETE FROM place.rowlock_edge WHERE ticket = ?

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT q.name, q.ticket, q.owner, q.thread, e.name
FROM place.rowlock_edge e JOIN place.rowlock_waiter q ON q.ticket = e.ticket AND q.expires_at > SYSDATE(6)
LEFT JOIN place.rowlock_lock l ON l.name = e.name AND l.owner IS NOT NULL
  AND (l.expires_at IS NULL OR l.expires_at > SYSDATE(6))
WHERE (e.acquisition = '' OR l.acquisition = e.acquisition OR EXISTS (SELECT 1 FROM place.rowlock_share s
    WHERE s.name = e.name AND s.acquisition = e.acquisition AND s.since = l.acquisition AND s.expires_at > SYSDATE(6)))
  AND NOT EXISTS (SELECT 1 FROM place.rowlock_share s WHERE s.name = q.name AND s.owner = q.owner AND s.thread = q.thread
    AND s.acquired_at > q.enqueued_at)
ORDER BY q.ticket, e.name

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded
DELETE e FROM place.rowlock_edge e LEFT JOIN place.rowlock_waiter q ON q.ticket = e.ticket WHERE q.ticket IS NULL

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT l.name, l.version, l.owner, l.thread, l.acquisition, TIMESTAMPDIFF(MICROSECOND, l.acquired_at, SYSDATE(6)),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at), l.note, l.expires_at IS NULL, l.waiting FROM place.rowlock_lock l
    WHERE l.name = ?

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT l.name, l.version, l.owner, l.thread, l.acquisition, TIMESTAMPDIFF(MICROSECOND, l.acquired_at, SYSDATE(6)),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at), l.note, l.expires_at IS NULL, l.waiting FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]')) w
STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT l.name, l.version, l.owner, l.thread, l.acquisition, TIMESTAMPDIFF(MICROSECOND, l.acquired_at, SYSDATE(6)),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at), l.note, l.expires_at IS NULL,
  IF(l.owner = '(shared)', (SELECT CAST(LEAST(SUM(GREATEST(s.permits, 0)), 9223372036854775807) AS SIGNED)
    FROM place.rowlock_share s WHERE s.name = l.name AND s.since = l.acquisition AND s.expires_at > SYSDATE(6)), NULL)
FROM place.rowlock_lock l
WHERE l.name >= ? AND (? IS NULL OR l.name < ?) AND l.owner IS NOT NULL
  AND (l.expires_at IS NULL OR l.expires_at > SYSDATE(6)) ORDER BY l.name

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT l.name, l.version, NULL, IF(l.thread REGEXP '^session [0-9]{1,18} ',
    CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(l.thread, ' ', 2), ' ', -1) AS SIGNED), NULL), NULL, NULL,
  NULL, l.note, TRUE, l.thread FROM place.rowlock_lock l
WHERE (l.owner IS NULL OR l.expires_at <= SYSDATE(6)) AND l.name >= ?
  AND (? IS NULL OR l.name < ?)

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded
SELECT 1 FROM place.rowlock_lock WHERE name = ? AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', expires_at) <> ?

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT (SELECT COUNT(*) FROM place.rowlock_lock), COUNT(*), TIMESTAMPDIFF(MICROSECOND, MIN(enqueued_at), SYSDATE(6))
FROM place.rowlock_waiter WHERE expires_at > SYSDATE(6) AND COALESCE(lease, 1) <> 0

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

WITH page AS (
  SELECT name, version, expires_at <= SYSDATE(6) - INTERVAL ? MICROSECOND
    AND version <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)) - ? AS is_unused
  FROM place.rowlock_lock WHERE name > ? ORDER BY name LIMIT ?)
SELECT name, 1, version FROM page WHERE is_unused UNION ALL SELECT MAX(name), 0, 0 FROM page HAVING COUNT(*) > 0

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

INSERT INTO place.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at)
VALUES ('', '', '', 0, ?, '', '', '1970-01-01', '1970-01-01')
ON DUPLICATE KEY UPDATE token = GREATEST(token, VALUES(token))

--- MySQL, MySQL guarded

DELETE l FROM (SELECT l.name
  FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM place.rowlock_share WHERE name = '' AND acquisition = '') one
  STRAIGHT_JOIN JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', retention BIGINT PATH '$[1]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.expires_at <= SYSDATE(6) - INTERVAL w.retention MICROSECOND AND l.version <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)) - w.retention
      AND l.version <= one.swept
    LIMIT 1000000 FOR UPDATE  OF l  SKIP LOCKED) unused
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = unused.name

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT w.name, TRUE FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]')) w
STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

WITH page AS (
  SELECT ticket, name, attempt, expires_at <= SYSDATE(6) - INTERVAL ? MICROSECOND AS is_dead
  FROM place.rowlock_waiter WHERE ticket > ? ORDER BY ticket LIMIT ?)
SELECT ticket, name, attempt, 1 FROM page WHERE is_dead
UNION ALL (SELECT ticket, name, attempt, 0 FROM page ORDER BY ticket DESC LIMIT 1)

--- MySQL, MySQL guarded

DELETE t FROM (SELECT t.ticket FROM JSON_TABLE(?, '$[*]' COLUMNS (attempt VARCHAR(64) CHARACTER SET ascii PATH '$[1]', ticket BIGINT PATH '$[2]', retention BIGINT PATH '$[3]')) w
    STRAIGHT_JOIN place.rowlock_waiter t FORCE INDEX (PRIMARY) ON t.ticket = w.ticket
    WHERE t.attempt = w.attempt AND t.expires_at <= SYSDATE(6) - INTERVAL w.retention MICROSECOND
    LIMIT 1000000 FOR UPDATE  OF t  SKIP LOCKED) dead
  STRAIGHT_JOIN place.rowlock_waiter t FORCE INDEX (PRIMARY) ON t.ticket = dead.ticket

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT w.attempt, TRUE FROM JSON_TABLE(?, '$[*]' COLUMNS (attempt VARCHAR(64) CHARACTER SET ascii PATH '$[1]', ticket BIGINT PATH '$[2]')) w
STRAIGHT_JOIN place.rowlock_waiter t FORCE INDEX (PRIMARY) ON t.ticket = w.ticket WHERE t.attempt = w.attempt

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

UPDATE (SELECT name FROM place.rowlock_lock
    WHERE name = ? AND acquisition = ? AND owner IS NOT NULL AND expires_at > SYSDATE(6)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own
  STRAIGHT_JOIN place.rowlock_job_run r ON r.job = own.name
SET r.finished_at = SYSDATE(6), r.result = 'lost'
WHERE r.finished_at IS NULL AND r.token <> ?

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

INSERT INTO place.rowlock_job_run (job, period_begin, attempt, period_end, owner, token, started_at)
SELECT own.name, TIMESTAMP'1970-01-01 00:00:00.000000' + INTERVAL ? MICROSECOND,
  (SELECT COALESCE(MAX(r.attempt), 0) + 1 FROM place.rowlock_job_run r WHERE r.job = ?
    AND r.period_begin = TIMESTAMP'1970-01-01 00:00:00.000000' + INTERVAL ? MICROSECOND),
  TIMESTAMP'1970-01-01 00:00:00.000000' + INTERVAL ? MICROSECOND, own.owner, ?, SYSDATE(6)
FROM (SELECT name, owner FROM place.rowlock_lock
    WHERE name = ? AND acquisition = ? AND owner IS NOT NULL AND expires_at > SYSDATE(6)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own
WHERE NOT EXISTS (SELECT 1 FROM place.rowlock_job_run r WHERE r.job = ?
  AND r.period_begin = TIMESTAMP'1970-01-01 00:00:00.000000' + INTERVAL ? MICROSECOND
  AND (r.succeeded = 1 OR r.token = ? OR r.attempt >= ?
    OR r.finished_at <= SYSDATE(6) AND r.finished_at > SYSDATE(6) - INTERVAL ? MICROSECOND))
ON DUPLICATE KEY UPDATE attempt = VALUES(attempt)

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

UPDATE (SELECT name FROM place.rowlock_lock
    WHERE name = ? AND acquisition = ? AND owner IS NOT NULL AND expires_at > SYSDATE(6)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own
  STRAIGHT_JOIN place.rowlock_job_run r ON r.job = own.name
SET r.finished_at = SYSDATE(6), r.result = ?, r.exit_status = ?, r.signal_number = ?,
  r.output = ?, r.succeeded = IF(? = 'succeeded', 1, NULL)
WHERE r.period_begin = TIMESTAMP'1970-01-01 00:00:00.000000' + INTERVAL ? MICROSECOND
  AND r.token = ? AND r.finished_at IS NULL

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT r.job, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', r.period_begin), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', r.period_end), r.attempt, r.owner, r.token, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', r.started_at),
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', r.finished_at), COALESCE(r.result, IF(EXISTS (SELECT 1 FROM place.rowlock_lock l
    WHERE l.name = r.job AND l.version = r.token AND l.owner IS NOT NULL AND l.expires_at > SYSDATE(6)),
    'running', 'lost')), r.exit_status, r.signal_number, r.output, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))
FROM place.rowlock_job_run r
WHERE r.job = ? AND r.period_begin = TIMESTAMP'1970-01-01 00:00:00.000000' + INTERVAL ? MICROSECOND
ORDER BY r.attempt DESC

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT r.job, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', r.period_begin), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', r.period_end), r.attempt, r.owner, r.token, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', r.started_at),
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', r.finished_at), COALESCE(r.result, IF(EXISTS (SELECT 1 FROM place.rowlock_lock l
    WHERE l.name = r.job AND l.version = r.token AND l.owner IS NOT NULL AND l.expires_at > SYSDATE(6)),
    'running', 'lost')), r.exit_status, r.signal_number, r.output
FROM (SELECT j.*, ROW_NUMBER() OVER (PARTITION BY j.job, IF(? = 1, j.result, NULL)
    ORDER BY j.period_begin DESC, j.attempt DESC) AS place
  FROM place.rowlock_job_run j
  WHERE j.job >= ? AND (? IS NULL OR j.job < ?)) r
WHERE r.place <= ? ORDER BY r.job, r.period_begin DESC, r.attempt DESC

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

DELETE d FROM place.rowlock_job_run d JOIN (SELECT r.job, r.period_begin, r.attempt FROM place.rowlock_job_run r
  WHERE r.period_end <= SYSDATE(6) - INTERVAL ? MICROSECOND
    AND (SELECT n.attempt FROM place.rowlock_job_run n
      WHERE n.job = r.job AND n.period_begin >= r.period_begin
        AND (n.period_begin > r.period_begin OR n.attempt >= r.attempt)
      ORDER BY n.period_begin, n.attempt LIMIT 1 OFFSET ?) IS NOT NULL
  ORDER BY r.period_end LIMIT ?) old
ON d.job = old.job AND d.period_begin = old.period_begin AND d.attempt = old.attempt

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded
SELECT ROW_COUNT()

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT version, serves_from, installation, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', applied_at), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)), checksum
FROM place.rowlock_migration ORDER BY version DESC

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

INSERT INTO place.rowlock_lock (name, version) SELECT '', 0 FROM (SELECT 1) one WHERE FALSE
ON DUPLICATE KEY UPDATE version = VALUES(version)

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

INSERT INTO place.rowlock_job_run (job, period_begin, attempt, period_end, owner, token, started_at)
SELECT '', SYSDATE(6), 0, SYSDATE(6), '', 0, SYSDATE(6) FROM (SELECT 1) one WHERE FALSE
ON DUPLICATE KEY UPDATE token = VALUES(token)

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

DELETE l, w, s, e, r FROM place.rowlock_lock l JOIN place.rowlock_waiter w JOIN place.rowlock_share s JOIN place.rowlock_edge e
  JOIN place.rowlock_job_run r WHERE FALSE

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

INSERT INTO place.rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at, note)
SELECT '', '', '', '', SYSDATE(6), SYSDATE(6), '' FROM (SELECT 1) one WHERE FALSE
ON DUPLICATE KEY UPDATE expires_at = VALUES(expires_at)

--- MySQL, MySQL guarded

SELECT 'user', CONVERT(CURRENT_USER() USING utf8mb4) UNION ALL SELECT 'database', CONVERT(DATABASE() USING utf8mb4)
UNION ALL SELECT LOWER(s.variable_name), s.variable_value
FROM   performance_schema.session_status  s
WHERE s.variable_name IN ('Ssl_version', 'Ssl_cipher')
UNION ALL SELECT LOWER(v.variable_name), v.variable_value
FROM   performance_schema.session_variables  v
WHERE v.variable_name IN ('version', 'innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog', 'wsrep_on',
  'group_replication_group_name')
UNION ALL SELECT 'standbys', COUNT(*) FROM information_schema.processlist p WHERE p.command LIKE 'Binlog Dump%'

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded
UPDATE place.rowlock_migration SET checksum = ? WHERE version = ? AND checksum IS NULL

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded

SELECT term, incarnation, quarantine, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), grants_from), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', since)
FROM place.rowlock_guard

--- MySQL, MySQL guarded
SELECT CONVERT(  @@server_uuid  USING utf8mb4)

--- MySQL, MySQL guarded


UPDATE place.rowlock_guard SET term = ?, incarnation = ?, quarantine = ?, since = SYSDATE(6),
  grants_from = SYSDATE(6) + INTERVAL COALESCE(?, IF(EXISTS (SELECT 1 FROM place.rowlock_lock l
    WHERE l.owner IS NOT NULL AND l.expires_at > SYSDATE(6) + INTERVAL ? MICROSECOND), ?, 0))
    MICROSECOND
WHERE term = ?

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded
SELECT term FROM place.rowlock_guard WHERE term = ?

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded
UPDATE place.rowlock_migration SET serves_from = ? WHERE version >= ?

--- MySQL, MariaDB, MySQL guarded, MariaDB guarded
SELECT version FROM place.rowlock_migration WHERE version = ?

--- MariaDB

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
 VALUES (?, 0,  
?, ?, ?, SYSDATE(6), SYSDATE(6) + INTERVAL ? MICROSECOND, ?
 )  
ON DUPLICATE KEY UPDATE
  acquisition = IF(NOT waiting AND (owner IS NULL OR expires_at <= SYSDATE(6)), VALUES(acquisition), acquisition),
  version = IF(acquisition = VALUES(acquisition), GREATEST(version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), version),
  thread = IF(acquisition = VALUES(acquisition), VALUES(thread), thread),
  acquired_at = IF(acquisition = VALUES(acquisition), SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL ? MICROSECOND, expires_at),
  note = IF(acquisition = VALUES(acquisition), VALUES(note), note),
  owner = IF(acquisition = VALUES(acquisition), VALUES(owner), owner)
 RETURNING ?, IF(acquisition = ?,
  IF(version = 0, 9223372036854775807 - (version - 1), version), NULL),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)' 

--- MariaDB

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT w.name,  0 , w.owner, w.thread, w.acquisition, SYSDATE(6),
  SYSDATE(6) + INTERVAL w.lease MICROSECOND, w.note
FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', owner VARCHAR(500) CHARACTER SET utf8mb4 PATH '$[1]', thread VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[2]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', note VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$[5]')) w

ON DUPLICATE KEY UPDATE
  acquisition = IF(NOT place.rowlock_lock.waiting AND (place.rowlock_lock.owner IS NULL OR place.rowlock_lock.expires_at <= SYSDATE(6)),
    VALUES(acquisition), place.rowlock_lock.acquisition),
  version = IF(place.rowlock_lock.acquisition = VALUES(acquisition), GREATEST(place.rowlock_lock.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
    place.rowlock_lock.version),
  thread = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(thread), place.rowlock_lock.thread),
  acquired_at = IF(place.rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6), place.rowlock_lock.acquired_at),
  expires_at = IF(place.rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL w.lease MICROSECOND,
    place.rowlock_lock.expires_at),
  note = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(note), place.rowlock_lock.note),
  owner = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(owner), place.rowlock_lock.owner)
 RETURNING acquisition, IF(version = 0, 9223372036854775807 - (version - 1), version),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)' 

--- MariaDB

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT w.name, IF(EXISTS (SELECT 1 FROM place.rowlock_lock s WHERE s.name = CAST(w.name AS BINARY)), 0,
  GREATEST(one.swept + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)))), w.owner, w.thread, w.acquisition, SYSDATE(6),
  SYSDATE(6) + INTERVAL w.lease MICROSECOND, w.note
FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM place.rowlock_share WHERE name = '' AND acquisition = '') one
  STRAIGHT_JOIN JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', owner VARCHAR(500) CHARACTER SET utf8mb4 PATH '$[1]', thread VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[2]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', note VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$[5]')) w
WHERE CAST(w.name AS BINARY) IN (SELECT name FROM (
    SELECT l.name FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]')) v
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(v.name AS BINARY)
    WHERE NOT l.waiting AND (l.owner IS NULL OR l.expires_at <= SYSDATE(6))
    LIMIT 1000000 FOR UPDATE  SKIP LOCKED) free)
  OR NOT EXISTS (SELECT 1 FROM place.rowlock_lock l FORCE INDEX (PRIMARY) WHERE l.name = CAST(w.name AS BINARY))
ON DUPLICATE KEY UPDATE
  acquisition = IF(NOT place.rowlock_lock.waiting AND (place.rowlock_lock.owner IS NULL OR place.rowlock_lock.expires_at <= SYSDATE(6)),
    VALUES(acquisition), place.rowlock_lock.acquisition),
  version = IF(place.rowlock_lock.acquisition = VALUES(acquisition), GREATEST(place.rowlock_lock.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
    place.rowlock_lock.version),
  thread = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(thread), place.rowlock_lock.thread),
  acquired_at = IF(place.rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6), place.rowlock_lock.acquired_at),
  expires_at = IF(place.rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL w.lease MICROSECOND,
    place.rowlock_lock.expires_at),
  note = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(note), place.rowlock_lock.note),
  owner = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(owner), place.rowlock_lock.owner)
 RETURNING acquisition, IF(version = 0, 9223372036854775807 - (version - 1), version),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)' 

--- MariaDB

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT ?, IF(EXISTS (SELECT 1 FROM place.rowlock_lock WHERE name = ?), 0, GREATEST(one.swept + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)))),
  ?, ?, ?, SYSDATE(6), SYSDATE(6) + INTERVAL ? MICROSECOND, ?
FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM place.rowlock_share WHERE name = '' AND acquisition = '') one
ON DUPLICATE KEY UPDATE
  acquisition = IF(NOT waiting AND (owner IS NULL OR expires_at <= SYSDATE(6)), VALUES(acquisition), acquisition),
  version = IF(acquisition = VALUES(acquisition), GREATEST(version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), version),
  thread = IF(acquisition = VALUES(acquisition), VALUES(thread), thread),
  acquired_at = IF(acquisition = VALUES(acquisition), SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL ? MICROSECOND, expires_at),
  note = IF(acquisition = VALUES(acquisition), VALUES(note), note),
  owner = IF(acquisition = VALUES(acquisition), VALUES(owner), owner)
RETURNING ?, IF(acquisition = ?, IF(version = 0, 9223372036854775807 - (version - 1), version),
  NULL), TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)'

--- MariaDB

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT w.name, IF(EXISTS (SELECT 1 FROM place.rowlock_lock s WHERE s.name = CAST(w.name AS BINARY)), 0,
  GREATEST(one.swept + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)))), w.owner, w.thread, w.acquisition, SYSDATE(6),
  SYSDATE(6) + INTERVAL w.lease MICROSECOND, w.note
FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM place.rowlock_share WHERE name = '' AND acquisition = '') one
  STRAIGHT_JOIN JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', owner VARCHAR(500) CHARACTER SET utf8mb4 PATH '$[1]', thread VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[2]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', note VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$[5]')) w
WHERE TRUE
ON DUPLICATE KEY UPDATE
  acquisition = IF(NOT place.rowlock_lock.waiting AND (place.rowlock_lock.owner IS NULL OR place.rowlock_lock.expires_at <= SYSDATE(6)),
    VALUES(acquisition), place.rowlock_lock.acquisition),
  version = IF(place.rowlock_lock.acquisition = VALUES(acquisition), GREATEST(place.rowlock_lock.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
    place.rowlock_lock.version),
  thread = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(thread), place.rowlock_lock.thread),
  acquired_at = IF(place.rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6), place.rowlock_lock.acquired_at),
  expires_at = IF(place.rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL w.lease MICROSECOND,
    place.rowlock_lock.expires_at),
  note = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(note), place.rowlock_lock.note),
  owner = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(owner), place.rowlock_lock.owner)
 RETURNING acquisition, IF(version = 0, 9223372036854775807 - (version - 1), version),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)' 

--- MariaDB

UPDATE (SELECT l.name, w.owner, w.thread, w.acquisition, w.lease, w.note
    FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', owner VARCHAR(500) CHARACTER SET utf8mb4 PATH '$[1]', thread VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[2]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', note VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$[5]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE NOT l.waiting AND (l.owner IS NULL OR l.expires_at <= SYSDATE(6))
    LIMIT 1 FOR UPDATE  SKIP LOCKED) g
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = g.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), l.owner = g.owner, l.thread = g.thread,
  l.acquisition = g.acquisition, l.acquired_at = SYSDATE(6), l.expires_at = SYSDATE(6) + INTERVAL g.lease MICROSECOND,
  l.note = g.note

--- MariaDB

UPDATE (SELECT f.*, COUNT(*) OVER () AS number FROM (
      SELECT l.name, w.owner, w.thread, w.acquisition, w.lease, w.note
      FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', owner VARCHAR(500) CHARACTER SET utf8mb4 PATH '$[1]', thread VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[2]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', note VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$[5]', version BIGINT PATH '$[6]')) w
      STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
      WHERE (l.owner IS NULL OR l.expires_at <= SYSDATE(6)) AND IF(w.version = 0, NOT l.waiting, l.version = w.version)
      LIMIT 1000000 FOR UPDATE  SKIP LOCKED) f) g
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = g.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), l.owner = g.owner, l.thread = g.thread,
  l.acquisition = g.acquisition, l.acquired_at = SYSDATE(6), l.expires_at = SYSDATE(6) + INTERVAL g.lease MICROSECOND,
  l.note = g.note
WHERE g.number = JSON_LENGTH(?)

--- MariaDB

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
 VALUES (?, 0,  
?, ?, ?, SYSDATE(6), SYSDATE(6) + INTERVAL ? MICROSECOND, ?
 )  
ON DUPLICATE KEY UPDATE
  acquisition = IF(version = ? AND (owner IS NULL OR expires_at <= SYSDATE(6)), VALUES(acquisition),
    acquisition),
  version = IF(acquisition = VALUES(acquisition), GREATEST(version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), version),
  thread = IF(acquisition = VALUES(acquisition), VALUES(thread), thread),
  acquired_at = IF(acquisition = VALUES(acquisition), SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL ? MICROSECOND, expires_at),
  note = IF(acquisition = VALUES(acquisition), VALUES(note), note),
  owner = IF(acquisition = VALUES(acquisition), VALUES(owner), owner)
 RETURNING ?, IF(acquisition = ?,
  IF(version = 0, 9223372036854775807 - (version - 1), version), NULL),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)' 

--- MariaDB

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT ?, IF(EXISTS (SELECT 1 FROM place.rowlock_lock WHERE name = ?), 0, GREATEST(one.swept + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)))),
  ?, ?, ?, SYSDATE(6), SYSDATE(6) + INTERVAL ? MICROSECOND, ?
FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM place.rowlock_share WHERE name = '' AND acquisition = '') one
ON DUPLICATE KEY UPDATE
  acquisition = IF(version = ? AND (owner IS NULL OR expires_at <= SYSDATE(6)), VALUES(acquisition),
    acquisition),
  version = IF(acquisition = VALUES(acquisition), GREATEST(version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), version),
  thread = IF(acquisition = VALUES(acquisition), VALUES(thread), thread),
  acquired_at = IF(acquisition = VALUES(acquisition), SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL ? MICROSECOND, expires_at),
  note = IF(acquisition = VALUES(acquisition), VALUES(note), note),
  owner = IF(acquisition = VALUES(acquisition), VALUES(owner), owner)
RETURNING ?, IF(acquisition = ?, IF(version = 0, 9223372036854775807 - (version - 1), version),
  NULL), TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)'

--- MariaDB, MariaDB guarded

UPDATE 
  place.rowlock_lock l 
SET l.thread = CONCAT('session ', CONNECTION_ID(), ' from ', l.version),
  l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), l.note = NULL
 WHERE l.name = ? AND (l.owner IS NULL OR l.expires_at <= SYSDATE(6)) 

--- MariaDB, MariaDB guarded

UPDATE  place.rowlock_lock l 
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
  l.expires_at = SYSDATE(6)
 WHERE l.name = ? AND l.owner IS NOT NULL AND l.expires_at <= SYSDATE(6) 

--- MariaDB, MariaDB guarded

UPDATE 
  place.rowlock_lock l 
SET l.expires_at = GREATEST(l.expires_at, SYSDATE(6) + INTERVAL ? MICROSECOND)
WHERE  l.name = ? AND l.acquisition = ? AND l.owner IS NOT NULL
  AND  l.expires_at > SYSDATE(6)

--- MariaDB, MariaDB guarded

UPDATE (SELECT l.name, w.lease FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', lease BIGINT PATH '$[2]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL AND l.expires_at > SYSDATE(6)
    LIMIT 1000000 FOR UPDATE  SKIP LOCKED) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.expires_at = GREATEST(l.expires_at, SYSDATE(6) + INTERVAL own.lease MICROSECOND)
WHERE l.expires_at > SYSDATE(6)

--- MariaDB, MariaDB guarded

UPDATE 
  place.rowlock_lock l 
SET l.expires_at = SYSDATE(6) + INTERVAL ? MICROSECOND
WHERE  l.name = ? AND l.acquisition = ? AND l.owner IS NOT NULL
  AND  l.expires_at > SYSDATE(6)

--- MariaDB, MariaDB guarded

UPDATE (SELECT l.name, w.lease FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', lease BIGINT PATH '$[2]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL AND l.expires_at > SYSDATE(6)
    LIMIT 1000000 FOR UPDATE  SKIP LOCKED) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.expires_at = SYSDATE(6) + INTERVAL own.lease MICROSECOND
WHERE l.expires_at > SYSDATE(6)

--- MariaDB

UPDATE 
  place.rowlock_lock l 
SET l.version = GREATEST(l.version + ?, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
  l.expires_at = GREATEST(l.expires_at, SYSDATE(6) + INTERVAL ? MICROSECOND)
WHERE  l.name = ? AND l.acquisition = ? AND l.owner IS NOT NULL
  AND  l.expires_at > SYSDATE(6)

--- MariaDB, MariaDB guarded

UPDATE  place.rowlock_lock l 
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
  l.expires_at = SYSDATE(6)
 WHERE l.name = ? AND l.acquisition = ? AND l.owner IS NOT NULL 

--- MariaDB, MariaDB guarded

UPDATE (SELECT l.name FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL
    LIMIT 1000000 FOR UPDATE  SKIP LOCKED) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
  l.expires_at = SYSDATE(6)

--- MariaDB, MariaDB guarded

UPDATE  place.rowlock_lock l 
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
  l.expires_at = SYSDATE(6)
 WHERE l.name = ? AND l.acquisition = ? AND l.owner IS NOT NULL AND NOT waiting 

--- MariaDB, MariaDB guarded

UPDATE (SELECT l.name FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL AND NOT l.waiting
    LIMIT 1000000 FOR UPDATE  SKIP LOCKED) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
  l.expires_at = SYSDATE(6)

--- MariaDB, MariaDB guarded

UPDATE 
  place.rowlock_lock l 
SET l.expires_at = l.acquired_at + INTERVAL ? MICROSECOND, l.thread = '(released)'
 WHERE l.name = ? AND l.acquisition = ? AND l.owner IS NOT NULL
  AND l.expires_at > SYSDATE(6) 

--- MariaDB, MariaDB guarded

UPDATE (SELECT l.name, w.lease FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', lease BIGINT PATH '$[2]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.acquisition = w.acquisition AND l.owner IS NOT NULL AND l.expires_at > SYSDATE(6)
    LIMIT 1000000 FOR UPDATE  SKIP LOCKED) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.expires_at = l.acquired_at + INTERVAL own.lease MICROSECOND, l.thread = '(released)'

--- MariaDB, MariaDB guarded

UPDATE 
  place.rowlock_lock l 
SET l.owner = NULL, l.thread = NULL, l.note = NULL, l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
  l.expires_at = SYSDATE(6)
 WHERE l.name = ? AND l.version = ? AND l.owner IS NOT NULL 

--- MariaDB

 SET STATEMENT innodb_lock_wait_timeout = 1 FOR 
UPDATE place.rowlock_lock SET
  acquisition = IF(COALESCE(owner = '(shared)' AND expires_at > SYSDATE(6), FALSE), acquisition,
    CONCAT('shared:', ?)),
  sharers = IF(acquisition = CONCAT('shared:', ?), 0, sharers) + ?,
  acquired_at = IF(acquisition = CONCAT('shared:', ?), SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = CONCAT('shared:', ?), SYSDATE(6) + INTERVAL ? MICROSECOND,
    GREATEST(expires_at, SYSDATE(6) + INTERVAL ? MICROSECOND)),
  version = GREATEST(version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), owner = '(shared)', thread = NULL, note = NULL
WHERE name = ? AND (owner IS NULL OR expires_at <= SYSDATE(6) OR (owner = '(shared)' AND sharers <= ?))
  AND IF(? = 0, NOT waiting, version = ?
    OR COALESCE(owner = '(shared)' AND expires_at > SYSDATE(6), FALSE))

--- MariaDB

 SET STATEMENT innodb_lock_wait_timeout = 1 FOR 
UPDATE (SELECT r.*, r.at + INTERVAL r.lease MICROSECOND AS ends,
      COALESCE(r.owner = '(shared)' AND r.expires_at > r.at, FALSE) AS joins
    FROM (SELECT l.name, l.owner, l.expires_at, SYSDATE(6) AS at, t.number, t.permits, t.lease, t.first
      FROM (SELECT w.name, COUNT(*) AS number, SUM(w.permits) AS permits, MAX(w.lease) AS lease,
          MIN(w.acquisition) AS first, MAX(w.room) AS room, MAX(w.version) AS version
        FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', permits BIGINT PATH '$[6]', room BIGINT PATH '$[7]', version BIGINT PATH '$[8]')) w GROUP BY w.name) t
      STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(t.name AS BINARY)
      WHERE (l.owner IS NULL OR l.expires_at <= SYSDATE(6) OR (l.owner = '(shared)' AND l.sharers <= t.room))
        AND IF(t.version = 0, NOT l.waiting,
          l.version = t.version OR COALESCE(l.owner = '(shared)' AND l.expires_at > SYSDATE(6), FALSE))
      LIMIT 1 FOR UPDATE ) r) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', own.at)) + own.number - 1, l.owner = '(shared)', l.thread = NULL,
  l.note = NULL, l.sharers = IF(own.joins, l.sharers, 0) + own.permits,
  l.acquisition = IF(own.joins, l.acquisition, CONCAT('shared:', own.first)),
  l.acquired_at = IF(own.joins, l.acquired_at, own.at),
  l.expires_at = IF(own.joins, GREATEST(l.expires_at, own.ends), own.ends)

--- MariaDB

 SET STATEMENT innodb_lock_wait_timeout = 1, group_concat_max_len = 1073741824 FOR 
SELECT JSON_ARRAYAGG(JSON_ARRAY(own.name, 0, 0, own.first)) INTO @rowlock.shares FROM (
  SELECT t.name, t.first
  FROM (SELECT w.name, MIN(w.acquisition) AS first, MAX(w.room) AS room, MAX(w.version) AS version
    FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', room BIGINT PATH '$[7]', version BIGINT PATH '$[8]')) w GROUP BY CAST(w.name AS BINARY)) t
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(t.name AS BINARY)
  WHERE (l.owner IS NULL OR l.expires_at <= SYSDATE(6) OR (l.owner = '(shared)' AND l.sharers <= t.room))
    AND IF(t.version = 0, NOT l.waiting,
      l.version = t.version OR COALESCE(l.owner = '(shared)' AND l.expires_at > SYSDATE(6), FALSE))
  LIMIT 1000000 FOR UPDATE  SKIP LOCKED) own;
UPDATE (SELECT r.*, r.at + INTERVAL r.lease MICROSECOND AS ends,
      COALESCE(r.owner = '(shared)' AND r.expires_at > r.at, FALSE) AS joins
    FROM (SELECT l.name, l.owner, l.expires_at, SYSDATE(6) AS at, t.number, t.permits, t.lease, k.acquisition AS first
      FROM JSON_TABLE(@rowlock.shares, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]')) k
      STRAIGHT_JOIN (SELECT w.name, COUNT(*) AS number, SUM(w.permits) AS permits, MAX(w.lease) AS lease
        FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', lease BIGINT PATH '$[4]', permits BIGINT PATH '$[6]')) w GROUP BY CAST(w.name AS BINARY)) t
        ON CAST(t.name AS BINARY) = CAST(k.name AS BINARY)
      STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(k.name AS BINARY)
      LIMIT 1000000 FOR UPDATE ) r) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', own.at)) + own.number - 1, l.owner = '(shared)', l.thread = NULL,
  l.note = NULL, l.sharers = IF(own.joins, l.sharers, 0) + own.permits,
  l.acquisition = IF(own.joins, l.acquisition, CONCAT('shared:', own.first)),
  l.acquired_at = IF(own.joins, l.acquired_at, own.at),
  l.expires_at = IF(own.joins, GREATEST(l.expires_at, own.ends), own.ends)

--- MariaDB, MariaDB guarded

 SET STATEMENT innodb_lock_wait_timeout = 1 FOR 
UPDATE (SELECT k.*, MAX(k.ends) OVER (PARTITION BY k.name) AS last FROM (
      SELECT r.name, r.acquisition, GREATEST(r.expires_at, r.at + INTERVAL r.lease MICROSECOND) AS ends FROM (
        SELECT l.name, s.acquisition, s.expires_at, w.lease, SYSDATE(6) AS at
        FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', lease BIGINT PATH '$[2]')) w
        STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
        STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
        WHERE l.owner = '(shared)' AND l.acquisition = s.since
        LIMIT 1000000 FOR UPDATE ) r
      WHERE r.expires_at > r.at) k) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
  STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = own.name AND s.acquisition = own.acquisition
SET l.expires_at = GREATEST(l.expires_at, own.last), s.expires_at = own.ends

--- MariaDB, MariaDB guarded

UPDATE (SELECT k.*, MAX(k.ends) OVER (PARTITION BY k.name) AS last FROM (
      SELECT r.name, r.acquisition, GREATEST(r.expires_at, r.at + INTERVAL r.lease MICROSECOND) AS ends FROM (
        SELECT l.name, s.acquisition, s.expires_at, w.lease, SYSDATE(6) AS at
        FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', lease BIGINT PATH '$[2]')) w
        STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
        STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
        WHERE l.owner = '(shared)' AND l.acquisition = s.since
        LIMIT 1000000 FOR UPDATE  SKIP LOCKED) r
      WHERE r.expires_at > r.at) k) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
  STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = own.name AND s.acquisition = own.acquisition
SET l.expires_at = GREATEST(l.expires_at, own.last), s.expires_at = own.ends

--- MariaDB, MariaDB guarded

 SET STATEMENT innodb_lock_wait_timeout = 1 FOR 
UPDATE (SELECT k.*, MAX(k.ends) OVER (PARTITION BY k.name) AS last FROM (
      SELECT r.name, r.acquisition, r.at + INTERVAL r.lease MICROSECOND AS ends FROM (
        SELECT l.name, s.acquisition, s.expires_at, w.lease, SYSDATE(6) AS at
        FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', lease BIGINT PATH '$[2]')) w
        STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
        STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
        WHERE l.owner = '(shared)' AND l.acquisition = s.since
        LIMIT 1000000 FOR UPDATE ) r
      WHERE r.expires_at > r.at) k) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
  STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = own.name AND s.acquisition = own.acquisition
SET l.expires_at = GREATEST(l.expires_at, own.last), s.expires_at = own.ends

--- MariaDB, MariaDB guarded

UPDATE (SELECT k.*, MAX(k.ends) OVER (PARTITION BY k.name) AS last FROM (
      SELECT r.name, r.acquisition, r.at + INTERVAL r.lease MICROSECOND AS ends FROM (
        SELECT l.name, s.acquisition, s.expires_at, w.lease, SYSDATE(6) AS at
        FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', lease BIGINT PATH '$[2]')) w
        STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
        STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
        WHERE l.owner = '(shared)' AND l.acquisition = s.since
        LIMIT 1000000 FOR UPDATE  SKIP LOCKED) r
      WHERE r.expires_at > r.at) k) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
  STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = own.name AND s.acquisition = own.acquisition
SET l.expires_at = GREATEST(l.expires_at, own.last), s.expires_at = own.ends

--- MariaDB, MariaDB guarded

SET @rowlock.share = NULL, @rowlock.name = NULL;
SELECT l.name INTO @rowlock.name
FROM place.rowlock_lock l FORCE INDEX (PRIMARY) STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name
WHERE l.name = ? AND l.owner = '(shared)' AND l.acquisition = s.since AND s.acquisition = ? LIMIT 1;
 SET STATEMENT innodb_lock_wait_timeout = 1 FOR 
SELECT s.acquisition, s.permits INTO @rowlock.share, @rowlock.permits
FROM place.rowlock_lock l FORCE INDEX (PRIMARY) STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name
WHERE l.name = @rowlock.name AND l.owner = '(shared)' AND l.acquisition = s.since AND s.acquisition = ?
  AND (? = 0 OR s.expires_at <= SYSDATE(6))
  LIMIT 1 FOR UPDATE;
UPDATE place.rowlock_lock SET sharers = sharers - @rowlock.permits, owner = IF(sharers > 0, owner, NULL),
  version = IF(sharers > 0, version, GREATEST(version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)))),
  expires_at = IF(sharers > 0, expires_at, SYSDATE(6))
WHERE name = @rowlock.name AND @rowlock.share IS NOT NULL

--- MariaDB, MariaDB guarded

 SET STATEMENT innodb_lock_wait_timeout = 1, group_concat_max_len = 1073741824 FOR 
SELECT JSON_ARRAYAGG(JSON_ARRAY(own.name, own.acquisition)) INTO @rowlock.shares FROM (
  SELECT w.name, w.acquisition FROM (
    SELECT w.* FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', expired BIGINT PATH '$[2]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
    WHERE l.owner = '(shared)' AND l.acquisition = s.since LIMIT 1000000) w
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
  STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
  WHERE l.owner = '(shared)' AND l.acquisition = s.since AND (w.expired = 0 OR s.expires_at <= SYSDATE(6))
  LIMIT 1000000 FOR UPDATE ) own;
UPDATE (SELECT l.name, l.sharers - SUM(s.permits) AS sharers FROM JSON_TABLE(@rowlock.shares, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
    GROUP BY l.name, l.sharers) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.sharers = own.sharers, l.owner = IF(own.sharers > 0, l.owner, NULL),
  l.version = IF(own.sharers > 0, l.version, GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)))),
  l.expires_at = IF(own.sharers > 0, l.expires_at, SYSDATE(6))

--- MariaDB, MariaDB guarded

 SET STATEMENT innodb_lock_wait_timeout = 1, group_concat_max_len = 1073741824 FOR 
SELECT JSON_ARRAYAGG(JSON_ARRAY(own.name, own.acquisition)) INTO @rowlock.shares FROM (
  SELECT w.name, w.acquisition FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]', expired BIGINT PATH '$[2]')) w
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
  STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
  WHERE l.owner = '(shared)' AND l.acquisition = s.since AND (w.expired = 0 OR s.expires_at <= SYSDATE(6))
  LIMIT 1000000 FOR UPDATE  SKIP LOCKED) own;
UPDATE (SELECT l.name, l.sharers - SUM(s.permits) AS sharers FROM JSON_TABLE(@rowlock.shares, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[1]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
    GROUP BY l.name, l.sharers) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.sharers = own.sharers, l.owner = IF(own.sharers > 0, l.owner, NULL),
  l.version = IF(own.sharers > 0, l.version, GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)))),
  l.expires_at = IF(own.sharers > 0, l.expires_at, SYSDATE(6))

--- MariaDB

SET @rowlock.share = NULL, @rowlock.name = NULL;
SELECT l.name INTO @rowlock.name
FROM place.rowlock_lock l FORCE INDEX (PRIMARY) STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name
WHERE l.name = ? AND l.owner = '(shared)' AND l.acquisition = s.since AND s.acquisition = ? LIMIT 1;
 SET STATEMENT innodb_lock_wait_timeout = 1 FOR 
UPDATE (SELECT r.* FROM (
      SELECT l.name, s.expires_at, SYSDATE(6) AS at
      FROM place.rowlock_lock l FORCE INDEX (PRIMARY)
      STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = ?
      WHERE l.name = @rowlock.name AND l.owner = '(shared)' AND l.acquisition = s.since AND l.sharers = s.permits
      LIMIT 1 FOR UPDATE) r WHERE r.expires_at > r.at) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', own.at)), l.owner = ?, l.thread = ?, l.acquisition = ?,
  l.acquired_at = own.at, l.expires_at = own.expires_at, l.note = ?, l.sharers = 0

--- MariaDB, MariaDB guarded

SET @rowlock.share = NULL, @rowlock.name = NULL;
SELECT name INTO @rowlock.name FROM place.rowlock_lock
WHERE name = ? AND acquisition = ? AND owner IS NOT NULL;
 SET STATEMENT innodb_lock_wait_timeout = 1 FOR 
UPDATE (SELECT r.* FROM (
      SELECT name, expires_at, SYSDATE(6) AS at FROM place.rowlock_lock
      WHERE name = @rowlock.name AND acquisition = ? AND owner IS NOT NULL LIMIT 1 FOR UPDATE) r
    WHERE r.expires_at > r.at) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', own.at)), l.owner = '(shared)', l.thread = NULL, l.note = NULL,
  l.acquisition = CONCAT('shared:', ?), l.sharers = ?

--- MariaDB, MariaDB guarded

INSERT INTO place.rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at, note, lease, room)
VALUES (?, ?, ?, ?, SYSDATE(6), SYSDATE(6) + INTERVAL ? MICROSECOND, ?, ?, ?)
   RETURNING attempt, ticket 

--- MariaDB, MariaDB guarded

UPDATE (SELECT w.ticket, v.life FROM JSON_TABLE(?, '$[*]' COLUMNS (attempt VARCHAR(64) CHARACTER SET ascii PATH '$[1]', ticket BIGINT PATH '$[2]', life BIGINT PATH '$[3]')) v
    STRAIGHT_JOIN place.rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = v.ticket
    WHERE w.attempt = v.attempt LIMIT 1000000 FOR UPDATE  SKIP LOCKED) own
  STRAIGHT_JOIN place.rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = own.ticket
SET w.expires_at = SYSDATE(6) + INTERVAL own.life MICROSECOND

--- MariaDB, MariaDB guarded

DELETE l FROM (SELECT l.name
  FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM place.rowlock_share WHERE name = '' AND acquisition = '') one
  STRAIGHT_JOIN JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', retention BIGINT PATH '$[1]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE l.expires_at <= SYSDATE(6) - INTERVAL w.retention MICROSECOND AND l.version <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)) - w.retention
      AND l.version <= one.swept
    LIMIT 1000000 FOR UPDATE  SKIP LOCKED) unused
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = unused.name

--- MariaDB, MariaDB guarded

DELETE t FROM (SELECT t.ticket FROM JSON_TABLE(?, '$[*]' COLUMNS (attempt VARCHAR(64) CHARACTER SET ascii PATH '$[1]', ticket BIGINT PATH '$[2]', retention BIGINT PATH '$[3]')) w
    STRAIGHT_JOIN place.rowlock_waiter t FORCE INDEX (PRIMARY) ON t.ticket = w.ticket
    WHERE t.attempt = w.attempt AND t.expires_at <= SYSDATE(6) - INTERVAL w.retention MICROSECOND
    LIMIT 1000000 FOR UPDATE  SKIP LOCKED) dead
  STRAIGHT_JOIN place.rowlock_waiter t FORCE INDEX (PRIMARY) ON t.ticket = dead.ticket

--- MariaDB, MariaDB guarded

SELECT 'user', CONVERT(CURRENT_USER() USING utf8mb4) UNION ALL SELECT 'database', CONVERT(DATABASE() USING utf8mb4)
UNION ALL SELECT LOWER(s.variable_name), s.variable_value
FROM  information_schema.session_status   s
WHERE s.variable_name IN ('Ssl_version', 'Ssl_cipher')
UNION ALL SELECT LOWER(v.variable_name), v.variable_value
FROM  information_schema.session_variables   v
WHERE v.variable_name IN ('version', 'innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog', 'wsrep_on',
  'group_replication_group_name')
UNION ALL SELECT 'standbys', COUNT(*) FROM information_schema.processlist p WHERE p.command LIKE 'Binlog Dump%'

--- MariaDB, MariaDB guarded
SELECT CONVERT( CONCAT(@@hostname, ':', @@port, '/', @@server_id)   USING utf8mb4)

--- MariaDB, MariaDB guarded

 SET STATEMENT innodb_lock_wait_timeout = 1 FOR 
UPDATE place.rowlock_guard SET term = ?, incarnation = ?, quarantine = ?, since = SYSDATE(6),
  grants_from = SYSDATE(6) + INTERVAL COALESCE(?, IF(EXISTS (SELECT 1 FROM place.rowlock_lock l
    WHERE l.owner IS NOT NULL AND l.expires_at > SYSDATE(6) + INTERVAL ? MICROSECOND), ?, 0))
    MICROSECOND
WHERE term = ?

--- the caller's transaction

SELECT l.version, l.owner IS NULL OR l.acquisition = ?2, GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', (SYSDATE(6) + INTERVAL TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)) MICROSECOND))), @@autocommit,
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', l.expires_at), l.owner IS NULL,
  (SELECT s.name = l.name AND s.version = l.version AND s.expires_at <=> l.expires_at FROM place.rowlock_lock s
    WHERE s.name >= l.name ORDER BY s.name LIMIT 1),
  (SELECT m.installation FROM place.rowlock_migration m WHERE m.version >= 1 + 0 * l.version ORDER BY m.version LIMIT 1)
FROM place.rowlock_lock l WHERE l.name = ?1 AND (l.owner IS NULL OR l.acquisition = ?2
  OR /*M!100600 @@tx_isolation */ /*!80000 @@transaction_isolation */ NOT LIKE 'READ-%')
FOR UPDATE SKIP LOCKED

--- the caller's transaction

SELECT l.version, l.owner IS NULL OR l.acquisition = ?2, GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', (SYSDATE(6) + INTERVAL TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)) MICROSECOND))), @@autocommit,
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', l.expires_at), l.owner IS NULL,
  (SELECT s.name = l.name AND s.version = l.version AND s.expires_at <=> l.expires_at FROM place.rowlock_lock s
    WHERE s.name >= l.name ORDER BY s.name LIMIT 1),
  (SELECT m.installation FROM place.rowlock_migration m WHERE m.version >= 1 + 0 * l.version ORDER BY m.version LIMIT 1)
FROM place.rowlock_lock l WHERE l.name = ?1 AND (l.owner IS NULL OR l.acquisition = ?2
  OR /*M!100600 @@tx_isolation */ /*!80000 @@transaction_isolation */ NOT LIKE 'READ-%')
FOR UPDATE

--- the caller's transaction, the caller's transaction guarded

UPDATE place.rowlock_lock SET version = ?2, owner = NULL,
  thread = CONCAT('session ', CONNECTION_ID(), ' to ', ?2), note = CONVERT(?3 USING utf8mb4),
  expires_at = (SYSDATE(6) + INTERVAL TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)) MICROSECOND)
WHERE name = ?1

--- the caller's transaction, the caller's transaction guarded

SELECT l.owner IS NOT NULL AND l.acquisition = ?2, l.expires_at > (SYSDATE(6) + INTERVAL TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)) MICROSECOND),
  (SELECT s.acquisition = ?2 FROM place.rowlock_lock s WHERE s.name = l.name),
    (SELECT m.installation FROM place.rowlock_migration m WHERE m.version = 1), @@autocommit, CONNECTION_ID()
FROM place.rowlock_lock l WHERE l.name = ?1 FOR UPDATE SKIP LOCKED

--- the caller's transaction, the caller's transaction guarded
SELECT /*M!100600 @@tx_isolation */ /*!80000 @@transaction_isolation */, CONNECTION_ID()

--- the caller's transaction, the caller's transaction guarded

UPDATE place.rowlock_lock SET expires_at = GREATEST(expires_at + INTERVAL 1 MICROSECOND,
  (SYSDATE(6) + INTERVAL TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)) MICROSECOND) + INTERVAL ?2 MICROSECOND)
WHERE name = ?1

--- the caller's transaction, the caller's transaction guarded
SELECT m.installation, @@autocommit FROM place.rowlock_migration m WHERE m.version = 1

--- the caller's transaction

SELECT GREATEST(version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', (SYSDATE(6) + INTERVAL TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)) MICROSECOND))), (SELECT m.installation FROM place.rowlock_migration m WHERE m.version = 1),
  @@autocommit FROM place.rowlock_lock
WHERE name = ?1 AND version = ?2 AND owner IS NULL FOR UPDATE SKIP LOCKED

--- MySQL guarded

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT ?, GREATEST(one.swept + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), 
?, ?, ?, SYSDATE(6), SYSDATE(6) + INTERVAL ? MICROSECOND, ?
 
FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM place.rowlock_share WHERE name = '' AND acquisition = '') one
WHERE ? IN (SELECT name FROM (SELECT name FROM place.rowlock_lock
    WHERE name = ? AND NOT waiting AND (owner IS NULL OR expires_at <= SYSDATE(6)) LIMIT 1
      FOR UPDATE SKIP LOCKED) free)
  OR NOT EXISTS (SELECT 1 FROM place.rowlock_lock WHERE name = ?) AND (SELECT g.incarnation =   @@server_uuid  AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g) 
ON DUPLICATE KEY UPDATE
  acquisition = IF(NOT waiting AND (owner IS NULL OR expires_at <= SYSDATE(6)) AND (SELECT g.incarnation =   @@server_uuid  AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g), VALUES(acquisition), acquisition),
  version = IF(acquisition = VALUES(acquisition), GREATEST(version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), version),
  thread = IF(acquisition = VALUES(acquisition), VALUES(thread), thread),
  acquired_at = IF(acquisition = VALUES(acquisition), SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL ? MICROSECOND, expires_at),
  note = IF(acquisition = VALUES(acquisition), VALUES(note), note),
  owner = IF(acquisition = VALUES(acquisition), VALUES(owner), owner)


--- MySQL guarded

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT w.name,  IF(EXISTS (SELECT 1 FROM place.rowlock_lock s WHERE s.name = CAST(w.name AS BINARY)),
  0, GREATEST(one.swept + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)))) , w.owner, w.thread, w.acquisition, SYSDATE(6),
  SYSDATE(6) + INTERVAL w.lease MICROSECOND, w.note
FROM  (SELECT COALESCE(MAX(token), 0) AS swept FROM place.rowlock_share WHERE name = '' AND acquisition = '') one
  STRAIGHT_JOIN JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', owner VARCHAR(500) CHARACTER SET utf8mb4 PATH '$[1]', thread VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[2]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', note VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$[5]')) w
 WHERE CAST(w.name AS BINARY) IN (SELECT name FROM (
    SELECT l.name FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]')) v
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(v.name AS BINARY)
    WHERE NOT l.waiting AND (l.owner IS NULL OR l.expires_at <= SYSDATE(6))
    LIMIT 1000000 FOR UPDATE OF l SKIP LOCKED) free)
  OR NOT EXISTS (SELECT 1 FROM place.rowlock_lock l FORCE INDEX (PRIMARY) WHERE l.name = CAST(w.name AS BINARY)) AND (SELECT g.incarnation =   @@server_uuid  AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g) 
ON DUPLICATE KEY UPDATE
  acquisition = IF(NOT place.rowlock_lock.waiting AND (place.rowlock_lock.owner IS NULL OR place.rowlock_lock.expires_at <= SYSDATE(6)) AND (SELECT g.incarnation =   @@server_uuid  AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g),
    VALUES(acquisition), place.rowlock_lock.acquisition),
  version = IF(place.rowlock_lock.acquisition = VALUES(acquisition), GREATEST(place.rowlock_lock.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
    place.rowlock_lock.version),
  thread = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(thread), place.rowlock_lock.thread),
  acquired_at = IF(place.rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6), place.rowlock_lock.acquired_at),
  expires_at = IF(place.rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL w.lease MICROSECOND,
    place.rowlock_lock.expires_at),
  note = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(note), place.rowlock_lock.note),
  owner = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(owner), place.rowlock_lock.owner)


--- MySQL guarded

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT w.name, IF(EXISTS (SELECT 1 FROM place.rowlock_lock s WHERE s.name = CAST(w.name AS BINARY)), 0,
  GREATEST(one.swept + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)))), w.owner, w.thread, w.acquisition, SYSDATE(6),
  SYSDATE(6) + INTERVAL w.lease MICROSECOND, w.note
FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM place.rowlock_share WHERE name = '' AND acquisition = '') one
  STRAIGHT_JOIN JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', owner VARCHAR(500) CHARACTER SET utf8mb4 PATH '$[1]', thread VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[2]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', note VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$[5]')) w
WHERE CAST(w.name AS BINARY) IN (SELECT name FROM (
    SELECT l.name FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]')) v
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(v.name AS BINARY)
    WHERE NOT l.waiting AND (l.owner IS NULL OR l.expires_at <= SYSDATE(6))
    LIMIT 1000000 FOR UPDATE  OF l  SKIP LOCKED) free)
  OR NOT EXISTS (SELECT 1 FROM place.rowlock_lock l FORCE INDEX (PRIMARY) WHERE l.name = CAST(w.name AS BINARY)) AND (SELECT g.incarnation =   @@server_uuid  AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g)
ON DUPLICATE KEY UPDATE
  acquisition = IF(NOT place.rowlock_lock.waiting AND (place.rowlock_lock.owner IS NULL OR place.rowlock_lock.expires_at <= SYSDATE(6)) AND (SELECT g.incarnation =   @@server_uuid  AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g),
    VALUES(acquisition), place.rowlock_lock.acquisition),
  version = IF(place.rowlock_lock.acquisition = VALUES(acquisition), GREATEST(place.rowlock_lock.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
    place.rowlock_lock.version),
  thread = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(thread), place.rowlock_lock.thread),
  acquired_at = IF(place.rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6), place.rowlock_lock.acquired_at),
  expires_at = IF(place.rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL w.lease MICROSECOND,
    place.rowlock_lock.expires_at),
  note = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(note), place.rowlock_lock.note),
  owner = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(owner), place.rowlock_lock.owner)


--- MySQL guarded

UPDATE (SELECT l.name, w.owner, w.thread, w.acquisition, w.lease, w.note
    FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', owner VARCHAR(500) CHARACTER SET utf8mb4 PATH '$[1]', thread VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[2]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', note VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$[5]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE NOT l.waiting AND (l.owner IS NULL OR l.expires_at <= SYSDATE(6)) AND (SELECT g.incarnation =   @@server_uuid  AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g)
    LIMIT 1 FOR UPDATE  OF l  SKIP LOCKED) g
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = g.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), l.owner = g.owner, l.thread = g.thread,
  l.acquisition = g.acquisition, l.acquired_at = SYSDATE(6), l.expires_at = SYSDATE(6) + INTERVAL g.lease MICROSECOND,
  l.note = g.note

--- MySQL guarded

UPDATE (SELECT f.*, COUNT(*) OVER () AS number FROM (
      SELECT l.name, w.owner, w.thread, w.acquisition, w.lease, w.note
      FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', owner VARCHAR(500) CHARACTER SET utf8mb4 PATH '$[1]', thread VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[2]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', note VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$[5]', version BIGINT PATH '$[6]')) w
      STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
      WHERE (l.owner IS NULL OR l.expires_at <= SYSDATE(6)) AND IF(w.version = 0, NOT l.waiting, l.version = w.version) AND (SELECT g.incarnation =   @@server_uuid  AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g)
      LIMIT 1000000 FOR UPDATE  OF l  SKIP LOCKED) f) g
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = g.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), l.owner = g.owner, l.thread = g.thread,
  l.acquisition = g.acquisition, l.acquired_at = SYSDATE(6), l.expires_at = SYSDATE(6) + INTERVAL g.lease MICROSECOND,
  l.note = g.note
WHERE g.number = JSON_LENGTH(?)

--- MySQL guarded

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT ?, GREATEST(one.swept + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), 
?, ?, ?, SYSDATE(6), SYSDATE(6) + INTERVAL ? MICROSECOND, ?
 
FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM place.rowlock_share WHERE name = '' AND acquisition = '') one
WHERE ? IN (SELECT name FROM (SELECT name FROM place.rowlock_lock
    WHERE name = ? AND version = ? AND (owner IS NULL OR expires_at <= SYSDATE(6)) LIMIT 1
      FOR UPDATE SKIP LOCKED) free)
  OR NOT EXISTS (SELECT 1 FROM place.rowlock_lock WHERE name = ?) AND (SELECT g.incarnation =   @@server_uuid  AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g) 
ON DUPLICATE KEY UPDATE
  acquisition = IF(version = ? AND (owner IS NULL OR expires_at <= SYSDATE(6)) AND (SELECT g.incarnation =   @@server_uuid  AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g), VALUES(acquisition),
    acquisition),
  version = IF(acquisition = VALUES(acquisition), GREATEST(version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), version),
  thread = IF(acquisition = VALUES(acquisition), VALUES(thread), thread),
  acquired_at = IF(acquisition = VALUES(acquisition), SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL ? MICROSECOND, expires_at),
  note = IF(acquisition = VALUES(acquisition), VALUES(note), note),
  owner = IF(acquisition = VALUES(acquisition), VALUES(owner), owner)


--- MySQL guarded
SELECT name, version, waiting FROM place.rowlock_lock WHERE name = ? AND (SELECT g.incarnation =   @@server_uuid  AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g)

--- MySQL guarded

UPDATE  (SELECT name FROM place.rowlock_lock
    WHERE name = ? AND acquisition = ? AND owner IS NOT NULL AND expires_at > SYSDATE(6)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own STRAIGHT_JOIN 
  place.rowlock_lock l  ON l.name = own.name 
SET l.version = GREATEST(l.version + ?, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
  l.expires_at = GREATEST(l.expires_at, SYSDATE(6) + INTERVAL ? MICROSECOND)
WHERE  l.expires_at > SYSDATE(6) AND (SELECT g.incarnation =   @@server_uuid  AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g)

--- MySQL guarded

UPDATE (SELECT l.name, q.ticket, q.owner, q.thread, q.note, q.attempt, LEAST(q.lease, 1000000) AS time
    FROM place.rowlock_lock l FORCE INDEX (PRIMARY) STRAIGHT_JOIN place.rowlock_waiter q FORCE INDEX (PRIMARY) ON q.ticket = ?
    WHERE l.name = ? AND l.acquisition = ? AND l.owner IS NOT NULL
      AND l.expires_at > SYSDATE(6) + INTERVAL 300000 MICROSECOND
      AND q.attempt = ? AND q.lease > 0 AND q.expires_at > SYSDATE(6) AND (SELECT g.incarnation =   @@server_uuid  AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g) LIMIT 1 FOR UPDATE SKIP LOCKED) g
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = g.name
  STRAIGHT_JOIN place.rowlock_waiter q FORCE INDEX (PRIMARY) ON q.ticket = g.ticket
SET l.owner = g.owner, l.thread = g.thread, l.note = g.note, l.acquisition = g.attempt,
  l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), l.acquired_at = SYSDATE(6),
  l.expires_at = LEAST(l.expires_at, SYSDATE(6) + INTERVAL g.time MICROSECOND), q.lease = 0

--- MySQL guarded


UPDATE place.rowlock_lock SET
  acquisition = IF(COALESCE(owner = '(shared)' AND expires_at > SYSDATE(6), FALSE), acquisition,
    CONCAT('shared:', ?)),
  sharers = IF(acquisition = CONCAT('shared:', ?), 0, sharers) + ?,
  acquired_at = IF(acquisition = CONCAT('shared:', ?), SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = CONCAT('shared:', ?), SYSDATE(6) + INTERVAL ? MICROSECOND,
    GREATEST(expires_at, SYSDATE(6) + INTERVAL ? MICROSECOND)),
  version = GREATEST(version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), owner = '(shared)', thread = NULL, note = NULL
WHERE name = ? AND (owner IS NULL OR expires_at <= SYSDATE(6) OR (owner = '(shared)' AND sharers <= ?))
  AND IF(? = 0, NOT waiting, version = ?
    OR COALESCE(owner = '(shared)' AND expires_at > SYSDATE(6), FALSE)) AND (SELECT g.incarnation =   @@server_uuid  AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g)

--- MySQL guarded


UPDATE (SELECT r.*, r.at + INTERVAL r.lease MICROSECOND AS ends,
      COALESCE(r.owner = '(shared)' AND r.expires_at > r.at, FALSE) AS joins
    FROM (SELECT l.name, l.owner, l.expires_at, SYSDATE(6) AS at, t.number, t.permits, t.lease, t.first
      FROM (SELECT w.name, COUNT(*) AS number, SUM(w.permits) AS permits, MAX(w.lease) AS lease,
          MIN(w.acquisition) AS first, MAX(w.room) AS room, MAX(w.version) AS version
        FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', permits BIGINT PATH '$[6]', room BIGINT PATH '$[7]', version BIGINT PATH '$[8]')) w GROUP BY w.name) t
      STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(t.name AS BINARY)
      WHERE (l.owner IS NULL OR l.expires_at <= SYSDATE(6) OR (l.owner = '(shared)' AND l.sharers <= t.room))
        AND IF(t.version = 0, NOT l.waiting,
          l.version = t.version OR COALESCE(l.owner = '(shared)' AND l.expires_at > SYSDATE(6), FALSE)) AND (SELECT g.incarnation =   @@server_uuid  AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g)
      LIMIT 1 FOR UPDATE  OF l ) r) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', own.at)) + own.number - 1, l.owner = '(shared)', l.thread = NULL,
  l.note = NULL, l.sharers = IF(own.joins, l.sharers, 0) + own.permits,
  l.acquisition = IF(own.joins, l.acquisition, CONCAT('shared:', own.first)),
  l.acquired_at = IF(own.joins, l.acquired_at, own.at),
  l.expires_at = IF(own.joins, GREATEST(l.expires_at, own.ends), own.ends)

--- MySQL guarded


SELECT JSON_ARRAYAGG(JSON_ARRAY(own.name, 0, 0, own.first)) INTO @rowlock.shares FROM (
  SELECT t.name, t.first
  FROM (SELECT w.name, MIN(w.acquisition) AS first, MAX(w.room) AS room, MAX(w.version) AS version
    FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', room BIGINT PATH '$[7]', version BIGINT PATH '$[8]')) w GROUP BY CAST(w.name AS BINARY)) t
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(t.name AS BINARY)
  WHERE (l.owner IS NULL OR l.expires_at <= SYSDATE(6) OR (l.owner = '(shared)' AND l.sharers <= t.room))
    AND IF(t.version = 0, NOT l.waiting,
      l.version = t.version OR COALESCE(l.owner = '(shared)' AND l.expires_at > SYSDATE(6), FALSE)) AND (SELECT g.incarnation =   @@server_uuid  AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g)
  LIMIT 1000000 FOR UPDATE  OF l  SKIP LOCKED) own;
UPDATE (SELECT r.*, r.at + INTERVAL r.lease MICROSECOND AS ends,
      COALESCE(r.owner = '(shared)' AND r.expires_at > r.at, FALSE) AS joins
    FROM (SELECT l.name, l.owner, l.expires_at, SYSDATE(6) AS at, t.number, t.permits, t.lease, k.acquisition AS first
      FROM JSON_TABLE(@rowlock.shares, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]')) k
      STRAIGHT_JOIN (SELECT w.name, COUNT(*) AS number, SUM(w.permits) AS permits, MAX(w.lease) AS lease
        FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', lease BIGINT PATH '$[4]', permits BIGINT PATH '$[6]')) w GROUP BY CAST(w.name AS BINARY)) t
        ON CAST(t.name AS BINARY) = CAST(k.name AS BINARY)
      STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(k.name AS BINARY)
      LIMIT 1000000 FOR UPDATE  OF l ) r) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', own.at)) + own.number - 1, l.owner = '(shared)', l.thread = NULL,
  l.note = NULL, l.sharers = IF(own.joins, l.sharers, 0) + own.permits,
  l.acquisition = IF(own.joins, l.acquisition, CONCAT('shared:', own.first)),
  l.acquired_at = IF(own.joins, l.acquired_at, own.at),
  l.expires_at = IF(own.joins, GREATEST(l.expires_at, own.ends), own.ends)

--- MySQL guarded

SET @rowlock.share = NULL, @rowlock.name = NULL;
SELECT l.name INTO @rowlock.name
FROM place.rowlock_lock l FORCE INDEX (PRIMARY) STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name
WHERE l.name = ? AND l.owner = '(shared)' AND l.acquisition = s.since AND s.acquisition = ? LIMIT 1;

UPDATE (SELECT r.* FROM (
      SELECT l.name, s.expires_at, SYSDATE(6) AS at
      FROM place.rowlock_lock l FORCE INDEX (PRIMARY)
      STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = ?
      WHERE l.name = @rowlock.name AND l.owner = '(shared)' AND l.acquisition = s.since AND l.sharers = s.permits AND (SELECT g.incarnation =   @@server_uuid  AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g)
      LIMIT 1 FOR UPDATE) r WHERE r.expires_at > r.at) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', own.at)), l.owner = ?, l.thread = ?, l.acquisition = ?,
  l.acquired_at = own.at, l.expires_at = own.expires_at, l.note = ?, l.sharers = 0

--- MariaDB guarded

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
 SELECT ?, 0,  
?, ?, ?, SYSDATE(6), SYSDATE(6) + INTERVAL ? MICROSECOND, ?
   
ON DUPLICATE KEY UPDATE
  acquisition = IF(NOT waiting AND (owner IS NULL OR expires_at <= SYSDATE(6)) AND (SELECT g.incarnation =  CONCAT(@@hostname, ':', @@port, '/', @@server_id)   AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g), VALUES(acquisition), acquisition),
  version = IF(acquisition = VALUES(acquisition), GREATEST(version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), version),
  thread = IF(acquisition = VALUES(acquisition), VALUES(thread), thread),
  acquired_at = IF(acquisition = VALUES(acquisition), SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL ? MICROSECOND, expires_at),
  note = IF(acquisition = VALUES(acquisition), VALUES(note), note),
  owner = IF(acquisition = VALUES(acquisition), VALUES(owner), owner)
 RETURNING ?, IF(acquisition = ?,
  IF(version = 0, 9223372036854775807 - (version - 1), version), NULL),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)' 

--- MariaDB guarded

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT w.name,  0 , w.owner, w.thread, w.acquisition, SYSDATE(6),
  SYSDATE(6) + INTERVAL w.lease MICROSECOND, w.note
FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', owner VARCHAR(500) CHARACTER SET utf8mb4 PATH '$[1]', thread VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[2]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', note VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$[5]')) w

ON DUPLICATE KEY UPDATE
  acquisition = IF(NOT place.rowlock_lock.waiting AND (place.rowlock_lock.owner IS NULL OR place.rowlock_lock.expires_at <= SYSDATE(6)) AND (SELECT g.incarnation =  CONCAT(@@hostname, ':', @@port, '/', @@server_id)   AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g),
    VALUES(acquisition), place.rowlock_lock.acquisition),
  version = IF(place.rowlock_lock.acquisition = VALUES(acquisition), GREATEST(place.rowlock_lock.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
    place.rowlock_lock.version),
  thread = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(thread), place.rowlock_lock.thread),
  acquired_at = IF(place.rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6), place.rowlock_lock.acquired_at),
  expires_at = IF(place.rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL w.lease MICROSECOND,
    place.rowlock_lock.expires_at),
  note = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(note), place.rowlock_lock.note),
  owner = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(owner), place.rowlock_lock.owner)
 RETURNING acquisition, IF(version = 0, 9223372036854775807 - (version - 1), version),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)' 

--- MariaDB guarded

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT w.name, IF(EXISTS (SELECT 1 FROM place.rowlock_lock s WHERE s.name = CAST(w.name AS BINARY)), 0,
  GREATEST(one.swept + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)))), w.owner, w.thread, w.acquisition, SYSDATE(6),
  SYSDATE(6) + INTERVAL w.lease MICROSECOND, w.note
FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM place.rowlock_share WHERE name = '' AND acquisition = '') one
  STRAIGHT_JOIN JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', owner VARCHAR(500) CHARACTER SET utf8mb4 PATH '$[1]', thread VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[2]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', note VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$[5]')) w
WHERE CAST(w.name AS BINARY) IN (SELECT name FROM (
    SELECT l.name FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]')) v
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(v.name AS BINARY)
    WHERE NOT l.waiting AND (l.owner IS NULL OR l.expires_at <= SYSDATE(6))
    LIMIT 1000000 FOR UPDATE  SKIP LOCKED) free)
  OR NOT EXISTS (SELECT 1 FROM place.rowlock_lock l FORCE INDEX (PRIMARY) WHERE l.name = CAST(w.name AS BINARY)) AND (SELECT g.incarnation =  CONCAT(@@hostname, ':', @@port, '/', @@server_id)   AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g)
ON DUPLICATE KEY UPDATE
  acquisition = IF(NOT place.rowlock_lock.waiting AND (place.rowlock_lock.owner IS NULL OR place.rowlock_lock.expires_at <= SYSDATE(6)) AND (SELECT g.incarnation =  CONCAT(@@hostname, ':', @@port, '/', @@server_id)   AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g),
    VALUES(acquisition), place.rowlock_lock.acquisition),
  version = IF(place.rowlock_lock.acquisition = VALUES(acquisition), GREATEST(place.rowlock_lock.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
    place.rowlock_lock.version),
  thread = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(thread), place.rowlock_lock.thread),
  acquired_at = IF(place.rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6), place.rowlock_lock.acquired_at),
  expires_at = IF(place.rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL w.lease MICROSECOND,
    place.rowlock_lock.expires_at),
  note = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(note), place.rowlock_lock.note),
  owner = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(owner), place.rowlock_lock.owner)
 RETURNING acquisition, IF(version = 0, 9223372036854775807 - (version - 1), version),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)' 

--- MariaDB guarded

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT ?, IF(EXISTS (SELECT 1 FROM place.rowlock_lock WHERE name = ?), 0, GREATEST(one.swept + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)))),
  ?, ?, ?, SYSDATE(6), SYSDATE(6) + INTERVAL ? MICROSECOND, ?
FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM place.rowlock_share WHERE name = '' AND acquisition = '') one
WHERE (SELECT g.incarnation =  CONCAT(@@hostname, ':', @@port, '/', @@server_id)   AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g)
ON DUPLICATE KEY UPDATE
  acquisition = IF(NOT waiting AND (owner IS NULL OR expires_at <= SYSDATE(6)), VALUES(acquisition), acquisition),
  version = IF(acquisition = VALUES(acquisition), GREATEST(version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), version),
  thread = IF(acquisition = VALUES(acquisition), VALUES(thread), thread),
  acquired_at = IF(acquisition = VALUES(acquisition), SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL ? MICROSECOND, expires_at),
  note = IF(acquisition = VALUES(acquisition), VALUES(note), note),
  owner = IF(acquisition = VALUES(acquisition), VALUES(owner), owner)
RETURNING ?, IF(acquisition = ?, IF(version = 0, 9223372036854775807 - (version - 1), version),
  NULL), TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)'

--- MariaDB guarded

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT w.name, IF(EXISTS (SELECT 1 FROM place.rowlock_lock s WHERE s.name = CAST(w.name AS BINARY)), 0,
  GREATEST(one.swept + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)))), w.owner, w.thread, w.acquisition, SYSDATE(6),
  SYSDATE(6) + INTERVAL w.lease MICROSECOND, w.note
FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM place.rowlock_share WHERE name = '' AND acquisition = '') one
  STRAIGHT_JOIN JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', owner VARCHAR(500) CHARACTER SET utf8mb4 PATH '$[1]', thread VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[2]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', note VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$[5]')) w
WHERE TRUE AND (SELECT g.incarnation =  CONCAT(@@hostname, ':', @@port, '/', @@server_id)   AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g)
ON DUPLICATE KEY UPDATE
  acquisition = IF(NOT place.rowlock_lock.waiting AND (place.rowlock_lock.owner IS NULL OR place.rowlock_lock.expires_at <= SYSDATE(6)),
    VALUES(acquisition), place.rowlock_lock.acquisition),
  version = IF(place.rowlock_lock.acquisition = VALUES(acquisition), GREATEST(place.rowlock_lock.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
    place.rowlock_lock.version),
  thread = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(thread), place.rowlock_lock.thread),
  acquired_at = IF(place.rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6), place.rowlock_lock.acquired_at),
  expires_at = IF(place.rowlock_lock.acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL w.lease MICROSECOND,
    place.rowlock_lock.expires_at),
  note = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(note), place.rowlock_lock.note),
  owner = IF(place.rowlock_lock.acquisition = VALUES(acquisition), VALUES(owner), place.rowlock_lock.owner)
 RETURNING acquisition, IF(version = 0, 9223372036854775807 - (version - 1), version),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)' 

--- MariaDB guarded

UPDATE (SELECT l.name, w.owner, w.thread, w.acquisition, w.lease, w.note
    FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', owner VARCHAR(500) CHARACTER SET utf8mb4 PATH '$[1]', thread VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[2]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', note VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$[5]')) w
    STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
    WHERE NOT l.waiting AND (l.owner IS NULL OR l.expires_at <= SYSDATE(6)) AND (SELECT g.incarnation =  CONCAT(@@hostname, ':', @@port, '/', @@server_id)   AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g)
    LIMIT 1 FOR UPDATE  SKIP LOCKED) g
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = g.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), l.owner = g.owner, l.thread = g.thread,
  l.acquisition = g.acquisition, l.acquired_at = SYSDATE(6), l.expires_at = SYSDATE(6) + INTERVAL g.lease MICROSECOND,
  l.note = g.note

--- MariaDB guarded

UPDATE (SELECT f.*, COUNT(*) OVER () AS number FROM (
      SELECT l.name, w.owner, w.thread, w.acquisition, w.lease, w.note
      FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', owner VARCHAR(500) CHARACTER SET utf8mb4 PATH '$[1]', thread VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[2]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', note VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$[5]', version BIGINT PATH '$[6]')) w
      STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
      WHERE (l.owner IS NULL OR l.expires_at <= SYSDATE(6)) AND IF(w.version = 0, NOT l.waiting, l.version = w.version) AND (SELECT g.incarnation =  CONCAT(@@hostname, ':', @@port, '/', @@server_id)   AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g)
      LIMIT 1000000 FOR UPDATE  SKIP LOCKED) f) g
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = g.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), l.owner = g.owner, l.thread = g.thread,
  l.acquisition = g.acquisition, l.acquired_at = SYSDATE(6), l.expires_at = SYSDATE(6) + INTERVAL g.lease MICROSECOND,
  l.note = g.note
WHERE g.number = JSON_LENGTH(?)

--- MariaDB guarded

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
 SELECT ?, 0,  
?, ?, ?, SYSDATE(6), SYSDATE(6) + INTERVAL ? MICROSECOND, ?
   
ON DUPLICATE KEY UPDATE
  acquisition = IF(version = ? AND (owner IS NULL OR expires_at <= SYSDATE(6)) AND (SELECT g.incarnation =  CONCAT(@@hostname, ':', @@port, '/', @@server_id)   AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g), VALUES(acquisition),
    acquisition),
  version = IF(acquisition = VALUES(acquisition), GREATEST(version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), version),
  thread = IF(acquisition = VALUES(acquisition), VALUES(thread), thread),
  acquired_at = IF(acquisition = VALUES(acquisition), SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL ? MICROSECOND, expires_at),
  note = IF(acquisition = VALUES(acquisition), VALUES(note), note),
  owner = IF(acquisition = VALUES(acquisition), VALUES(owner), owner)
 RETURNING ?, IF(acquisition = ?,
  IF(version = 0, 9223372036854775807 - (version - 1), version), NULL),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)' 

--- MariaDB guarded

INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
SELECT ?, IF(EXISTS (SELECT 1 FROM place.rowlock_lock WHERE name = ?), 0, GREATEST(one.swept + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6)))),
  ?, ?, ?, SYSDATE(6), SYSDATE(6) + INTERVAL ? MICROSECOND, ?
FROM (SELECT COALESCE(MAX(token), 0) AS swept FROM place.rowlock_share WHERE name = '' AND acquisition = '') one
WHERE (SELECT g.incarnation =  CONCAT(@@hostname, ':', @@port, '/', @@server_id)   AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g)
ON DUPLICATE KEY UPDATE
  acquisition = IF(version = ? AND (owner IS NULL OR expires_at <= SYSDATE(6)), VALUES(acquisition),
    acquisition),
  version = IF(acquisition = VALUES(acquisition), GREATEST(version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), version),
  thread = IF(acquisition = VALUES(acquisition), VALUES(thread), thread),
  acquired_at = IF(acquisition = VALUES(acquisition), SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = VALUES(acquisition), SYSDATE(6) + INTERVAL ? MICROSECOND, expires_at),
  note = IF(acquisition = VALUES(acquisition), VALUES(note), note),
  owner = IF(acquisition = VALUES(acquisition), VALUES(owner), owner)
RETURNING ?, IF(acquisition = ?, IF(version = 0, 9223372036854775807 - (version - 1), version),
  NULL), TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at), owner = '(shared)'

--- MariaDB guarded
SELECT name, version, waiting FROM place.rowlock_lock WHERE name = ? AND (SELECT g.incarnation =  CONCAT(@@hostname, ':', @@port, '/', @@server_id)   AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g)

--- MariaDB guarded

UPDATE 
  place.rowlock_lock l 
SET l.version = GREATEST(l.version + ?, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))),
  l.expires_at = GREATEST(l.expires_at, SYSDATE(6) + INTERVAL ? MICROSECOND)
WHERE  l.name = ? AND l.acquisition = ? AND l.owner IS NOT NULL
  AND  l.expires_at > SYSDATE(6) AND (SELECT g.incarnation =  CONCAT(@@hostname, ':', @@port, '/', @@server_id)   AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g)

--- MariaDB guarded

UPDATE (SELECT l.name, q.ticket, q.owner, q.thread, q.note, q.attempt, LEAST(q.lease, 1000000) AS time
    FROM place.rowlock_lock l FORCE INDEX (PRIMARY) STRAIGHT_JOIN place.rowlock_waiter q FORCE INDEX (PRIMARY) ON q.ticket = ?
    WHERE l.name = ? AND l.acquisition = ? AND l.owner IS NOT NULL
      AND l.expires_at > SYSDATE(6) + INTERVAL 300000 MICROSECOND
      AND q.attempt = ? AND q.lease > 0 AND q.expires_at > SYSDATE(6) AND (SELECT g.incarnation =  CONCAT(@@hostname, ':', @@port, '/', @@server_id)   AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g) LIMIT 1 FOR UPDATE SKIP LOCKED) g
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = g.name
  STRAIGHT_JOIN place.rowlock_waiter q FORCE INDEX (PRIMARY) ON q.ticket = g.ticket
SET l.owner = g.owner, l.thread = g.thread, l.note = g.note, l.acquisition = g.attempt,
  l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), l.acquired_at = SYSDATE(6),
  l.expires_at = LEAST(l.expires_at, SYSDATE(6) + INTERVAL g.time MICROSECOND), q.lease = 0

--- MariaDB guarded

 SET STATEMENT innodb_lock_wait_timeout = 1 FOR 
UPDATE place.rowlock_lock SET
  acquisition = IF(COALESCE(owner = '(shared)' AND expires_at > SYSDATE(6), FALSE), acquisition,
    CONCAT('shared:', ?)),
  sharers = IF(acquisition = CONCAT('shared:', ?), 0, sharers) + ?,
  acquired_at = IF(acquisition = CONCAT('shared:', ?), SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = CONCAT('shared:', ?), SYSDATE(6) + INTERVAL ? MICROSECOND,
    GREATEST(expires_at, SYSDATE(6) + INTERVAL ? MICROSECOND)),
  version = GREATEST(version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))), owner = '(shared)', thread = NULL, note = NULL
WHERE name = ? AND (owner IS NULL OR expires_at <= SYSDATE(6) OR (owner = '(shared)' AND sharers <= ?))
  AND IF(? = 0, NOT waiting, version = ?
    OR COALESCE(owner = '(shared)' AND expires_at > SYSDATE(6), FALSE)) AND (SELECT g.incarnation =  CONCAT(@@hostname, ':', @@port, '/', @@server_id)   AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g)

--- MariaDB guarded

 SET STATEMENT innodb_lock_wait_timeout = 1 FOR 
UPDATE (SELECT r.*, r.at + INTERVAL r.lease MICROSECOND AS ends,
      COALESCE(r.owner = '(shared)' AND r.expires_at > r.at, FALSE) AS joins
    FROM (SELECT l.name, l.owner, l.expires_at, SYSDATE(6) AS at, t.number, t.permits, t.lease, t.first
      FROM (SELECT w.name, COUNT(*) AS number, SUM(w.permits) AS permits, MAX(w.lease) AS lease,
          MIN(w.acquisition) AS first, MAX(w.room) AS room, MAX(w.version) AS version
        FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', lease BIGINT PATH '$[4]', permits BIGINT PATH '$[6]', room BIGINT PATH '$[7]', version BIGINT PATH '$[8]')) w GROUP BY w.name) t
      STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(t.name AS BINARY)
      WHERE (l.owner IS NULL OR l.expires_at <= SYSDATE(6) OR (l.owner = '(shared)' AND l.sharers <= t.room))
        AND IF(t.version = 0, NOT l.waiting,
          l.version = t.version OR COALESCE(l.owner = '(shared)' AND l.expires_at > SYSDATE(6), FALSE)) AND (SELECT g.incarnation =  CONCAT(@@hostname, ':', @@port, '/', @@server_id)   AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g)
      LIMIT 1 FOR UPDATE ) r) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', own.at)) + own.number - 1, l.owner = '(shared)', l.thread = NULL,
  l.note = NULL, l.sharers = IF(own.joins, l.sharers, 0) + own.permits,
  l.acquisition = IF(own.joins, l.acquisition, CONCAT('shared:', own.first)),
  l.acquired_at = IF(own.joins, l.acquired_at, own.at),
  l.expires_at = IF(own.joins, GREATEST(l.expires_at, own.ends), own.ends)

--- MariaDB guarded

 SET STATEMENT innodb_lock_wait_timeout = 1, group_concat_max_len = 1073741824 FOR 
SELECT JSON_ARRAYAGG(JSON_ARRAY(own.name, 0, 0, own.first)) INTO @rowlock.shares FROM (
  SELECT t.name, t.first
  FROM (SELECT w.name, MIN(w.acquisition) AS first, MAX(w.room) AS room, MAX(w.version) AS version
    FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]', room BIGINT PATH '$[7]', version BIGINT PATH '$[8]')) w GROUP BY CAST(w.name AS BINARY)) t
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(t.name AS BINARY)
  WHERE (l.owner IS NULL OR l.expires_at <= SYSDATE(6) OR (l.owner = '(shared)' AND l.sharers <= t.room))
    AND IF(t.version = 0, NOT l.waiting,
      l.version = t.version OR COALESCE(l.owner = '(shared)' AND l.expires_at > SYSDATE(6), FALSE)) AND (SELECT g.incarnation =  CONCAT(@@hostname, ':', @@port, '/', @@server_id)   AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g)
  LIMIT 1000000 FOR UPDATE  SKIP LOCKED) own;
UPDATE (SELECT r.*, r.at + INTERVAL r.lease MICROSECOND AS ends,
      COALESCE(r.owner = '(shared)' AND r.expires_at > r.at, FALSE) AS joins
    FROM (SELECT l.name, l.owner, l.expires_at, SYSDATE(6) AS at, t.number, t.permits, t.lease, k.acquisition AS first
      FROM JSON_TABLE(@rowlock.shares, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', acquisition VARCHAR(64) CHARACTER SET ascii PATH '$[3]')) k
      STRAIGHT_JOIN (SELECT w.name, COUNT(*) AS number, SUM(w.permits) AS permits, MAX(w.lease) AS lease
        FROM JSON_TABLE(?, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$[0]', lease BIGINT PATH '$[4]', permits BIGINT PATH '$[6]')) w GROUP BY CAST(w.name AS BINARY)) t
        ON CAST(t.name AS BINARY) = CAST(k.name AS BINARY)
      STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(k.name AS BINARY)
      LIMIT 1000000 FOR UPDATE ) r) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', own.at)) + own.number - 1, l.owner = '(shared)', l.thread = NULL,
  l.note = NULL, l.sharers = IF(own.joins, l.sharers, 0) + own.permits,
  l.acquisition = IF(own.joins, l.acquisition, CONCAT('shared:', own.first)),
  l.acquired_at = IF(own.joins, l.acquired_at, own.at),
  l.expires_at = IF(own.joins, GREATEST(l.expires_at, own.ends), own.ends)

--- MariaDB guarded

SET @rowlock.share = NULL, @rowlock.name = NULL;
SELECT l.name INTO @rowlock.name
FROM place.rowlock_lock l FORCE INDEX (PRIMARY) STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name
WHERE l.name = ? AND l.owner = '(shared)' AND l.acquisition = s.since AND s.acquisition = ? LIMIT 1;
 SET STATEMENT innodb_lock_wait_timeout = 1 FOR 
UPDATE (SELECT r.* FROM (
      SELECT l.name, s.expires_at, SYSDATE(6) AS at
      FROM place.rowlock_lock l FORCE INDEX (PRIMARY)
      STRAIGHT_JOIN place.rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = ?
      WHERE l.name = @rowlock.name AND l.owner = '(shared)' AND l.acquisition = s.since AND l.sharers = s.permits AND (SELECT g.incarnation =  CONCAT(@@hostname, ':', @@port, '/', @@server_id)   AND g.grants_from <= SYSDATE(6) FROM place.rowlock_guard g)
      LIMIT 1 FOR UPDATE) r WHERE r.expires_at > r.at) own
  STRAIGHT_JOIN place.rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.version = GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', own.at)), l.owner = ?, l.thread = ?, l.acquisition = ?,
  l.acquired_at = own.at, l.expires_at = own.expires_at, l.note = ?, l.sharers = 0

--- the caller's transaction guarded

SELECT l.version, l.owner IS NULL AND (SELECT g.incarnation = /*M!100600 CONCAT(@@hostname, ':', @@port, '/', @@server_id) */ /*!80000 @@server_uuid */ AND g.grants_from <= (SYSDATE(6) + INTERVAL TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)) MICROSECOND) FROM place.rowlock_guard g WHERE g.id >= 1 + 0 * version ORDER BY g.id LIMIT 1) OR l.acquisition = ?2 AND (SELECT g.incarnation = /*M!100600 CONCAT(@@hostname, ':', @@port, '/', @@server_id) */ /*!80000 @@server_uuid */ AND g.grants_from <= (SYSDATE(6) + INTERVAL TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)) MICROSECOND) FROM place.rowlock_guard g WHERE g.id >= 1 + 0 * version ORDER BY g.id LIMIT 1), GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', (SYSDATE(6) + INTERVAL TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)) MICROSECOND))), @@autocommit,
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', l.expires_at), l.owner IS NULL,
  (SELECT s.name = l.name AND s.version = l.version AND s.expires_at <=> l.expires_at FROM place.rowlock_lock s
    WHERE s.name >= l.name ORDER BY s.name LIMIT 1),
  (SELECT m.installation FROM place.rowlock_migration m WHERE m.version >= 1 + 0 * l.version ORDER BY m.version LIMIT 1)
FROM place.rowlock_lock l WHERE l.name = ?1 AND (l.owner IS NULL AND (SELECT g.incarnation = /*M!100600 CONCAT(@@hostname, ':', @@port, '/', @@server_id) */ /*!80000 @@server_uuid */ AND g.grants_from <= (SYSDATE(6) + INTERVAL TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)) MICROSECOND) FROM place.rowlock_guard g WHERE g.id >= 1 + 0 * version ORDER BY g.id LIMIT 1) OR l.acquisition = ?2 AND (SELECT g.incarnation = /*M!100600 CONCAT(@@hostname, ':', @@port, '/', @@server_id) */ /*!80000 @@server_uuid */ AND g.grants_from <= (SYSDATE(6) + INTERVAL TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)) MICROSECOND) FROM place.rowlock_guard g WHERE g.id >= 1 + 0 * version ORDER BY g.id LIMIT 1)
  OR /*M!100600 @@tx_isolation */ /*!80000 @@transaction_isolation */ NOT LIKE 'READ-%')
FOR UPDATE SKIP LOCKED

--- the caller's transaction guarded

SELECT l.version, l.owner IS NULL AND (SELECT g.incarnation = /*M!100600 CONCAT(@@hostname, ':', @@port, '/', @@server_id) */ /*!80000 @@server_uuid */ AND g.grants_from <= (SYSDATE(6) + INTERVAL TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)) MICROSECOND) FROM place.rowlock_guard g WHERE g.id >= 1 + 0 * version ORDER BY g.id LIMIT 1) OR l.acquisition = ?2 AND (SELECT g.incarnation = /*M!100600 CONCAT(@@hostname, ':', @@port, '/', @@server_id) */ /*!80000 @@server_uuid */ AND g.grants_from <= (SYSDATE(6) + INTERVAL TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)) MICROSECOND) FROM place.rowlock_guard g WHERE g.id >= 1 + 0 * version ORDER BY g.id LIMIT 1), GREATEST(l.version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', (SYSDATE(6) + INTERVAL TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)) MICROSECOND))), @@autocommit,
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', l.expires_at), l.owner IS NULL,
  (SELECT s.name = l.name AND s.version = l.version AND s.expires_at <=> l.expires_at FROM place.rowlock_lock s
    WHERE s.name >= l.name ORDER BY s.name LIMIT 1),
  (SELECT m.installation FROM place.rowlock_migration m WHERE m.version >= 1 + 0 * l.version ORDER BY m.version LIMIT 1)
FROM place.rowlock_lock l WHERE l.name = ?1 AND (l.owner IS NULL AND (SELECT g.incarnation = /*M!100600 CONCAT(@@hostname, ':', @@port, '/', @@server_id) */ /*!80000 @@server_uuid */ AND g.grants_from <= (SYSDATE(6) + INTERVAL TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)) MICROSECOND) FROM place.rowlock_guard g WHERE g.id >= 1 + 0 * version ORDER BY g.id LIMIT 1) OR l.acquisition = ?2 AND (SELECT g.incarnation = /*M!100600 CONCAT(@@hostname, ':', @@port, '/', @@server_id) */ /*!80000 @@server_uuid */ AND g.grants_from <= (SYSDATE(6) + INTERVAL TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)) MICROSECOND) FROM place.rowlock_guard g WHERE g.id >= 1 + 0 * version ORDER BY g.id LIMIT 1)
  OR /*M!100600 @@tx_isolation */ /*!80000 @@transaction_isolation */ NOT LIKE 'READ-%')
FOR UPDATE

--- the caller's transaction guarded

SELECT GREATEST(version + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', (SYSDATE(6) + INTERVAL TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)) MICROSECOND))), (SELECT m.installation FROM place.rowlock_migration m WHERE m.version = 1),
  @@autocommit FROM place.rowlock_lock
WHERE name = ?1 AND version = ?2 AND owner IS NULL AND (SELECT g.incarnation = /*M!100600 CONCAT(@@hostname, ':', @@port, '/', @@server_id) */ /*!80000 @@server_uuid */ AND g.grants_from <= (SYSDATE(6) + INTERVAL TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)) MICROSECOND) FROM place.rowlock_guard g WHERE g.id >= 1 + 0 * version ORDER BY g.id LIMIT 1) FOR UPDATE SKIP LOCKED

