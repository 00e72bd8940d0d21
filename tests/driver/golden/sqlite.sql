--- the client
SELECT ?4, NULL, iif(is_dead(expires_at, liveness), 0, expires_at - clock_us()), owner = '(shared)' FROM main.rowlock_lock WHERE name = ?1 AND (owner IS NOT NULL AND (expires_at > clock_us() OR expires_at IS NULL AND NOT is_dead(expires_at, liveness)) OR EXISTS (SELECT 1 FROM main.rowlock_waiter q WHERE q.name = ?1 AND q.room < -1))

--- the client
INSERT INTO main.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note) VALUES (?1, tell(1, max(clock_us(), ifnull((SELECT token + 1 FROM main.rowlock_share WHERE name = '' AND acquisition = ''), 0))), ?2, ?3, ?4, clock_us(), clock_us() + tell(2, ?5), ?6) ON CONFLICT (name) DO UPDATE SET version = tell(1, max(version + 1, clock_us())), owner = excluded.owner, thread = excluded.thread, acquisition = excluded.acquisition, acquired_at = excluded.acquired_at, expires_at = excluded.expires_at, note = excluded.note, liveness = NULL WHERE (owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness)) AND NOT EXISTS (SELECT 1 FROM main.rowlock_waiter q WHERE q.name = ?1 AND q.room < -1)

--- the client
UPDATE main.rowlock_lock SET version = tell(1, max(version + 1, clock_us())), owner = ?2, thread = ?3, acquisition = ?4, acquired_at = clock_us(), expires_at = clock_us() + tell(2, ?5), note = ?6, liveness = NULL WHERE name = ?1 AND (version = ?7 OR ?7 = 0 AND NOT EXISTS (SELECT 1 FROM main.rowlock_waiter q WHERE q.name = ?1 AND q.room < -1)) AND (owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness))

--- the client
UPDATE main.rowlock_lock SET version = tell(1, max(version + 1, clock_us())), owner = ?2, thread = ?3, acquisition = ?4, acquired_at = clock_us(), expires_at = clock_us() + tell(2, ?5), note = ?6, liveness = NULL WHERE name = ?1 AND (version = ?7) AND (owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness))

--- the client
SELECT ?4, NULL, iif(is_dead(expires_at, liveness), 0, expires_at - clock_us()), owner = '(shared)' FROM main.rowlock_lock WHERE name = ?1 AND (owner IS NOT NULL AND (expires_at > clock_us() OR expires_at IS NULL AND NOT is_dead(expires_at, liveness)))

--- the client
INSERT INTO main.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note, liveness) VALUES (?1, tell(1, max(clock_us(), ifnull((SELECT token + 1 FROM main.rowlock_share WHERE name = '' AND acquisition = ''), 0))), ?2, ?3, ?4, clock_us(), tell(2, NULL), ?6, ?7) ON CONFLICT (name) DO UPDATE SET version = tell(1, max(version + 1, clock_us())), owner = excluded.owner, thread = excluded.thread, acquisition = excluded.acquisition, acquired_at = excluded.acquired_at, expires_at = NULL, note = excluded.note, liveness = excluded.liveness WHERE owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness)

--- the client
SELECT 1 FROM main.rowlock_lock WHERE liveness = ?1 LIMIT 1

--- the client
UPDATE main.rowlock_lock SET owner = NULL, thread = NULL, note = NULL, liveness = NULL, version = max(version + 1, clock_us()), expires_at = clock_us() WHERE liveness = ?1 AND owner IS NOT NULL AND is_dead(expires_at, liveness)

--- the client
INSERT INTO main.rowlock_lock (name, version, expires_at) VALUES (?1, max(clock_us(), ifnull((SELECT token + 1 FROM main.rowlock_share WHERE name = '' AND acquisition = ''), 0)), clock_us()) ON CONFLICT (name) DO NOTHING

--- the client
UPDATE main.rowlock_lock SET expires_at = clock_us() + tell(1, max(expires_at - clock_us(), ?3)) WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL AND expires_at > clock_us()

--- the client
UPDATE main.rowlock_lock SET expires_at = clock_us() + tell(1, ?3) WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL AND expires_at > clock_us()

--- the client
UPDATE main.rowlock_lock SET expires_at = clock_us() + tell(1, max(expires_at - clock_us(), ?3)), version = tell(2, max(version + ?4, clock_us())) + 0 * tell(3, EXISTS (SELECT 1 FROM main.rowlock_waiter w WHERE w.name = ?1 AND w.owner <> main.rowlock_lock.owner AND w.expires_at > clock_us() AND w.lease IS NOT 0)) WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL AND expires_at > clock_us()

--- the client
UPDATE main.rowlock_lock SET owner = NULL, thread = NULL, note = NULL, liveness = NULL, version = max(version + 1, clock_us()), expires_at = clock_us() WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL

--- the client
UPDATE main.rowlock_lock SET owner = NULL, thread = NULL, note = NULL, liveness = NULL, version = max(version + 1, clock_us()), expires_at = clock_us() WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL AND NOT EXISTS (SELECT 1 FROM main.rowlock_waiter WHERE name = ?1 AND lease > 0)

--- the client
SELECT q.owner, q.ticket, q.attempt, q.lease FROM main.rowlock_waiter q WHERE q.name = ?1 AND q.expires_at > clock_us() AND q.lease IS NOT 0 AND (q.room IS NOT -2 OR (q.room < -1 AND q.enqueued_at <= clock_us() - 100000 AND (q.enqueued_at > clock_us() - 1100000 OR clock_us() % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1

--- the client
UPDATE main.rowlock_lock AS l SET owner = q.owner, thread = q.thread, note = q.note, acquisition = q.attempt, version = max(l.version + 1, clock_us()), acquired_at = clock_us(), expires_at = min(l.expires_at, clock_us() + min(q.lease, 1000000)) FROM main.rowlock_waiter q WHERE l.name = ?1 AND l.acquisition = ?2 AND l.owner IS NOT NULL AND l.expires_at > clock_us() + 300000 AND q.ticket = ?3 AND q.attempt = ?4 AND q.lease > 0 AND q.expires_at > clock_us()

--- the client
UPDATE main.rowlock_waiter SET lease = 0 WHERE ticket = ?3

--- the client
UPDATE main.rowlock_lock SET expires_at = acquired_at + ?3, thread = '(released)' WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL AND expires_at > clock_us()

--- the client
UPDATE main.rowlock_lock SET owner = NULL, thread = NULL, note = NULL, liveness = NULL, version = max(version + 1, clock_us()), expires_at = clock_us() WHERE name = ?1 AND version = ?2 AND owner IS NOT NULL

--- the client
UPDATE main.rowlock_lock SET version = tell(1, max(version + 1, clock_us())) + 0 * tell(2, ?5), owner = '(shared)', thread = NULL, note = NULL, liveness = NULL, acquisition = iif((owner IS '(shared)' AND expires_at > clock_us()), acquisition, 'shared:' || ?4), acquired_at = iif((owner IS '(shared)' AND expires_at > clock_us()), acquired_at, clock_us()), expires_at = iif((owner IS '(shared)' AND expires_at > clock_us()), max(expires_at, clock_us() + ?5), clock_us() + ?5) WHERE name = ?1 AND (owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness) OR (owner IS '(shared)' AND expires_at > clock_us()) AND (SELECT coalesce(sum(permits), 0) FROM main.rowlock_share s WHERE s.name = ?1 AND s.since = main.rowlock_lock.acquisition AND s.expires_at > clock_us()) <= ?8) AND iif(?9 = 0, NOT EXISTS (SELECT 1 FROM main.rowlock_waiter WHERE name = ?1 AND expires_at > clock_us() AND lease IS NOT 0), version = ?9 OR (owner IS '(shared)' AND expires_at > clock_us()))

--- the client
INSERT INTO main.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note) SELECT ?1, ?4, acquisition, ?7, version, ?2, ?3, clock_us(), min(expires_at, clock_us() + ?5), ?6 FROM main.rowlock_lock WHERE name = ?1

--- the client
UPDATE main.rowlock_share SET expires_at = clock_us() + tell(1, max(expires_at - clock_us(), ?3)) WHERE name = ?1 AND acquisition = ?2 AND expires_at > clock_us() AND since = (SELECT acquisition FROM main.rowlock_lock WHERE name = ?1 AND owner = '(shared)')

--- the client
UPDATE main.rowlock_lock SET expires_at = clock_us() + ?3 WHERE name = ?1 AND owner = '(shared)' AND expires_at < clock_us() + ?3

--- the client
UPDATE main.rowlock_share SET expires_at = clock_us() + tell(1, ?3) WHERE name = ?1 AND acquisition = ?2 AND expires_at > clock_us() AND since = (SELECT acquisition FROM main.rowlock_lock WHERE name = ?1 AND owner = '(shared)')

--- the client
UPDATE main.rowlock_lock SET owner = iif((SELECT max(s.expires_at) FROM main.rowlock_share s WHERE s.name = ?1 AND s.since = main.rowlock_lock.acquisition) > clock_us(), owner, NULL), version = iif((SELECT max(s.expires_at) FROM main.rowlock_share s WHERE s.name = ?1 AND s.since = main.rowlock_lock.acquisition) > clock_us(), version, max(version + 1, clock_us())), expires_at = iif((SELECT max(s.expires_at) FROM main.rowlock_share s WHERE s.name = ?1 AND s.since = main.rowlock_lock.acquisition) > clock_us(), (SELECT max(s.expires_at) FROM main.rowlock_share s WHERE s.name = ?1 AND s.since = main.rowlock_lock.acquisition), clock_us()) WHERE name = ?1 AND owner = '(shared)'

--- the client
DELETE FROM main.rowlock_share WHERE name = ?1 AND acquisition = ?2 AND (?3 = 0 OR expires_at <= clock_us()) AND since = (SELECT acquisition FROM main.rowlock_lock WHERE name = ?1 AND owner = '(shared)')

--- the client
UPDATE main.rowlock_lock SET version = tell(1, max(version + 1, clock_us())), owner = ?3, thread = ?4, acquisition = ?2, acquired_at = clock_us(), note = ?5, expires_at = clock_us() + tell(2, (SELECT s.expires_at FROM main.rowlock_share s WHERE s.name = ?1 AND s.acquisition = ?2) - clock_us()) WHERE name = ?1 AND owner = '(shared)' AND (SELECT count(*) FROM main.rowlock_share s WHERE s.name = ?1 AND s.since = main.rowlock_lock.acquisition AND s.expires_at > clock_us()) = 1 AND EXISTS (SELECT 1 FROM main.rowlock_share s WHERE s.name = ?1 AND s.acquisition = ?2 AND s.since = main.rowlock_lock.acquisition AND s.expires_at > clock_us())

--- the client
DELETE FROM main.rowlock_share WHERE name = ?1 AND acquisition = ?2

--- the client
UPDATE main.rowlock_lock SET version = tell(1, max(version + 1, clock_us())) + 0 * tell(2, expires_at - clock_us()), owner = '(shared)', thread = NULL, note = NULL, acquisition = 'shared:' || ?6 WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL AND expires_at > clock_us()

--- the client
INSERT INTO main.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note) SELECT ?1, ?2, acquisition, ?7, version, ?3, ?4, clock_us(), expires_at, ?5 FROM main.rowlock_lock WHERE name = ?1

--- the client
DELETE FROM main.rowlock_share WHERE name = ?1 AND expires_at <= clock_us() AND NOT EXISTS (SELECT 1 FROM main.rowlock_lock l WHERE l.name = ?1 AND l.owner = '(shared)' AND l.acquisition = main.rowlock_share.since)

--- the client
SELECT DISTINCT name FROM main.rowlock_share WHERE name > ?1 AND expires_at <= clock_us() - ?3 ORDER BY name LIMIT ?2

--- the client
SELECT s.name, s.token, s.owner, s.thread, s.acquisition, clock_us() - s.acquired_at, s.expires_at - clock_us(), s.note, 0, s.permits FROM main.rowlock_share s JOIN main.rowlock_lock l ON l.name = s.name AND l.owner = '(shared)' AND l.acquisition = s.since WHERE s.name = ?1 AND (s.expires_at > clock_us()) = (?2 = 0) ORDER BY s.token

--- the client
INSERT INTO main.rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at, note, lease, room) VALUES (?1, ?2, ?3, ?4, clock_us(), clock_us() + ?5, ?6, ?7, ?8) RETURNING attempt, ticket

--- the client
UPDATE main.rowlock_waiter SET expires_at = clock_us() + ?4 WHERE ticket = ?3 AND attempt = ?2

--- the client
SELECT ?2 WHERE NOT EXISTS (SELECT 1 FROM main.rowlock_waiter WHERE ticket = ?3 AND attempt = ?2)

--- the client
DELETE FROM main.rowlock_waiter WHERE ticket = ?3 AND attempt = ?2

--- the client
DELETE FROM main.rowlock_waiter WHERE name = ?1 AND attempt = ?2

--- the client
SELECT ?1, EXISTS (SELECT 1 FROM main.rowlock_waiter q WHERE q.name = ?1 AND q.ticket < ?2 AND q.expires_at > clock_us() AND q.lease IS NOT 0 AND CASE WHEN ?4 = 0 THEN 1 WHEN q.room = -2 OR (q.room < -1 AND ?4 > 0) THEN (q.room < -1 AND q.enqueued_at <= clock_us() - 100000 AND (q.enqueued_at > clock_us() - 1100000 OR clock_us() % 5000000 < 1000000)) WHEN ?4 < 0 THEN 1 ELSE ?3 >= 0 AND q.enqueued_at <= clock_us() - ?4 END AND (q.room IS NOT 9223372036854775807 OR ?3 <> 9223372036854775807)), EXISTS (SELECT 1 FROM main.rowlock_waiter WHERE ticket = ?2 AND (lease IS NOT 0 OR attempt = acquisition)), coalesce(owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness) OR owner = '(shared)' AND (SELECT coalesce(sum(permits), 0) FROM main.rowlock_share s WHERE s.name = ?1 AND s.since = acquisition AND s.expires_at > clock_us()) <= ?3, 0), expires_at - clock_us(), version, iif(owner IS NULL, NULL, acquisition) FROM (SELECT 1) LEFT JOIN main.rowlock_lock ON name = ?1

--- the client
SELECT name, ticket, owner, thread, clock_us() - enqueued_at, note FROM main.rowlock_waiter WHERE name >= ?1 AND name < coalesce(?2, x'') AND expires_at > clock_us() AND lease IS NOT 0 ORDER BY name, ticket

--- the client
INSERT OR REPLACE INTO main.rowlock_edge (ticket, name, acquisition) VALUES (?1, ?2, ?3)

--- the client
DELETE FROM main.rowlock_edge WHERE ticket = ?1

--- the client
SELECT q.name, q.ticket, q.owner, q.thread, e.name FROM main.rowlock_edge e JOIN main.rowlock_waiter q ON q.ticket = e.ticket AND q.expires_at > clock_us() JOIN main.rowlock_lock l ON l.name = e.name AND l.owner IS NOT NULL AND (l.expires_at > clock_us() OR l.expires_at IS NULL AND NOT is_dead(l.expires_at, l.liveness)) WHERE (l.acquisition = e.acquisition OR EXISTS (SELECT 1 FROM main.rowlock_share s WHERE s.name = e.name AND s.acquisition = e.acquisition AND s.since = l.acquisition AND s.expires_at > clock_us())) AND NOT EXISTS (SELECT 1 FROM main.rowlock_share s WHERE s.name = q.name AND s.owner = q.owner AND s.thread = q.thread AND s.acquired_at > q.enqueued_at) ORDER BY q.ticket, e.name

--- the client
DELETE FROM main.rowlock_edge WHERE ticket NOT IN (SELECT ticket FROM main.rowlock_waiter)

--- the client
SELECT name, version, iif(is_dead(expires_at, liveness), NULL, owner), thread, acquisition, clock_us() - acquired_at, expires_at - clock_us(), note, expires_at IS NULL, EXISTS (SELECT 1 FROM main.rowlock_waiter q WHERE q.name = ?1 AND q.room < -1) FROM main.rowlock_lock WHERE name = ?1

--- the client
SELECT name, version, owner, thread, acquisition, clock_us() - acquired_at, expires_at - clock_us(), note, expires_at IS NULL, CASE owner WHEN '(shared)' THEN (SELECT CAST(min(total(max(s.permits, 0)), 9e18) AS INTEGER) FROM main.rowlock_share s WHERE s.name = l.name AND s.since = l.acquisition AND s.expires_at > clock_us()) END FROM main.rowlock_lock l WHERE name >= ?1 AND name < coalesce(?2, x'') AND owner IS NOT NULL AND (expires_at > clock_us() OR expires_at IS NULL AND NOT is_dead(expires_at, liveness)) ORDER BY name

--- the client
SELECT (SELECT count(*) FROM main.rowlock_lock), count(*), clock_us() - min(enqueued_at) FROM main.rowlock_waiter WHERE expires_at > clock_us() AND lease IS NOT 0

--- the client
WITH page AS MATERIALIZED (SELECT name, version, (expires_at <= clock_us() - ?3 OR is_dead(expires_at, liveness)) AND version <= clock_us() - ?3 AS is_unused FROM main.rowlock_lock WHERE name > ?1 ORDER BY name LIMIT ?2) SELECT name, 1, version FROM page WHERE is_unused UNION ALL SELECT max(name), 0, 0 FROM page HAVING count(*) > 0

--- the client
INSERT INTO main.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at) VALUES ('', '', '', 0, ?1, '', '', 0, 0) ON CONFLICT (name, acquisition) DO UPDATE SET token = excluded.token WHERE token < excluded.token

--- the client
DELETE FROM main.rowlock_lock WHERE name = ?1 AND (expires_at <= clock_us() - ?2 OR is_dead(expires_at, liveness)) AND version <= clock_us() - ?2 AND version <= (SELECT token FROM main.rowlock_share WHERE name = '' AND acquisition = '')

--- the client
WITH page AS MATERIALIZED (SELECT ticket, name, attempt, expires_at <= clock_us() - ?3 AS is_dead FROM main.rowlock_waiter WHERE ticket > ?1 ORDER BY ticket LIMIT ?2) SELECT ticket, name, attempt, 1 FROM page WHERE is_dead UNION ALL SELECT max(ticket), name, attempt, 0 FROM page HAVING count(*) > 0

--- the client
DELETE FROM main.rowlock_waiter WHERE ticket = ?3 AND attempt = ?2 AND expires_at <= clock_us() - ?4

--- the client
UPDATE main.rowlock_job_run SET finished_at = clock_us(), result = 'lost' WHERE job = ?1 AND finished_at IS NULL AND token <> ?3 AND EXISTS (SELECT 1 FROM main.rowlock_lock WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL AND expires_at > clock_us())

--- the client
INSERT INTO main.rowlock_job_run (job, period_begin, attempt, period_end, owner, token, started_at) SELECT l.name, ?4, (SELECT ifnull(max(r.attempt), 0) + 1 FROM main.rowlock_job_run r WHERE r.job = ?1 AND r.period_begin = ?4), ?5, l.owner, ?3, clock_us() FROM main.rowlock_lock l WHERE l.name = ?1 AND l.acquisition = ?2 AND l.owner IS NOT NULL AND l.expires_at > clock_us() AND NOT EXISTS (SELECT 1 FROM main.rowlock_job_run r WHERE r.job = ?1 AND r.period_begin = ?4 AND (r.succeeded = 1 OR r.token = ?3 OR r.attempt >= ?6 OR r.finished_at <= clock_us() AND r.finished_at > clock_us() - ?7))

--- the client
UPDATE main.rowlock_job_run SET finished_at = clock_us(), result = ?5, exit_status = ?6, signal_number = ?7, output = ?8, succeeded = iif(?5 = 'succeeded', 1, NULL) WHERE job = ?1 AND period_begin = ?4 AND token = ?3 AND finished_at IS NULL AND EXISTS (SELECT 1 FROM main.rowlock_lock WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL AND expires_at > clock_us())

--- the client
SELECT r.job, r.period_begin, r.period_end, r.attempt, r.owner, r.token, r.started_at, r.finished_at, ifnull(r.result, iif(EXISTS (SELECT 1 FROM main.rowlock_lock l WHERE l.name = r.job AND l.version = r.token AND l.owner IS NOT NULL AND l.expires_at > clock_us()), 'running', 'lost')), r.exit_status, r.signal_number, r.output, clock_us() FROM main.rowlock_job_run r WHERE r.job = ?1 AND r.period_begin = ?2 ORDER BY r.attempt DESC

--- the client
SELECT r.job, r.period_begin, r.period_end, r.attempt, r.owner, r.token, r.started_at, r.finished_at, ifnull(r.result, iif(EXISTS (SELECT 1 FROM main.rowlock_lock l WHERE l.name = r.job AND l.version = r.token AND l.owner IS NOT NULL AND l.expires_at > clock_us()), 'running', 'lost')), r.exit_status, r.signal_number, r.output FROM (SELECT *, row_number() OVER (PARTITION BY job, iif(?4 = 1, result, NULL) ORDER BY period_begin DESC, attempt DESC) AS place FROM main.rowlock_job_run WHERE job >= ?1 AND (?2 IS NULL OR job < ?2)) r WHERE r.place <= ?3 ORDER BY r.job, r.period_begin DESC, r.attempt DESC

--- the client
DELETE FROM main.rowlock_job_run WHERE rowid IN (SELECT r.rowid FROM main.rowlock_job_run r WHERE r.period_end <= clock_us() - ?2 AND (SELECT n.attempt FROM main.rowlock_job_run n WHERE n.job = r.job AND (n.period_begin, n.attempt) >= (r.period_begin, r.attempt) ORDER BY n.period_begin, n.attempt LIMIT 1 OFFSET ?1) IS NOT NULL ORDER BY r.period_end LIMIT ?3) RETURNING 1

--- the client
SELECT version, serves_from, installation, applied_at, clock_us(), checksum FROM main.rowlock_migration ORDER BY version DESC

--- the client
SELECT 1 FROM main.rowlock_waiter, main.rowlock_share, main.rowlock_edge, main.rowlock_job_run WHERE 0

--- the client
UPDATE main.rowlock_lock SET version = version WHERE 0

--- the client
SELECT 'server', 'SQLite ' || sqlite_version() UNION ALL SELECT 'journal_mode', journal_mode FROM pragma_journal_mode UNION ALL SELECT 'database', file FROM pragma_database_list WHERE name = 'main'

--- the client
UPDATE main.rowlock_migration SET checksum = ?2 WHERE version = ?1 AND checksum IS NULL

--- the caller's transaction
UPDATE "main".rowlock_lock SET version = ?2, note = ?3, expires_at = ?4 WHERE name = ?1 AND owner IS NULL AND version < ?5

--- the caller's transaction
INSERT INTO "main".rowlock_lock (name, version, expires_at) VALUES (?1, ifnull((SELECT token FROM "main".rowlock_share WHERE name = '' AND acquisition = ''), 0), 0) RETURNING version, owner IS NULL, expires_at, liveness, acquisition

--- the caller's transaction
UPDATE "main".rowlock_lock SET version = version WHERE 0

--- the caller's transaction
UPDATE "main".rowlock_lock SET version = ?2, owner = NULL, thread = NULL, liveness = NULL, note = ?3, expires_at = ?4 WHERE name = ?1

--- the caller's transaction
SELECT owner IS NOT NULL AND acquisition = ?2, expires_at FROM "main".rowlock_lock WHERE name = ?1

--- the caller's transaction
SELECT version, owner IS NULL, expires_at, liveness, acquisition FROM "main".rowlock_lock WHERE name = ?1

--- the caller's transaction
SELECT installation FROM "main".rowlock_migration WHERE version = 1

