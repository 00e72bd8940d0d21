--- plain, durable_release

WITH seen AS MATERIALIZED (
  SELECT owner, expires_at, waiting FROM place.rowlock_lock WHERE name = $1::text),
taken AS (
  UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = $2::text,
    thread = $3::text, acquisition = $4::text, acquired_at = clock_timestamp(),
    expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond', note = $6::text
  WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp()) AND NOT waiting
    FOR UPDATE SKIP LOCKED)
  RETURNING version),
made AS (
  INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT $1::text, greatest((SELECT token FROM place.rowlock_share WHERE name = '' AND acquisition = '') + 1,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), $2::text, $3::text, $4::text, clock_timestamp(),
    clock_timestamp() + $5::bigint * interval '1 microsecond', $6::text
  WHERE NOT EXISTS (SELECT FROM seen) ON CONFLICT (name) DO NOTHING
  RETURNING version)
SELECT $4::text, NULL::bigint, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint, (owner = '(shared)')::integer FROM seen
WHERE waiting OR (owner IS NOT NULL AND (expires_at IS NULL OR expires_at > clock_timestamp()))
UNION ALL SELECT $4::text, version, $5::bigint, 0 FROM taken
UNION ALL SELECT $4::text, version, $5::bigint, 0 FROM made

--- plain, durable_release

WITH wanted AS MATERIALIZED (
  SELECT w.*, l.name IS NULL AS is_new,
    l.owner IS NOT NULL AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp()) AS is_busy, l.expires_at,
    (l.owner = '(shared)')::integer AS is_shared, l.waiting
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[])
    AS w (name, owner, thread, acquisition, lease, note)
  LEFT JOIN place.rowlock_lock l ON l.name = w.name COLLATE "C" ORDER BY w.name COLLATE "C"),
taken AS (
  UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM w.at) * 1000000)::bigint), owner = w.owner, thread = w.thread,
    acquisition = w.acquisition, acquired_at = w.at, expires_at = w.at + w.lease * interval '1 microsecond',
    note = w.note
  FROM (SELECT w.*, clock_timestamp() AS at FROM wanted w, LATERAL (
      SELECT FROM place.rowlock_lock r
      WHERE r.name = w.name COLLATE "C" AND (r.owner IS NULL OR r.expires_at <= clock_timestamp())
        AND NOT r.waiting
      FOR UPDATE SKIP LOCKED) free
    WHERE NOT w.is_new AND NOT w.is_busy) w
  WHERE l.name = w.name COLLATE "C"
  RETURNING l.acquisition, l.version, w.lease),
made AS (
  INSERT INTO place.rowlock_lock AS l (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT w.name, greatest((SELECT token FROM place.rowlock_share WHERE name = '' AND acquisition = '') + 1, (extract(epoch FROM w.at) * 1000000)::bigint),
    w.owner, w.thread, w.acquisition, w.at, w.at + w.lease * interval '1 microsecond', w.note
  FROM (SELECT *, clock_timestamp() AS at FROM wanted WHERE is_new) w ON CONFLICT (name) DO NOTHING
  RETURNING l.acquisition, l.version, (extract(epoch FROM (CASE l.expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE l.expires_at END) - l.acquired_at) * 1000000)::bigint AS lease)
SELECT acquisition, NULL::bigint, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint, is_shared FROM wanted WHERE is_busy OR waiting
UNION ALL SELECT acquisition, version, lease, 0 FROM taken
UNION ALL SELECT acquisition, version, lease, 0 FROM made

--- plain, durable_release

UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = $2::text,
  thread = $3::text, acquisition = $4::text, acquired_at = clock_timestamp(),
  expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond', note = $6::text
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp()) AND NOT waiting
  FOR UPDATE SKIP LOCKED)
RETURNING acquisition, version, $5::bigint, 0

--- plain, durable_release

UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM w.at) * 1000000)::bigint), owner = w.owner, thread = w.thread,
  acquisition = w.acquisition, acquired_at = w.at, expires_at = w.at + w.lease * interval '1 microsecond', note = w.note
FROM (SELECT w.*, clock_timestamp() AS at FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[],
      $6::text[]) AS u (name, owner, thread, acquisition, lease, note) ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND (r.owner IS NULL OR r.expires_at <= clock_timestamp())
    AND NOT r.waiting
  FOR UPDATE SKIP LOCKED) free) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.acquisition, l.version, w.lease, 0

--- plain, durable_release

UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  acquisition = g.acquisition, acquired_at = g.at, expires_at = g.at + g.lease * interval '1 microsecond', note = g.note
FROM (SELECT f.*, clock_timestamp() AS at FROM (
    SELECT r.name, w.owner, w.thread, w.acquisition, w.lease, w.note
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[])
      WITH ORDINALITY AS w (name, owner, thread, acquisition, lease, note, place)
    JOIN place.rowlock_lock r ON r.name = w.name COLLATE "C"
    WHERE (r.owner IS NULL OR r.expires_at <= clock_timestamp()) AND NOT r.waiting
    ORDER BY w.place LIMIT 1 FOR UPDATE OF r SKIP LOCKED) f) g
WHERE l.name = g.name
RETURNING l.name, l.version, g.lease

--- plain, durable_release

WITH free AS MATERIALIZED (
  SELECT r.name, r.acquisition AS had, w.owner, w.thread, w.acquisition, w.lease, w.note
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[],
    $7::bigint[])
    AS w (name, owner, thread, acquisition, lease, note, version)
  JOIN place.rowlock_lock r ON r.name = w.name COLLATE "C"
  WHERE (r.owner IS NULL OR r.expires_at <= clock_timestamp())
    AND CASE WHEN w.version = 0 THEN NOT r.waiting ELSE r.version = w.version END
  ORDER BY r.name FOR UPDATE OF r SKIP LOCKED),
all_of_them AS MATERIALIZED (
  SELECT clock_timestamp() AS at FROM (SELECT count(*) AS number FROM free) f
    WHERE f.number = cardinality($1::text[])),
passed AS (
  DELETE FROM place.rowlock_waiter w USING all_of_them, free g WHERE w.name = g.name AND w.attempt = g.had)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM a.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  acquisition = g.acquisition, acquired_at = a.at, expires_at = a.at + g.lease * interval '1 microsecond', note = g.note
FROM all_of_them a, free g
WHERE l.name = g.name
RETURNING l.acquisition, l.version, g.lease

--- plain, durable_release

WITH seen AS MATERIALIZED (
  SELECT owner, expires_at, waiting, acquisition, version FROM place.rowlock_lock WHERE name = $1::text),
queue AS MATERIALIZED (
  SELECT EXISTS (SELECT FROM place.rowlock_waiter q
      WHERE name = $1::text AND ticket < $8::bigint AND expires_at > clock_timestamp()
        AND ($9::bigint = 0 OR ((q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)) AND NOT EXISTS (
          SELECT FROM seen WHERE expires_at <= clock_timestamp() - interval '1 second')))
        AND attempt IS DISTINCT FROM (SELECT acquisition FROM seen)) AS is_behind,
    $7::bigint = 0 OR $9::bigint > 0
      OR EXISTS (SELECT FROM place.rowlock_waiter WHERE ticket = $7::bigint AND owner = $2::text) AS has_place),
taken AS (
  UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = $2::text,
    thread = $3::text, acquisition = $4::text, acquired_at = clock_timestamp(),
    expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond', note = $6::text
  WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp())
      AND version = (SELECT version FROM seen) AND (SELECT has_place AND NOT is_behind FROM queue)
    FOR UPDATE SKIP LOCKED)
  RETURNING version),
made AS (
  INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT $1::text, greatest((SELECT token FROM place.rowlock_share WHERE name = '' AND acquisition = '') + 1,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), $2::text, $3::text, $4::text, clock_timestamp(),
    clock_timestamp() + $5::bigint * interval '1 microsecond', $6::text
  WHERE NOT EXISTS (SELECT FROM seen) AND (SELECT has_place AND NOT is_behind FROM queue)
    ON CONFLICT (name) DO NOTHING
  RETURNING version),
claimed AS (
  UPDATE place.rowlock_lock SET expires_at = greatest(expires_at,
    clock_timestamp() + $5::bigint * interval '1 microsecond')
  WHERE name = (SELECT name FROM place.rowlock_lock
      WHERE name = $1::text AND owner = $2::text AND expires_at > clock_timestamp()
        AND acquisition = (SELECT attempt FROM place.rowlock_waiter WHERE ticket = $7::bigint
          AND owner = $2::text)
      FOR NO KEY UPDATE SKIP LOCKED)
    AND expires_at > clock_timestamp()
  RETURNING acquisition, version),
granted AS MATERIALIZED (SELECT version FROM taken UNION ALL SELECT version FROM made),
gone AS (
  DELETE FROM place.rowlock_waiter WHERE ticket = (SELECT w.ticket FROM place.rowlock_waiter w
    WHERE w.ticket = $7::bigint AND w.owner = $2::text
      AND EXISTS (SELECT version FROM granted UNION ALL SELECT version FROM claimed) FOR UPDATE SKIP LOCKED)
  RETURNING ticket),
passed AS (
  DELETE FROM place.rowlock_waiter
  WHERE name = $1::text AND attempt = (SELECT acquisition FROM seen) AND EXISTS (SELECT FROM granted))
SELECT $4::text, NULL::bigint, (extract(epoch FROM seen.expires_at - clock_timestamp()) * 1000000)::bigint, is_behind, has_place, false,
  seen.owner IS NULL, seen.acquisition, seen.version, coalesce((SELECT waiting FROM seen), false)
FROM queue LEFT JOIN seen ON seen.owner IS NOT NULL AND (seen.expires_at IS NULL OR seen.expires_at > clock_timestamp())
WHERE seen.owner IS NOT NULL OR is_behind OR NOT has_place
UNION ALL SELECT $4::text, NULL::bigint, $5::bigint, false, true, EXISTS (SELECT FROM gone), false,
  acquisition, version, true
FROM claimed
UNION ALL SELECT $4::text, version, $5::bigint, false, true, EXISTS (SELECT FROM gone), true, NULL::text,
  NULL::bigint, NULL::boolean
FROM granted

--- plain, durable_release

UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = $2::text,
  thread = $3::text, acquisition = $4::text, acquired_at = clock_timestamp(),
  expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond', note = $6::text
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND version = $7::bigint
    AND (owner IS NULL OR expires_at <= clock_timestamp())
  FOR UPDATE SKIP LOCKED)
RETURNING $4::text, version, $5::bigint

--- plain, durable_release, transaction_pooling, both

UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp()) FOR UPDATE SKIP LOCKED)
RETURNING name, version, waiting

--- plain, durable_release, guarded, relaxed

INSERT INTO place.rowlock_lock (name, version, expires_at)
SELECT $1::text, greatest((SELECT token FROM place.rowlock_share WHERE name = '' AND acquisition = '') + 1,
  (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), clock_timestamp() WHERE NOT EXISTS (
  SELECT FROM place.rowlock_lock WHERE name = $1::text) ON CONFLICT (name) DO NOTHING

--- plain, transaction_pooling, guarded, relaxed

UPDATE place.rowlock_lock SET owner = NULL, thread = NULL, note = NULL,
  version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), expires_at = clock_timestamp()
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND owner IS NOT NULL AND expires_at <= clock_timestamp() AND set_config('synchronous_commit', 'off', true) IS NOT NULL FOR UPDATE SKIP LOCKED)

--- plain, durable_release, guarded

UPDATE place.rowlock_lock SET expires_at = greatest(expires_at, clock_timestamp() + $3::bigint * interval '1 microsecond')
WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
      AND expires_at > clock_timestamp()
    FOR NO KEY UPDATE SKIP LOCKED)
  AND expires_at > clock_timestamp()
RETURNING acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint

--- plain, durable_release, guarded

UPDATE place.rowlock_lock l SET expires_at = greatest(l.expires_at, w.at + w.lease * interval '1 microsecond')
FROM (SELECT w.*, clock_timestamp() AS at FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, lease)
    ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND r.expires_at > clock_timestamp()
  FOR NO KEY UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C" AND l.expires_at > w.at
RETURNING l.acquisition, (extract(epoch FROM (CASE l.expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE l.expires_at END) - w.at) * 1000000)::bigint

--- plain, durable_release, guarded

UPDATE place.rowlock_lock SET expires_at = clock_timestamp() + $3::bigint * interval '1 microsecond'
WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
      AND expires_at > clock_timestamp()
    FOR NO KEY UPDATE SKIP LOCKED)
  AND expires_at > clock_timestamp()
RETURNING acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint

--- plain, durable_release, guarded

UPDATE place.rowlock_lock l SET expires_at = w.at + w.lease * interval '1 microsecond'
FROM (SELECT w.*, clock_timestamp() AS at FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, lease)
    ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND r.expires_at > clock_timestamp()
  FOR NO KEY UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C" AND l.expires_at > w.at
RETURNING l.acquisition, (extract(epoch FROM (CASE l.expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE l.expires_at END) - w.at) * 1000000)::bigint

--- plain, durable_release

UPDATE place.rowlock_lock l SET version = greatest(version + $4::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint),
  expires_at = greatest(expires_at, clock_timestamp() + $3::bigint * interval '1 microsecond')
WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
      AND expires_at > clock_timestamp()
    FOR UPDATE SKIP LOCKED)
  AND expires_at > clock_timestamp()
RETURNING acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint, version,
  (EXISTS (SELECT FROM place.rowlock_waiter w
    WHERE w.name = $1::text AND w.owner <> l.owner AND w.expires_at > clock_timestamp()))::integer

--- plain, transaction_pooling

WITH spent AS (DELETE FROM place.rowlock_waiter WHERE name = $1::text AND attempt = $2::text)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT $1::text AS name, $2::text AS acquisition) w CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM place.rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL AND set_config('synchronous_commit', 'off', true) IS NOT NULL
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN pg_notify('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting

--- plain, transaction_pooling

WITH spent AS (
  DELETE FROM place.rowlock_waiter t USING unnest($1::text[], $2::text[]) AS u (name, acquisition)
  WHERE t.name = u.name COLLATE "C" AND t.attempt = u.acquisition)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT * FROM unnest($1::text[], $2::text[]) AS u (name, acquisition) ORDER BY name COLLATE "C") w
    CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM place.rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL AND set_config('synchronous_commit', 'off', true) IS NOT NULL
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN pg_notify('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting

--- plain, transaction_pooling, guarded, relaxed

UPDATE place.rowlock_lock SET owner = NULL, thread = NULL, note = NULL,
  version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), expires_at = clock_timestamp()
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL AND NOT waiting AND set_config('synchronous_commit', 'off', true) IS NOT NULL
  FOR UPDATE SKIP LOCKED)
RETURNING acquisition

--- plain, transaction_pooling, guarded, relaxed

UPDATE place.rowlock_lock l SET owner = NULL, thread = NULL, note = NULL, version = greatest(l.version + 1, (extract(epoch FROM w.at) * 1000000)::bigint),
  expires_at = w.at
FROM (SELECT w.*, clock_timestamp() AS at FROM (
    SELECT * FROM unnest($1::text[], $2::text[]) AS u (name, acquisition) ORDER BY name COLLATE "C") w,
      LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND NOT r.waiting AND set_config('synchronous_commit', 'off', true) IS NOT NULL
  FOR UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.acquisition

--- plain, durable_release, guarded

UPDATE place.rowlock_lock SET expires_at = acquired_at + $3::bigint * interval '1 microsecond', thread = '(released)'
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
    AND expires_at > clock_timestamp()
  FOR NO KEY UPDATE SKIP LOCKED)
RETURNING acquisition,
  (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> left($2::text, 16) AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255)

--- plain, durable_release, guarded

UPDATE place.rowlock_lock l SET expires_at = l.acquired_at + w.stay * interval '1 microsecond', thread = '(released)'
FROM (SELECT w.* FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, stay)
    ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND r.expires_at > clock_timestamp()
  FOR NO KEY UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.acquisition,
  (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> left(l.acquisition, 16) AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255)

--- plain, durable_release, guarded

WITH freed AS (
  UPDATE place.rowlock_lock SET owner = NULL, thread = NULL, note = NULL,
    version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), expires_at = clock_timestamp()
  WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND version = $2::bigint AND owner IS NOT NULL FOR UPDATE SKIP LOCKED)
  RETURNING name, acquisition),
spent AS (
  DELETE FROM place.rowlock_waiter w USING freed WHERE w.name = freed.name AND w.attempt = freed.acquisition)
SELECT freed.name,
  (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.attempt IS DISTINCT FROM freed.acquisition AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.attempt IS DISTINCT FROM freed.acquisition AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> '' AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255)
FROM freed

--- plain, durable_release

WITH asked AS (SELECT *
  FROM (VALUES ($2::text, $3::text, $4::text, $5::bigint, $6::text, $7::bigint,
  1)) AS a (owner, thread, acquisition, lease, note, permits, place)),
taken AS (
  UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM own.at) * 1000000)::bigint) + own.number - 1, owner = '(shared)',
    thread = NULL, note = NULL, sharers = CASE WHEN own.joins THEN l.sharers ELSE 0 END + own.permits,
    acquisition = CASE WHEN own.joins THEN l.acquisition ELSE 'shared:' || $4::text END,
    acquired_at = CASE WHEN own.joins THEN l.acquired_at ELSE own.at END,
    expires_at = CASE WHEN own.joins THEN greatest(l.expires_at, own.until) ELSE own.until END
  FROM (SELECT r.at, r.at + total.lease * interval '1 microsecond' AS until, total.number, total.permits,
      r.owner IS NOT DISTINCT FROM '(shared)' AND r.expires_at > r.at AS joins, r.acquisition AS had FROM (
    SELECT k.owner, k.expires_at, k.acquisition, clock_timestamp() AS at FROM (
      SELECT owner, expires_at, acquisition FROM place.rowlock_lock
      WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp()
          OR (owner = '(shared)' AND sharers <= $8::bigint))
        AND CASE WHEN $9::bigint = 0 THEN NOT waiting
          ELSE version = $9::bigint OR (owner IS NOT DISTINCT FROM '(shared)'
            AND expires_at > clock_timestamp()) END
        
      FOR UPDATE) k) r,
    (SELECT max(lease) AS lease, sum(permits)::bigint AS permits, count(*) AS number FROM asked) total) own
  WHERE l.name = $1::text
  RETURNING l.version - own.number AS before, l.acquisition, own.at, own.joins, own.had),
passed AS (
  DELETE FROM place.rowlock_waiter w USING taken t WHERE w.name = $1::text AND w.attempt = t.had AND NOT t.joins),
share AS (
  INSERT INTO place.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
  SELECT $1::text, a.acquisition, t.acquisition, a.permits, t.before + a.place, a.owner, a.thread, t.at,
    t.at + a.lease * interval '1 microsecond', a.note FROM taken t, asked a)
SELECT a.acquisition, t.before + a.place, a.lease FROM taken t, asked a

--- plain, durable_release

WITH asked AS MATERIALIZED (
  SELECT u.*, row_number() OVER (PARTITION BY name ORDER BY acquisition) AS place
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[],
    $7::bigint[], $8::bigint[], $9::bigint[])
    AS u (name, owner, thread, acquisition, lease, note, permits, room, version)),
own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.* FROM (
      SELECT name, max(lease) AS lease, sum(permits)::bigint AS permits, count(*) AS number,
        min(acquisition) AS first, max(room) AS room, max(version) AS version
      FROM asked GROUP BY name ORDER BY name COLLATE "C") w, LATERAL (
      SELECT owner, expires_at, acquisition AS before FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND (owner IS NULL OR expires_at <= clock_timestamp()
          OR (owner = '(shared)' AND sharers <= w.room))
        AND CASE WHEN w.version = 0 THEN NOT waiting
          ELSE version = w.version OR (owner IS NOT DISTINCT FROM '(shared)' AND expires_at > clock_timestamp()) END
        
      FOR UPDATE) r) k),
joining AS (
  SELECT own.*, at + lease * interval '1 microsecond' AS until,
    owner IS NOT DISTINCT FROM '(shared)' AND expires_at > at AS joins FROM own),
taken AS (
  UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM own.at) * 1000000)::bigint) + own.number - 1, owner = '(shared)',
    thread = NULL, note = NULL, sharers = CASE WHEN own.joins THEN l.sharers ELSE 0 END + own.permits,
    acquisition = CASE WHEN own.joins THEN l.acquisition ELSE 'shared:' || own.first END,
    acquired_at = CASE WHEN own.joins THEN l.acquired_at ELSE own.at END,
    expires_at = CASE WHEN own.joins THEN greatest(l.expires_at, own.until) ELSE own.until END
  FROM joining own WHERE l.name = own.name COLLATE "C"
  RETURNING l.name, l.version - own.number AS token, l.acquisition, own.at, own.joins, own.before),
passed AS (
  DELETE FROM place.rowlock_waiter w USING taken t WHERE w.name = t.name AND w.attempt = t.before AND NOT t.joins),
share AS (
  INSERT INTO place.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
  SELECT t.name, a.acquisition, t.acquisition, a.permits, t.token + a.place, a.owner, a.thread, t.at,
    t.at + a.lease * interval '1 microsecond', a.note FROM taken t JOIN asked a ON a.name = t.name COLLATE "C")
SELECT a.acquisition, t.token + a.place, a.lease FROM taken t JOIN asked a ON a.name = t.name COLLATE "C"

--- plain, durable_release

WITH asked AS MATERIALIZED (
  SELECT u.*, row_number() OVER (PARTITION BY name ORDER BY acquisition) AS place
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[],
    $7::bigint[], $8::bigint[], $9::bigint[])
    AS u (name, owner, thread, acquisition, lease, note, permits, room, version)),
own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.* FROM (
      SELECT name, max(lease) AS lease, sum(permits)::bigint AS permits, count(*) AS number,
        min(acquisition) AS first, max(room) AS room, max(version) AS version
      FROM asked GROUP BY name ORDER BY name COLLATE "C") w, LATERAL (
      SELECT owner, expires_at, acquisition AS before FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND (owner IS NULL OR expires_at <= clock_timestamp()
          OR (owner = '(shared)' AND sharers <= w.room))
        AND CASE WHEN w.version = 0 THEN NOT waiting
          ELSE version = w.version OR (owner IS NOT DISTINCT FROM '(shared)' AND expires_at > clock_timestamp()) END
        
      FOR UPDATE SKIP LOCKED) r) k),
joining AS (
  SELECT own.*, at + lease * interval '1 microsecond' AS until,
    owner IS NOT DISTINCT FROM '(shared)' AND expires_at > at AS joins FROM own),
taken AS (
  UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM own.at) * 1000000)::bigint) + own.number - 1, owner = '(shared)',
    thread = NULL, note = NULL, sharers = CASE WHEN own.joins THEN l.sharers ELSE 0 END + own.permits,
    acquisition = CASE WHEN own.joins THEN l.acquisition ELSE 'shared:' || own.first END,
    acquired_at = CASE WHEN own.joins THEN l.acquired_at ELSE own.at END,
    expires_at = CASE WHEN own.joins THEN greatest(l.expires_at, own.until) ELSE own.until END
  FROM joining own WHERE l.name = own.name COLLATE "C"
  RETURNING l.name, l.version - own.number AS token, l.acquisition, own.at, own.joins, own.before),
passed AS (
  DELETE FROM place.rowlock_waiter w USING taken t WHERE w.name = t.name AND w.attempt = t.before AND NOT t.joins),
share AS (
  INSERT INTO place.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
  SELECT t.name, a.acquisition, t.acquisition, a.permits, t.token + a.place, a.owner, a.thread, t.at,
    t.at + a.lease * interval '1 microsecond', a.note FROM taken t JOIN asked a ON a.name = t.name COLLATE "C")
SELECT a.acquisition, t.token + a.place, a.lease FROM taken t JOIN asked a ON a.name = t.name COLLATE "C"

--- plain, durable_release, guarded

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since, r.ends FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, lease)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since, expires_at AS ends FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)'
      FOR NO KEY UPDATE) r) k),
kept AS (
  UPDATE place.rowlock_share s SET expires_at = greatest(s.expires_at, own.at + own.lease * interval '1 microsecond') FROM own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND s.expires_at > own.at
  RETURNING s.name, s.acquisition, s.expires_at, own.at, own.ends),
raised AS (
  UPDATE place.rowlock_lock l SET expires_at = greatest(l.expires_at, k.last)
  FROM (SELECT name, max(expires_at) AS last FROM kept WHERE expires_at > ends GROUP BY name) k WHERE l.name = k.name)
SELECT acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - at) * 1000000)::bigint FROM kept

--- plain, durable_release, guarded

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since, r.ends FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, lease)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since, expires_at AS ends FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)'
      FOR NO KEY UPDATE SKIP LOCKED) r) k),
kept AS (
  UPDATE place.rowlock_share s SET expires_at = greatest(s.expires_at, own.at + own.lease * interval '1 microsecond') FROM own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND s.expires_at > own.at
  RETURNING s.name, s.acquisition, s.expires_at, own.at, own.ends),
raised AS (
  UPDATE place.rowlock_lock l SET expires_at = greatest(l.expires_at, k.last)
  FROM (SELECT name, max(expires_at) AS last FROM kept WHERE expires_at > ends GROUP BY name) k WHERE l.name = k.name)
SELECT acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - at) * 1000000)::bigint FROM kept

--- plain, durable_release, guarded

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since, r.ends FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, lease)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since, expires_at AS ends FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)'
      FOR NO KEY UPDATE) r) k),
kept AS (
  UPDATE place.rowlock_share s SET expires_at = own.at + own.lease * interval '1 microsecond' FROM own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND s.expires_at > own.at
  RETURNING s.name, s.acquisition, s.expires_at, own.at, own.ends),
raised AS (
  UPDATE place.rowlock_lock l SET expires_at = greatest(l.expires_at, k.last)
  FROM (SELECT name, max(expires_at) AS last FROM kept WHERE expires_at > ends GROUP BY name) k WHERE l.name = k.name)
SELECT acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - at) * 1000000)::bigint FROM kept

--- plain, durable_release, guarded

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since, r.ends FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, lease)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since, expires_at AS ends FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)'
      FOR NO KEY UPDATE SKIP LOCKED) r) k),
kept AS (
  UPDATE place.rowlock_share s SET expires_at = own.at + own.lease * interval '1 microsecond' FROM own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND s.expires_at > own.at
  RETURNING s.name, s.acquisition, s.expires_at, own.at, own.ends),
raised AS (
  UPDATE place.rowlock_lock l SET expires_at = greatest(l.expires_at, k.last)
  FROM (SELECT name, max(expires_at) AS last FROM kept WHERE expires_at > ends GROUP BY name) k WHERE l.name = k.name)
SELECT acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - at) * 1000000)::bigint FROM kept

--- plain, guarded, relaxed

WITH own AS MATERIALIZED (
  SELECT r.acquisition, clock_timestamp() AS at FROM (
    SELECT acquisition FROM place.rowlock_lock WHERE name = $1::text AND owner = '(shared)' AND set_config('synchronous_commit', 'off', true) IS NOT NULL
    FOR UPDATE) r),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = $1::text AND s.acquisition = $2::text AND s.since = own.acquisition
    AND ($3::bigint = 0 OR s.expires_at <= own.at)
  RETURNING s.permits, own.at)
UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
  owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
  version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
  expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
FROM gone g WHERE l.name = $1::text
RETURNING $2::text, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
    WHERE q.name = $1::text AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
  (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> CASE WHEN $3::bigint = 0 THEN left($2::text, 16) ELSE '' END AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END,
  l.waiting

--- plain, guarded, relaxed

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, expired)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)' AND set_config('synchronous_commit', 'off', true) IS NOT NULL
      FOR UPDATE) r) k),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND (own.expired = 0 OR s.expires_at <= own.at)
  RETURNING s.name, s.acquisition, s.permits, own.expired, own.at),
freed AS (
  UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
    owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
    version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
    expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
  FROM (SELECT name, sum(permits)::bigint AS permits, max(at) AS at, array_agg(acquisition) AS acquisitions,
      CASE WHEN max(expired) = 0 THEN left(min(acquisition), 16) ELSE '' END AS teller FROM gone GROUP BY name) g
  WHERE l.name = g.name
  RETURNING g.acquisitions, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
      WHERE q.name = l.name AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
    (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> g.teller AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END AS told, l.waiting)
SELECT unnest(acquisitions), told, waiting FROM freed

--- plain, guarded, relaxed

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, expired)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)' AND set_config('synchronous_commit', 'off', true) IS NOT NULL
      FOR UPDATE SKIP LOCKED) r) k),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND (own.expired = 0 OR s.expires_at <= own.at)
  RETURNING s.name, s.acquisition, s.permits, own.expired, own.at),
freed AS (
  UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
    owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
    version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
    expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
  FROM (SELECT name, sum(permits)::bigint AS permits, max(at) AS at, array_agg(acquisition) AS acquisitions,
      CASE WHEN max(expired) = 0 THEN left(min(acquisition), 16) ELSE '' END AS teller FROM gone GROUP BY name) g
  WHERE l.name = g.name
  RETURNING g.acquisitions, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
      WHERE q.name = l.name AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
    (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> g.teller AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END AS told, l.waiting)
SELECT unnest(acquisitions), told, waiting FROM freed

--- plain, durable_release

WITH own AS MATERIALIZED (
  SELECT r.acquisition, r.sharers, clock_timestamp() AS at FROM (
    SELECT acquisition, sharers FROM place.rowlock_lock WHERE name = $1::text AND owner = '(shared)'
    FOR UPDATE) r),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = $1::text AND s.acquisition = $2::text AND s.since = own.acquisition
    AND s.permits = own.sharers
    AND s.expires_at > own.at
  RETURNING s.expires_at, own.at)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = $3::text, thread = $4::text,
  acquisition = $2::text, acquired_at = g.at, expires_at = g.expires_at, note = $5::text, sharers = 0
FROM gone g WHERE l.name = $1::text
RETURNING $2::text, l.version, (extract(epoch FROM (CASE l.expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE l.expires_at END) - g.at) * 1000000)::bigint

--- plain, durable_release, guarded

WITH taken AS (
  UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM own.at) * 1000000)::bigint), owner = '(shared)', thread = NULL,
    note = NULL, acquisition = 'shared:' || $6::text, sharers = $7::bigint
  FROM (SELECT clock_timestamp() AS at FROM (
    SELECT FROM place.rowlock_lock WHERE name = $1::text AND acquisition = $2::text
      AND owner IS NOT NULL
    FOR UPDATE) k) own
  WHERE l.name = $1::text AND l.expires_at > own.at
  RETURNING l.version, l.acquisition, l.expires_at, own.at),
share AS (
  INSERT INTO place.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
  SELECT $1::text, $2::text, acquisition, $7::bigint, version, $3::text, $4::text, at,
    expires_at, $5::text FROM taken)
SELECT $2::text, version, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - at) * 1000000)::bigint FROM taken

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

DELETE FROM place.rowlock_share s
WHERE s.name = $1::text AND s.expires_at <= clock_timestamp() AND set_config('synchronous_commit', 'off', true) IS NOT NULL AND NOT EXISTS (
  SELECT FROM place.rowlock_lock l WHERE l.name = $1::text AND l.owner = '(shared)' AND l.acquisition = s.since)

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

SELECT DISTINCT name FROM place.rowlock_share
WHERE name > $1::text AND expires_at <= clock_timestamp() - $3::bigint * interval '1 microsecond'
ORDER BY name LIMIT $2::bigint

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

SELECT s.name, s.token, s.owner, s.thread, s.acquisition, (extract(epoch FROM clock_timestamp() - s.acquired_at) * 1000000)::bigint,
  (extract(epoch FROM s.expires_at - clock_timestamp()) * 1000000)::bigint, s.note, false, s.permits
FROM place.rowlock_share s JOIN place.rowlock_lock l ON l.name = s.name AND l.owner = '(shared)' AND l.acquisition = s.since
WHERE s.name = $1::text AND (s.expires_at > clock_timestamp()) = ($2::bigint = 0) ORDER BY s.token

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

SELECT s.name, s.token, s.owner, s.thread, s.acquisition, (extract(epoch FROM clock_timestamp() - s.acquired_at) * 1000000)::bigint,
  (extract(epoch FROM s.expires_at - clock_timestamp()) * 1000000)::bigint, s.note, false, s.permits
FROM unnest($1::text[], $2::bigint[]) AS w (name, expired)
JOIN place.rowlock_share s ON s.name = w.name COLLATE "C" AND (s.expires_at > clock_timestamp()) = (w.expired = 0)
JOIN place.rowlock_lock l ON l.name = s.name AND l.owner = '(shared)' AND l.acquisition = s.since

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

INSERT INTO place.rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at, note, lease, room)
SELECT $1::text, $2::text, $3::text, $4::text, clock_timestamp(),
  clock_timestamp() + $5::bigint * interval '1 microsecond', $6::text, $7::bigint, $8::bigint
    WHERE true AND set_config('synchronous_commit', 'off', true) IS NOT NULL
RETURNING attempt, ticket

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

WITH wanted AS MATERIALIZED (
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS u (name, attempt, ticket,
    life)),
kept AS (
  UPDATE place.rowlock_waiter w SET expires_at = clock_timestamp() + own.life * interval '1 microsecond'
  FROM (SELECT u.ticket, u.life FROM wanted u, LATERAL (
    SELECT FROM place.rowlock_waiter r WHERE r.ticket = u.ticket AND r.attempt = u.attempt AND set_config('synchronous_commit', 'off', true) IS NOT NULL
    FOR NO KEY UPDATE SKIP LOCKED) r) own
  WHERE w.ticket = own.ticket)
SELECT w.attempt, NOT EXISTS (SELECT FROM place.rowlock_waiter b
    WHERE b.name = w.name AND b.ticket < w.ticket AND b.expires_at > clock_timestamp()
      AND (b.room IS DISTINCT FROM 9223372036854775807 OR w.room IS DISTINCT FROM 9223372036854775807)
      AND (b.room IS DISTINCT FROM -2 OR (b.room < -1 AND b.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (b.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)))
      AND NOT EXISTS (SELECT FROM place.rowlock_lock l WHERE l.name = b.name AND l.acquisition = b.attempt))
        AND (NOT EXISTS (SELECT FROM place.rowlock_lock l
    WHERE l.name = w.name AND l.owner IS NOT NULL AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp()))
    OR EXISTS (SELECT FROM place.rowlock_lock l WHERE l.name = w.name AND l.owner = '(shared)' AND l.sharers <= w.room)),
  EXISTS (SELECT FROM place.rowlock_lock l WHERE l.name = w.name AND l.waiting)
FROM wanted u JOIN place.rowlock_waiter w ON w.ticket = u.ticket AND w.attempt = u.attempt

--- plain, durable_release, guarded, relaxed

WITH gone AS (DELETE FROM place.rowlock_waiter WHERE ticket = $3::bigint AND attempt = $2::text AND set_config('synchronous_commit', 'off', true) IS NOT NULL)
SELECT w.attempt, CASE WHEN NOT EXISTS (SELECT FROM place.rowlock_lock l
    WHERE l.name = w.name AND l.owner <> '(shared)' AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())) THEN
  (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = w.name AND right(q.owner, 16) <> left(w.attempt, 16) AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = w.name AND right(q.owner, 16) <> left(w.attempt, 16) AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> left(w.attempt, 16) AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END
FROM (SELECT $1::text AS name, $2::text AS attempt) w

--- plain, durable_release, guarded, relaxed

WITH wanted AS MATERIALIZED (
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, attempt, ticket)),
gone AS (
  DELETE FROM place.rowlock_waiter t USING wanted u
  WHERE t.ticket = u.ticket AND t.attempt = u.attempt AND set_config('synchronous_commit', 'off', true) IS NOT NULL)
SELECT w.attempt, CASE WHEN NOT EXISTS (SELECT FROM place.rowlock_lock l
    WHERE l.name = w.name AND l.owner <> '(shared)' AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())) THEN
  (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = w.name AND right(q.owner, 16) <> left(w.attempt, 16) AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = w.name AND right(q.owner, 16) <> left(w.attempt, 16) AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> left(w.attempt, 16) AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END
FROM wanted w

--- plain, durable_release, guarded, relaxed
DELETE FROM place.rowlock_waiter WHERE name = $1::text AND attempt = $2::text AND set_config('synchronous_commit', 'off', true) IS NOT NULL

--- plain, durable_release, guarded, relaxed

WITH marked AS (
  UPDATE place.rowlock_lock SET waiting = true WHERE name = $1::text AND NOT waiting AND set_config('synchronous_commit', 'off', true) IS NOT NULL
  RETURNING name),
made AS (
  INSERT INTO place.rowlock_lock (name, version, expires_at, waiting)
  SELECT $1::text, greatest((SELECT token FROM place.rowlock_share WHERE name = '' AND acquisition = '') + 1,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), clock_timestamp(), true
  WHERE NOT EXISTS (SELECT FROM place.rowlock_lock WHERE name = $1::text) AND set_config('synchronous_commit', 'off', true) IS NOT NULL
  ON CONFLICT (name) DO UPDATE SET waiting = true
  RETURNING name)
SELECT name FROM marked UNION ALL SELECT name FROM made
UNION ALL SELECT name FROM place.rowlock_lock WHERE name = $1::text AND waiting

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

UPDATE place.rowlock_lock SET waiting = false
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND waiting AND set_config('synchronous_commit', 'off', true) IS NOT NULL
    AND NOT EXISTS (SELECT FROM place.rowlock_waiter WHERE name = $1::text AND expires_at > clock_timestamp())
  FOR NO KEY UPDATE SKIP LOCKED)
RETURNING name

--- plain, durable_release, guarded, relaxed

SELECT q.owner, pg_notify('rowlock_' || right(q.owner, 16), q.name)::text
FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND right(q.owner, 16) <> left($2::text, 16) AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND right(q.owner, 16) <> left($2::text, 16) AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q, (SELECT $1::text AS name) w
WHERE NOT EXISTS (SELECT FROM place.rowlock_lock l
    WHERE l.name = w.name AND l.owner <> '(shared)' AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp()))
      AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255 AND set_config('synchronous_commit', 'off', true) IS NOT NULL

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

SELECT $1::text, EXISTS (SELECT FROM place.rowlock_waiter b
    WHERE b.name = $1::text AND b.ticket < $2::bigint AND b.expires_at > clock_timestamp()
      AND CASE WHEN $4::bigint = 0 THEN true WHEN b.room = -2 OR (b.room < -1 AND $4::bigint > 0)
        THEN (b.room < -1 AND b.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (b.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))
        WHEN $4::bigint < 0 THEN true
        ELSE $3::bigint >= 0
          AND b.enqueued_at <= clock_timestamp() - $4::bigint * interval '1 microsecond' END
      AND (b.room IS DISTINCT FROM 9223372036854775807 OR $3::bigint <> 9223372036854775807)
      AND b.attempt IS DISTINCT FROM l.acquisition),
  EXISTS (SELECT FROM place.rowlock_waiter o WHERE o.ticket = $2::bigint),
  l.owner IS NULL OR coalesce(l.expires_at <= clock_timestamp()
    OR (l.owner = '(shared)' AND l.sharers <= $3::bigint), false),
  (extract(epoch FROM (CASE l.expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE l.expires_at END) - clock_timestamp()) * 1000000)::bigint, l.version,
  CASE WHEN l.owner IS NOT NULL THEN l.acquisition END, l.waiting
FROM (SELECT) one LEFT JOIN place.rowlock_lock l ON l.name = $1::text

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

SELECT w.name, EXISTS (SELECT FROM place.rowlock_waiter b
    WHERE b.name = w.name AND b.ticket < w.turn AND b.expires_at > clock_timestamp()
      AND CASE WHEN w.patience = 0 THEN true WHEN b.room = -2 OR (b.room < -1 AND w.patience > 0) THEN (b.room < -1 AND b.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (b.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))
        WHEN w.patience < 0 THEN true
        ELSE w.room >= 0 AND b.enqueued_at <= clock_timestamp() - w.patience * interval '1 microsecond' END
      AND (b.room IS DISTINCT FROM 9223372036854775807 OR w.room <> 9223372036854775807)
      AND b.attempt IS DISTINCT FROM l.acquisition),
  EXISTS (SELECT FROM place.rowlock_waiter o WHERE o.ticket = w.turn),
  l.owner IS NULL OR coalesce(l.expires_at <= clock_timestamp() OR (l.owner = '(shared)' AND l.sharers <= w.room),
    false),
  (extract(epoch FROM (CASE l.expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE l.expires_at END) - clock_timestamp()) * 1000000)::bigint, l.version,
  CASE WHEN l.owner IS NOT NULL THEN l.acquisition END, l.waiting
FROM (SELECT name COLLATE "C" AS name, turn, room, patience
         FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) AS u (name, turn, room,
           patience)) w LEFT JOIN place.rowlock_lock l ON l.name = w.name

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

SELECT name, ticket, owner, thread, (extract(epoch FROM clock_timestamp() - (CASE enqueued_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE enqueued_at END)) * 1000000)::bigint, note FROM place.rowlock_waiter
  WHERE name >= $1::text AND name < coalesce($2::text, repeat(convert_from('\xf48fbfbf', 'UTF8'), 64))
  AND expires_at > clock_timestamp() ORDER BY name, ticket

--- plain, durable_release, transaction_pooling, both, guarded, relaxed
SELECT pg_notify('rowlock_' || right($1::text, 16), '')::text

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

SELECT name, CASE WHEN NOT EXISTS (SELECT FROM place.rowlock_lock l
    WHERE l.name = w.name AND l.owner <> '(shared)' AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())) THEN
  (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = w.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = w.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> '' AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END
FROM (
    SELECT DISTINCT name FROM (SELECT name, expires_at FROM place.rowlock_waiter
      WHERE name > $1::text ORDER BY name, ticket LIMIT $2::bigint) page) w

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

INSERT INTO place.rowlock_edge AS e (ticket, name, acquisition) SELECT $1::bigint, $2::text, $3::text
  WHERE true AND set_config('synchronous_commit', 'off', true) IS NOT NULL
ON CONFLICT (ticket, name) DO UPDATE SET acquisition = excluded.acquisition

--- plain, durable_release, transaction_pooling, both, guarded, relaxed
DELETE FROM place.rowlock_edge WHERE ticket = $1::bigint AND set_config('synchronous_commit', 'off', true) IS NOT NULL

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

SELECT q.name, q.ticket, q.owner, q.thread, e.name
FROM place.rowlock_edge e JOIN place.rowlock_waiter q ON q.ticket = e.ticket AND q.expires_at > clock_timestamp()
LEFT JOIN place.rowlock_lock l
  ON l.name = e.name AND l.owner IS NOT NULL AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())
WHERE (e.acquisition = '' OR l.acquisition = e.acquisition OR EXISTS (SELECT FROM place.rowlock_share s
    WHERE s.name = e.name AND s.acquisition = e.acquisition AND s.since = l.acquisition
      AND s.expires_at > clock_timestamp()))
  AND NOT EXISTS (SELECT FROM place.rowlock_share s WHERE s.name = q.name AND s.owner = q.owner AND s.thread = q.thread
    AND s.acquired_at > q.enqueued_at)
ORDER BY q.ticket, e.name

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

DELETE FROM place.rowlock_edge e
WHERE NOT EXISTS (SELECT FROM place.rowlock_waiter q WHERE q.ticket = e.ticket) AND set_config('synchronous_commit', 'off', true) IS NOT NULL

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

SELECT name, version, owner, thread, acquisition, (extract(epoch FROM clock_timestamp() - (CASE acquired_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE acquired_at END)) * 1000000)::bigint,
  (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint, note, expires_at IS NULL, waiting FROM place.rowlock_lock WHERE name = $1::text

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

SELECT name, version, owner, thread, acquisition, (extract(epoch FROM clock_timestamp() - (CASE acquired_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE acquired_at END)) * 1000000)::bigint,
  (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint, note, expires_at IS NULL, waiting FROM place.rowlock_lock
    WHERE name = ANY ($1::text[])

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

SELECT name, version, owner, thread, acquisition, (extract(epoch FROM clock_timestamp() - (CASE acquired_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE acquired_at END)) * 1000000)::bigint,
  (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint, note, expires_at IS NULL,
  CASE owner WHEN '(shared)' THEN (
    SELECT least(coalesce(sum(greatest(s.permits, 0)), 0), 9223372036854775807)::bigint FROM place.rowlock_share s
    WHERE s.name = l.name AND s.since = l.acquisition AND s.expires_at > clock_timestamp()) END
FROM place.rowlock_lock l
WHERE name >= $1::text AND name < coalesce($2::text, repeat(convert_from('\xf48fbfbf', 'UTF8'), 64)) AND owner IS NOT NULL
AND (expires_at IS NULL OR expires_at > clock_timestamp()) ORDER BY name

--- plain, transaction_pooling, guarded, relaxed

SELECT name, version, owner, thread, acquisition, (extract(epoch FROM clock_timestamp() - (CASE acquired_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE acquired_at END)) * 1000000)::bigint,
  (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint, note, expires_at IS NULL, EXISTS (
  SELECT FROM place.rowlock_lock l WHERE l.name = $1::text AND l.owner IS NULL AND set_config('synchronous_commit', 'off', true) IS NOT NULL FOR UPDATE SKIP LOCKED)::integer
FROM place.rowlock_lock WHERE name = $1::text

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

WITH held AS MATERIALIZED (
  SELECT k.transactionid, k.pid, a.application_name, a.xact_start
  FROM pg_catalog.pg_locks k LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = k.pid
  WHERE k.locktype = 'transactionid' AND k.granted AND k.mode = 'ExclusiveLock')
SELECT l.name, 0::bigint, h.application_name, h.pid::bigint, NULL::text,
  (extract(epoch FROM clock_timestamp() - h.xact_start) * 1000000)::bigint, NULL::bigint, NULL::text, true
FROM place.rowlock_lock l JOIN held h ON h.transactionid = l.xmax
WHERE (l.owner IS NULL OR l.expires_at <= clock_timestamp()) AND
l.name >= $1::text AND l.name < coalesce($2::text, repeat(convert_from('\xf48fbfbf', 'UTF8'), 64)) ORDER BY l.name

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

WITH named AS MATERIALIZED (SELECT name, xmax AS keeper, tableoid AS home FROM place.rowlock_lock WHERE name = $1::text),
several AS MATERIALIZED (
  SELECT name, CASE WHEN mxid_age(keeper) BETWEEN 1 AND (SELECT max(mxid_age(datminmxid)) FROM pg_catalog.pg_database)
    THEN keeper END AS list FROM named),
keepers AS MATERIALIZED (
  SELECT name, keeper, 1 AS place FROM named
  UNION ALL SELECT s.name, m.xid, CASE WHEN m.mode IN ('keysh', 'sh') THEN 2 ELSE 3 END
  FROM several s, LATERAL pg_get_multixact_members(s.list) m),
found AS MATERIALIZED (
  SELECT f.name, f.place, k.pid FROM keepers f JOIN pg_catalog.pg_locks k ON k.transactionid = f.keeper
  WHERE k.locktype = 'transactionid' AND k.granted AND k.mode = 'ExclusiveLock'
    AND EXISTS (SELECT FROM pg_catalog.pg_locks t
    WHERE t.pid = k.pid AND t.locktype = 'relation' AND t.relation = (SELECT home FROM named) AND t.granted
      AND t.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())))
SELECT f.name, 0::bigint, a.application_name, f.pid::bigint, NULL::text,
  (extract(epoch FROM clock_timestamp() - a.xact_start) * 1000000)::bigint, NULL::bigint, NULL::text, true
FROM found f LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = f.pid ORDER BY f.place, f.pid

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

WITH named AS MATERIALIZED (SELECT name, xmax AS keeper, tableoid AS home FROM place.rowlock_lock WHERE name = $1::text),
several AS MATERIALIZED (
  SELECT name, CASE WHEN mxid_age(keeper) BETWEEN 1 AND (SELECT max(mxid_age(datminmxid)) FROM pg_catalog.pg_database)
    THEN keeper END AS list FROM named),
keepers AS MATERIALIZED (
  SELECT name, keeper, 1 AS place FROM named
  UNION ALL SELECT s.name, m.xid, CASE WHEN m.mode IN ('keysh', 'sh') THEN 2 ELSE 3 END
  FROM several s, LATERAL pg_get_multixact_members(s.list) m),
found AS MATERIALIZED (
  SELECT f.name, f.place, k.pid FROM keepers f JOIN pg_catalog.pg_locks k ON k.transactionid = f.keeper
  WHERE k.locktype = 'transactionid' AND k.granted AND k.mode = 'ExclusiveLock'
    AND EXISTS (SELECT FROM pg_catalog.pg_locks t
    WHERE t.pid = k.pid AND t.locktype = 'relation' AND t.relation = (SELECT home FROM named) AND t.granted
      AND t.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())))
SELECT 1 FROM found HAVING count(*) > 0 AND bool_and(pid = $2::integer)

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

WITH named AS MATERIALIZED (SELECT name, xmax AS keeper, tableoid AS home FROM place.rowlock_lock WHERE name = $1::text),
several AS MATERIALIZED (
  SELECT name, CASE WHEN mxid_age(keeper) BETWEEN 1 AND (SELECT max(mxid_age(datminmxid)) FROM pg_catalog.pg_database)
    THEN keeper END AS list FROM named),
keepers AS MATERIALIZED (
  SELECT name, keeper, 1 AS place FROM named
  UNION ALL SELECT s.name, m.xid, CASE WHEN m.mode IN ('keysh', 'sh') THEN 2 ELSE 3 END
  FROM several s, LATERAL pg_get_multixact_members(s.list) m),
found AS MATERIALIZED (
  SELECT f.name, f.place, k.pid FROM keepers f JOIN pg_catalog.pg_locks k ON k.transactionid = f.keeper
  WHERE k.locktype = 'transactionid' AND k.granted AND k.mode = 'ExclusiveLock'
    AND EXISTS (SELECT FROM pg_catalog.pg_locks t
    WHERE t.pid = k.pid AND t.locktype = 'relation' AND t.relation = (SELECT home FROM named) AND t.granted
      AND t.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())))
SELECT pg_terminate_backend(pid)::integer FROM (SELECT DISTINCT pid FROM found WHERE pid = $2::integer) f

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

SELECT (SELECT count(*) FROM place.rowlock_lock), count(*), (extract(epoch FROM clock_timestamp() - min((CASE enqueued_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE enqueued_at END))) * 1000000)::bigint
FROM place.rowlock_waiter WHERE expires_at > clock_timestamp()

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

WITH page AS MATERIALIZED (
  SELECT name, version, expires_at <= clock_timestamp() - $3::bigint * interval '1 microsecond'
    AND version <= (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - $3::bigint AS is_unused
  FROM place.rowlock_lock WHERE name > $1::text ORDER BY name LIMIT $2::bigint)
SELECT name, 1, version FROM page WHERE is_unused
  UNION ALL (SELECT name, 0, version FROM page ORDER BY name DESC LIMIT 1)

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

INSERT INTO place.rowlock_share AS s (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at)
VALUES ('', '', '', 0, $1::bigint, '', '', 'epoch', 'epoch')
ON CONFLICT (name, acquisition) DO UPDATE SET token = excluded.token WHERE s.token < excluded.token

--- plain, durable_release, guarded

DELETE FROM place.rowlock_lock l
USING (SELECT w.name FROM (
    SELECT * FROM unnest($1::text[], $2::bigint[]) AS u (name, retention) ORDER BY name COLLATE "C") w,
      LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.expires_at <= clock_timestamp() - w.retention * interval '1 microsecond'
    AND r.version <= (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - w.retention
      AND r.version <= (SELECT token FROM place.rowlock_share WHERE name = '' AND acquisition = '')
  FOR UPDATE SKIP LOCKED) unused) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.name

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

WITH page AS MATERIALIZED (
  SELECT ticket, name, attempt,
    expires_at <= clock_timestamp() - $3::bigint * interval '1 microsecond' AS is_dead
  FROM place.rowlock_waiter WHERE ticket > $1::bigint ORDER BY ticket LIMIT $2::bigint)
SELECT ticket, name, attempt, 1 FROM page WHERE is_dead
UNION ALL (SELECT ticket, name, attempt, 0 FROM page ORDER BY ticket DESC LIMIT 1)

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

DELETE FROM place.rowlock_waiter t
USING (SELECT w.ticket FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS u (name, attempt,
      ticket, retention)) w,
  LATERAL (
    SELECT FROM place.rowlock_waiter r WHERE r.ticket = w.ticket AND r.attempt = w.attempt
      AND r.expires_at <= clock_timestamp() - w.retention * interval '1 microsecond' AND set_config('synchronous_commit', 'off', true) IS NOT NULL
    FOR UPDATE SKIP LOCKED) dead) w
WHERE t.ticket = w.ticket
RETURNING t.attempt

--- plain, durable_release, guarded, relaxed

WITH own AS MATERIALIZED (
  SELECT name, expires_at FROM place.rowlock_lock
  WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
    AND expires_at > clock_timestamp()
  FOR KEY SHARE SKIP LOCKED)
UPDATE place.rowlock_job_run r SET finished_at = clock_timestamp(), result = 'lost' FROM own
WHERE own.expires_at > clock_timestamp() AND r.job = own.name AND r.finished_at IS NULL
  AND r.token <> $3::bigint

--- plain, durable_release, guarded, relaxed

WITH own AS MATERIALIZED (
  SELECT name, owner, expires_at FROM place.rowlock_lock
  WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
    AND expires_at > clock_timestamp()
  FOR KEY SHARE SKIP LOCKED),
period AS MATERIALIZED (
  SELECT timestamptz 'epoch' + $4::bigint * interval '1 microsecond' AS begins,
    timestamptz 'epoch' + $5::bigint * interval '1 microsecond' AS ends)
INSERT INTO place.rowlock_job_run (job, period_begin, attempt, period_end, owner, token, started_at)
SELECT own.name, p.begins, (SELECT coalesce(max(r.attempt), 0) + 1 FROM place.rowlock_job_run r
    WHERE r.job = own.name AND r.period_begin = p.begins), p.ends, own.owner, $3::bigint, clock_timestamp()
FROM own, period p
WHERE own.expires_at > clock_timestamp()
  AND NOT EXISTS (SELECT FROM place.rowlock_job_run r WHERE r.job = own.name AND r.period_begin = p.begins
    AND (r.succeeded = 1 OR r.token = $3::bigint OR r.attempt >= $6::bigint
      OR r.finished_at <= clock_timestamp()
        AND r.finished_at > clock_timestamp() - $7::bigint * interval '1 microsecond'))
ON CONFLICT DO NOTHING

--- plain, durable_release, guarded, relaxed

WITH own AS MATERIALIZED (
  SELECT name, expires_at FROM place.rowlock_lock
  WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
    AND expires_at > clock_timestamp()
  FOR KEY SHARE SKIP LOCKED)
UPDATE place.rowlock_job_run r SET finished_at = clock_timestamp(), result = $5::text,
  exit_status = $6::bigint, signal_number = $7::bigint, output = $8::text,
  succeeded = CASE WHEN $5::text = 'succeeded' THEN 1 END
FROM own
WHERE own.expires_at > clock_timestamp() AND r.job = own.name
  AND r.period_begin = timestamptz 'epoch' + $4::bigint * interval '1 microsecond'
  AND r.token = $3::bigint AND r.finished_at IS NULL

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

SELECT r.job, (extract(epoch FROM r.period_begin) * 1000000)::bigint, (extract(epoch FROM r.period_end) * 1000000)::bigint, r.attempt::bigint, r.owner, r.token, (extract(epoch FROM r.started_at) * 1000000)::bigint,
  (extract(epoch FROM r.finished_at) * 1000000)::bigint, coalesce(r.result, CASE WHEN EXISTS (SELECT FROM place.rowlock_lock l
    WHERE l.name = r.job AND l.version = r.token AND l.owner IS NOT NULL AND l.expires_at > clock_timestamp())
    THEN 'running' ELSE 'lost' END), r.exit_status::bigint, r.signal_number::bigint, r.output, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
FROM place.rowlock_job_run r
WHERE r.job = $1::text AND r.period_begin = timestamptz 'epoch' + $2::bigint * interval '1 microsecond'
ORDER BY r.attempt DESC

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

SELECT r.job, (extract(epoch FROM r.period_begin) * 1000000)::bigint, (extract(epoch FROM r.period_end) * 1000000)::bigint, r.attempt::bigint, r.owner, r.token, (extract(epoch FROM r.started_at) * 1000000)::bigint,
  (extract(epoch FROM r.finished_at) * 1000000)::bigint, coalesce(r.result, CASE WHEN EXISTS (SELECT FROM place.rowlock_lock l
    WHERE l.name = r.job AND l.version = r.token AND l.owner IS NOT NULL AND l.expires_at > clock_timestamp())
    THEN 'running' ELSE 'lost' END), r.exit_status::bigint, r.signal_number::bigint, r.output
FROM (SELECT *, row_number() OVER (PARTITION BY job, CASE WHEN $4::bigint = 1 THEN result END
    ORDER BY period_begin DESC, attempt DESC) AS place
  FROM place.rowlock_job_run
  WHERE job >= $1::text AND ($2::text IS NULL OR job < $2::text)) r
WHERE r.place <= $3::bigint ORDER BY r.job, r.period_begin DESC, r.attempt DESC

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

DELETE FROM place.rowlock_job_run d
USING (SELECT r.job, r.period_begin, r.attempt FROM place.rowlock_job_run r
  WHERE r.period_end <= clock_timestamp() - $2::bigint * interval '1 microsecond'
    AND (SELECT n.attempt FROM place.rowlock_job_run n
      WHERE n.job = r.job AND (n.period_begin, n.attempt) >= (r.period_begin, r.attempt)
      ORDER BY n.period_begin, n.attempt LIMIT 1 OFFSET $1::bigint) IS NOT NULL
  ORDER BY r.period_end LIMIT $3::bigint FOR UPDATE OF r SKIP LOCKED) old
WHERE d.job = old.job AND d.period_begin = old.period_begin AND d.attempt = old.attempt
RETURNING 1::bigint

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

SELECT version, serves_from,
  installation || '/' || encode(convert_to(current_database(), 'UTF8'), 'hex') || '/' || tableoid::text,
  (extract(epoch FROM applied_at) * 1000000)::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, checksum
FROM place.rowlock_migration ORDER BY version DESC

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

WITH made AS (INSERT INTO place.rowlock_lock (name, version) SELECT '', 0 WHERE false),
  changed AS (UPDATE place.rowlock_lock SET version = version WHERE false),
  waiting AS (INSERT INTO place.rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at, note)
    SELECT '', '', '', '', now(), now(), '' WHERE false),
  staying AS (UPDATE place.rowlock_waiter SET expires_at = expires_at WHERE false),
  leaving AS (DELETE FROM place.rowlock_waiter WHERE false),
  sharing AS (DELETE FROM place.rowlock_share WHERE false),
  holding AS (DELETE FROM place.rowlock_edge WHERE false),
  beginning AS (INSERT INTO place.rowlock_job_run SELECT * FROM place.rowlock_job_run WHERE false),
  ending AS (UPDATE place.rowlock_job_run SET token = token WHERE false),
  forgetting AS (DELETE FROM place.rowlock_job_run WHERE false),
  removing AS (DELETE FROM place.rowlock_lock WHERE false)
SELECT c.relname::text FROM pg_catalog.pg_class c
WHERE c.relnamespace = (SELECT h.relnamespace FROM pg_catalog.pg_class h
    WHERE h.oid = (SELECT tableoid FROM place.rowlock_migration LIMIT 1))
  AND c.relname IN ('rowlock_' || 'lock', 'rowlock_' || 'waiter', 'rowlock_' || 'share', 'rowlock_' || 'edge',
    'rowlock_' || 'job_run')
  AND row_security_active(c.oid) AND (
    NOT EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid AND p.polpermissive AND p.polcmd = '*'
      AND pg_get_expr(p.polqual, p.polrelid) = 'true'
      AND coalesce(pg_get_expr(p.polwithcheck, p.polrelid), 'true') = 'true'
      AND EXISTS (SELECT FROM unnest(p.polroles) r WHERE r = 0 OR pg_has_role(r, 'USAGE')))
    OR EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid AND NOT p.polpermissive))
ORDER BY c.relname LIMIT 1

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

SELECT name, setting FROM pg_catalog.pg_settings
  WHERE name IN ('fsync', 'full_page_writes', 'synchronous_standby_names')
UNION ALL SELECT 'server', 'PostgreSQL ' || current_setting('server_version')
UNION ALL SELECT 'user', current_user::text
UNION ALL SELECT 'database', current_database()::text
UNION ALL SELECT 'ssl_version', coalesce(version, '') FROM pg_catalog.pg_stat_ssl WHERE pid = pg_backend_pid()
UNION ALL SELECT 'ssl_cipher', cipher FROM pg_catalog.pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl
UNION ALL SELECT 'gss', encrypted::text FROM pg_catalog.pg_stat_gssapi WHERE pid = pg_backend_pid()
UNION ALL SELECT 'standbys', count(*)::text FROM pg_catalog.pg_stat_replication
UNION ALL SELECT 'may_end_sessions', pg_has_role('pg_signal_backend', 'USAGE')::text

--- plain, durable_release, transaction_pooling, both, guarded, relaxed
UPDATE place.rowlock_migration SET checksum = $2::text WHERE version = $1::integer AND checksum IS NULL

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

SELECT term, incarnation, quarantine, (extract(epoch FROM grants_from - clock_timestamp()) * 1000000)::bigint, (extract(epoch FROM since) * 1000000)::bigint, relaxed_from IS NOT NULL
FROM place.rowlock_guard

--- plain, durable_release, transaction_pooling, both, guarded, relaxed
SELECT term FROM place.rowlock_witness

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

SELECT CASE WHEN NOT pg_is_in_recovery() THEN
  (SELECT system_identifier FROM pg_control_system())::text || '/' ||
    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END

--- plain, durable_release, guarded, relaxed

WITH changed AS (
  UPDATE place.rowlock_guard SET term = $5::bigint, incarnation = $2::text, quarantine = $3::bigint,
    since = clock_timestamp(),
    relaxed_from = CASE WHEN $6::bigint = 1
      THEN coalesce(relaxed_from, clock_timestamp() + interval '20 seconds') END,
    grants_from = clock_timestamp() + interval '1 microsecond' * coalesce($4::bigint, CASE WHEN EXISTS (
      SELECT FROM place.rowlock_lock WHERE owner IS NOT NULL
        AND expires_at > clock_timestamp() + $3::bigint * interval '1 microsecond')
      THEN $3::bigint ELSE 0 END)
  WHERE term = $1::bigint
  RETURNING term, relaxed_from),
witnessed AS (
  INSERT INTO place.rowlock_witness (id, term) SELECT 1, term FROM changed WHERE relaxed_from IS NOT NULL
  ON CONFLICT (id) DO UPDATE SET term = excluded.term)
SELECT term FROM changed

--- plain, durable_release, transaction_pooling, both, guarded, relaxed
LOCK TABLE place.rowlock_witness IN EXCLUSIVE MODE

--- plain, durable_release, guarded, relaxed

UPDATE place.rowlock_migration SET serves_from = $2::integer WHERE version >= $1::integer
RETURNING version

--- plain, transaction_pooling

WITH spent AS (DELETE FROM place.rowlock_waiter WHERE name = $1::text AND attempt = $2::text)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT $1::text AS name, $2::text AS acquisition) w CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM place.rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL AND set_config('synchronous_commit', 'off', true) IS NOT NULL
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND false AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND false AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN nullif('', '') || concat('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting

--- plain, transaction_pooling

WITH spent AS (
  DELETE FROM place.rowlock_waiter t USING unnest($1::text[], $2::text[]) AS u (name, acquisition)
  WHERE t.name = u.name COLLATE "C" AND t.attempt = u.acquisition)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT * FROM unnest($1::text[], $2::text[]) AS u (name, acquisition) ORDER BY name COLLATE "C") w
    CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM place.rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL AND set_config('synchronous_commit', 'off', true) IS NOT NULL
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND false AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND false AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN nullif('', '') || concat('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting

--- plain, durable_release, guarded

UPDATE place.rowlock_lock SET expires_at = acquired_at + $3::bigint * interval '1 microsecond', thread = '(released)'
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
    AND expires_at > clock_timestamp()
  FOR NO KEY UPDATE SKIP LOCKED)
RETURNING acquisition,
  (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> left($2::text, 16) AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255)

--- plain, durable_release, guarded

UPDATE place.rowlock_lock l SET expires_at = l.acquired_at + w.stay * interval '1 microsecond', thread = '(released)'
FROM (SELECT w.* FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, stay)
    ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND r.expires_at > clock_timestamp()
  FOR NO KEY UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.acquisition,
  (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> left(l.acquisition, 16) AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255)

--- plain, durable_release, guarded

WITH freed AS (
  UPDATE place.rowlock_lock SET owner = NULL, thread = NULL, note = NULL,
    version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), expires_at = clock_timestamp()
  WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND version = $2::bigint AND owner IS NOT NULL FOR UPDATE SKIP LOCKED)
  RETURNING name, acquisition),
spent AS (
  DELETE FROM place.rowlock_waiter w USING freed WHERE w.name = freed.name AND w.attempt = freed.acquisition)
SELECT freed.name,
  (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.attempt IS DISTINCT FROM freed.acquisition AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.attempt IS DISTINCT FROM freed.acquisition AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> '' AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255)
FROM freed

--- plain, guarded, relaxed

WITH own AS MATERIALIZED (
  SELECT r.acquisition, clock_timestamp() AS at FROM (
    SELECT acquisition FROM place.rowlock_lock WHERE name = $1::text AND owner = '(shared)' AND set_config('synchronous_commit', 'off', true) IS NOT NULL
    FOR UPDATE) r),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = $1::text AND s.acquisition = $2::text AND s.since = own.acquisition
    AND ($3::bigint = 0 OR s.expires_at <= own.at)
  RETURNING s.permits, own.at)
UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
  owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
  version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
  expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
FROM gone g WHERE l.name = $1::text
RETURNING $2::text, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
    WHERE q.name = $1::text AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
  (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> CASE WHEN $3::bigint = 0 THEN left($2::text, 16) ELSE '' END AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END,
  l.waiting

--- plain, guarded, relaxed

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, expired)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)' AND set_config('synchronous_commit', 'off', true) IS NOT NULL
      FOR UPDATE) r) k),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND (own.expired = 0 OR s.expires_at <= own.at)
  RETURNING s.name, s.acquisition, s.permits, own.expired, own.at),
freed AS (
  UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
    owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
    version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
    expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
  FROM (SELECT name, sum(permits)::bigint AS permits, max(at) AS at, array_agg(acquisition) AS acquisitions,
      CASE WHEN max(expired) = 0 THEN left(min(acquisition), 16) ELSE '' END AS teller FROM gone GROUP BY name) g
  WHERE l.name = g.name
  RETURNING g.acquisitions, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
      WHERE q.name = l.name AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
    (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> g.teller AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END AS told, l.waiting)
SELECT unnest(acquisitions), told, waiting FROM freed

--- plain, guarded, relaxed

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, expired)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)' AND set_config('synchronous_commit', 'off', true) IS NOT NULL
      FOR UPDATE SKIP LOCKED) r) k),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND (own.expired = 0 OR s.expires_at <= own.at)
  RETURNING s.name, s.acquisition, s.permits, own.expired, own.at),
freed AS (
  UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
    owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
    version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
    expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
  FROM (SELECT name, sum(permits)::bigint AS permits, max(at) AS at, array_agg(acquisition) AS acquisitions,
      CASE WHEN max(expired) = 0 THEN left(min(acquisition), 16) ELSE '' END AS teller FROM gone GROUP BY name) g
  WHERE l.name = g.name
  RETURNING g.acquisitions, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
      WHERE q.name = l.name AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
    (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> g.teller AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END AS told, l.waiting)
SELECT unnest(acquisitions), told, waiting FROM freed

--- plain, durable_release, guarded, relaxed

WITH gone AS (DELETE FROM place.rowlock_waiter WHERE ticket = $3::bigint AND attempt = $2::text AND set_config('synchronous_commit', 'off', true) IS NOT NULL)
SELECT w.attempt, CASE WHEN NOT EXISTS (SELECT FROM place.rowlock_lock l
    WHERE l.name = w.name AND l.owner <> '(shared)' AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())) THEN
  (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = w.name AND right(q.owner, 16) <> left(w.attempt, 16) AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = w.name AND right(q.owner, 16) <> left(w.attempt, 16) AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> left(w.attempt, 16) AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END
FROM (SELECT $1::text AS name, $2::text AS attempt) w

--- plain, durable_release, guarded, relaxed

WITH wanted AS MATERIALIZED (
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, attempt, ticket)),
gone AS (
  DELETE FROM place.rowlock_waiter t USING wanted u
  WHERE t.ticket = u.ticket AND t.attempt = u.attempt AND set_config('synchronous_commit', 'off', true) IS NOT NULL)
SELECT w.attempt, CASE WHEN NOT EXISTS (SELECT FROM place.rowlock_lock l
    WHERE l.name = w.name AND l.owner <> '(shared)' AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())) THEN
  (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = w.name AND right(q.owner, 16) <> left(w.attempt, 16) AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = w.name AND right(q.owner, 16) <> left(w.attempt, 16) AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> left(w.attempt, 16) AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END
FROM wanted w

--- plain, durable_release, transaction_pooling, both, guarded, relaxed

SELECT name, CASE WHEN NOT EXISTS (SELECT FROM place.rowlock_lock l
    WHERE l.name = w.name AND l.owner <> '(shared)' AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())) THEN
  (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = w.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = w.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> '' AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END
FROM (
    SELECT DISTINCT name FROM (SELECT name, expires_at FROM place.rowlock_waiter
      WHERE name > $1::text ORDER BY name, ticket LIMIT $2::bigint) page) w

--- durable_release

UPDATE place.rowlock_lock SET owner = NULL, thread = NULL, note = NULL,
  version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), expires_at = clock_timestamp()
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND owner IS NOT NULL AND expires_at <= clock_timestamp() FOR UPDATE SKIP LOCKED)

--- durable_release

WITH spent AS (DELETE FROM place.rowlock_waiter WHERE name = $1::text AND attempt = $2::text)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT $1::text AS name, $2::text AS acquisition) w CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM place.rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN pg_notify('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting

--- durable_release

WITH spent AS (
  DELETE FROM place.rowlock_waiter t USING unnest($1::text[], $2::text[]) AS u (name, acquisition)
  WHERE t.name = u.name COLLATE "C" AND t.attempt = u.acquisition)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT * FROM unnest($1::text[], $2::text[]) AS u (name, acquisition) ORDER BY name COLLATE "C") w
    CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM place.rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN pg_notify('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting

--- durable_release

UPDATE place.rowlock_lock SET owner = NULL, thread = NULL, note = NULL,
  version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), expires_at = clock_timestamp()
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL AND NOT waiting
  FOR UPDATE SKIP LOCKED)
RETURNING acquisition

--- durable_release

UPDATE place.rowlock_lock l SET owner = NULL, thread = NULL, note = NULL, version = greatest(l.version + 1, (extract(epoch FROM w.at) * 1000000)::bigint),
  expires_at = w.at
FROM (SELECT w.*, clock_timestamp() AS at FROM (
    SELECT * FROM unnest($1::text[], $2::text[]) AS u (name, acquisition) ORDER BY name COLLATE "C") w,
      LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND NOT r.waiting
  FOR UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.acquisition

--- durable_release

WITH own AS MATERIALIZED (
  SELECT r.acquisition, clock_timestamp() AS at FROM (
    SELECT acquisition FROM place.rowlock_lock WHERE name = $1::text AND owner = '(shared)'
    FOR UPDATE) r),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = $1::text AND s.acquisition = $2::text AND s.since = own.acquisition
    AND ($3::bigint = 0 OR s.expires_at <= own.at)
  RETURNING s.permits, own.at)
UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
  owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
  version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
  expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
FROM gone g WHERE l.name = $1::text
RETURNING $2::text, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
    WHERE q.name = $1::text AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
  (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> CASE WHEN $3::bigint = 0 THEN left($2::text, 16) ELSE '' END AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END,
  l.waiting

--- durable_release

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, expired)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)'
      FOR UPDATE) r) k),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND (own.expired = 0 OR s.expires_at <= own.at)
  RETURNING s.name, s.acquisition, s.permits, own.expired, own.at),
freed AS (
  UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
    owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
    version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
    expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
  FROM (SELECT name, sum(permits)::bigint AS permits, max(at) AS at, array_agg(acquisition) AS acquisitions,
      CASE WHEN max(expired) = 0 THEN left(min(acquisition), 16) ELSE '' END AS teller FROM gone GROUP BY name) g
  WHERE l.name = g.name
  RETURNING g.acquisitions, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
      WHERE q.name = l.name AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
    (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> g.teller AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END AS told, l.waiting)
SELECT unnest(acquisitions), told, waiting FROM freed

--- durable_release

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, expired)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)'
      FOR UPDATE SKIP LOCKED) r) k),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND (own.expired = 0 OR s.expires_at <= own.at)
  RETURNING s.name, s.acquisition, s.permits, own.expired, own.at),
freed AS (
  UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
    owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
    version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
    expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
  FROM (SELECT name, sum(permits)::bigint AS permits, max(at) AS at, array_agg(acquisition) AS acquisitions,
      CASE WHEN max(expired) = 0 THEN left(min(acquisition), 16) ELSE '' END AS teller FROM gone GROUP BY name) g
  WHERE l.name = g.name
  RETURNING g.acquisitions, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
      WHERE q.name = l.name AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
    (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> g.teller AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END AS told, l.waiting)
SELECT unnest(acquisitions), told, waiting FROM freed

--- durable_release

SELECT name, version, owner, thread, acquisition, (extract(epoch FROM clock_timestamp() - (CASE acquired_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE acquired_at END)) * 1000000)::bigint,
  (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint, note, expires_at IS NULL, EXISTS (
  SELECT FROM place.rowlock_lock l WHERE l.name = $1::text AND l.owner IS NULL FOR UPDATE SKIP LOCKED)::integer
FROM place.rowlock_lock WHERE name = $1::text

--- durable_release

WITH spent AS (DELETE FROM place.rowlock_waiter WHERE name = $1::text AND attempt = $2::text)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT $1::text AS name, $2::text AS acquisition) w CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM place.rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND false AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND false AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN nullif('', '') || concat('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting

--- durable_release

WITH spent AS (
  DELETE FROM place.rowlock_waiter t USING unnest($1::text[], $2::text[]) AS u (name, acquisition)
  WHERE t.name = u.name COLLATE "C" AND t.attempt = u.acquisition)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT * FROM unnest($1::text[], $2::text[]) AS u (name, acquisition) ORDER BY name COLLATE "C") w
    CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM place.rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND false AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND false AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN nullif('', '') || concat('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting

--- durable_release

WITH own AS MATERIALIZED (
  SELECT r.acquisition, clock_timestamp() AS at FROM (
    SELECT acquisition FROM place.rowlock_lock WHERE name = $1::text AND owner = '(shared)'
    FOR UPDATE) r),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = $1::text AND s.acquisition = $2::text AND s.since = own.acquisition
    AND ($3::bigint = 0 OR s.expires_at <= own.at)
  RETURNING s.permits, own.at)
UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
  owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
  version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
  expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
FROM gone g WHERE l.name = $1::text
RETURNING $2::text, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
    WHERE q.name = $1::text AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
  (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> CASE WHEN $3::bigint = 0 THEN left($2::text, 16) ELSE '' END AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END,
  l.waiting

--- durable_release

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, expired)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)'
      FOR UPDATE) r) k),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND (own.expired = 0 OR s.expires_at <= own.at)
  RETURNING s.name, s.acquisition, s.permits, own.expired, own.at),
freed AS (
  UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
    owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
    version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
    expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
  FROM (SELECT name, sum(permits)::bigint AS permits, max(at) AS at, array_agg(acquisition) AS acquisitions,
      CASE WHEN max(expired) = 0 THEN left(min(acquisition), 16) ELSE '' END AS teller FROM gone GROUP BY name) g
  WHERE l.name = g.name
  RETURNING g.acquisitions, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
      WHERE q.name = l.name AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
    (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> g.teller AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END AS told, l.waiting)
SELECT unnest(acquisitions), told, waiting FROM freed

--- durable_release

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, expired)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)'
      FOR UPDATE SKIP LOCKED) r) k),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND (own.expired = 0 OR s.expires_at <= own.at)
  RETURNING s.name, s.acquisition, s.permits, own.expired, own.at),
freed AS (
  UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
    owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
    version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
    expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
  FROM (SELECT name, sum(permits)::bigint AS permits, max(at) AS at, array_agg(acquisition) AS acquisitions,
      CASE WHEN max(expired) = 0 THEN left(min(acquisition), 16) ELSE '' END AS teller FROM gone GROUP BY name) g
  WHERE l.name = g.name
  RETURNING g.acquisitions, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
      WHERE q.name = l.name AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
    (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> g.teller AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END AS told, l.waiting)
SELECT unnest(acquisitions), told, waiting FROM freed

--- transaction_pooling, both

WITH seen AS MATERIALIZED (
  SELECT owner, expires_at, waiting FROM place.rowlock_lock WHERE name = $1::text),
taken AS (
  UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = $2::text,
    thread = $3::text, acquisition = $4::text, acquired_at = clock_timestamp(),
    expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond', note = $6::text
  WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp()) AND NOT waiting AND set_config('synchronous_commit', 'on', true) IS NOT NULL
    FOR UPDATE SKIP LOCKED)
  RETURNING version),
made AS (
  INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT $1::text, greatest((SELECT token FROM place.rowlock_share WHERE name = '' AND acquisition = '') + 1,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), $2::text, $3::text, $4::text, clock_timestamp(),
    clock_timestamp() + $5::bigint * interval '1 microsecond', $6::text
  WHERE NOT EXISTS (SELECT FROM seen) AND set_config('synchronous_commit', 'on', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL ON CONFLICT (name) DO NOTHING
  RETURNING version)
SELECT $4::text, NULL::bigint, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint, (owner = '(shared)')::integer FROM seen
WHERE waiting OR (owner IS NOT NULL AND (expires_at IS NULL OR expires_at > clock_timestamp()))
UNION ALL SELECT $4::text, version, $5::bigint, 0 FROM taken
UNION ALL SELECT $4::text, version, $5::bigint, 0 FROM made

--- transaction_pooling, both

WITH wanted AS MATERIALIZED (
  SELECT w.*, l.name IS NULL AS is_new,
    l.owner IS NOT NULL AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp()) AS is_busy, l.expires_at,
    (l.owner = '(shared)')::integer AS is_shared, l.waiting
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[])
    AS w (name, owner, thread, acquisition, lease, note)
  LEFT JOIN place.rowlock_lock l ON l.name = w.name COLLATE "C" ORDER BY w.name COLLATE "C"),
taken AS (
  UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM w.at) * 1000000)::bigint), owner = w.owner, thread = w.thread,
    acquisition = w.acquisition, acquired_at = w.at, expires_at = w.at + w.lease * interval '1 microsecond',
    note = w.note
  FROM (SELECT w.*, clock_timestamp() AS at FROM wanted w, LATERAL (
      SELECT FROM place.rowlock_lock r
      WHERE r.name = w.name COLLATE "C" AND (r.owner IS NULL OR r.expires_at <= clock_timestamp())
        AND NOT r.waiting AND set_config('synchronous_commit', 'on', true) IS NOT NULL
      FOR UPDATE SKIP LOCKED) free
    WHERE NOT w.is_new AND NOT w.is_busy) w
  WHERE l.name = w.name COLLATE "C"
  RETURNING l.acquisition, l.version, w.lease),
made AS (
  INSERT INTO place.rowlock_lock AS l (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT w.name, greatest((SELECT token FROM place.rowlock_share WHERE name = '' AND acquisition = '') + 1, (extract(epoch FROM w.at) * 1000000)::bigint),
    w.owner, w.thread, w.acquisition, w.at, w.at + w.lease * interval '1 microsecond', w.note
  FROM (SELECT *, clock_timestamp() AS at FROM wanted WHERE is_new AND set_config('synchronous_commit', 'on', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL) w ON CONFLICT (name) DO NOTHING
  RETURNING l.acquisition, l.version, (extract(epoch FROM (CASE l.expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE l.expires_at END) - l.acquired_at) * 1000000)::bigint AS lease)
SELECT acquisition, NULL::bigint, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint, is_shared FROM wanted WHERE is_busy OR waiting
UNION ALL SELECT acquisition, version, lease, 0 FROM taken
UNION ALL SELECT acquisition, version, lease, 0 FROM made

--- transaction_pooling, both

UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = $2::text,
  thread = $3::text, acquisition = $4::text, acquired_at = clock_timestamp(),
  expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond', note = $6::text
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp()) AND NOT waiting AND set_config('synchronous_commit', 'on', true) IS NOT NULL
  FOR UPDATE SKIP LOCKED)
RETURNING acquisition, version, $5::bigint, 0

--- transaction_pooling, both

UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM w.at) * 1000000)::bigint), owner = w.owner, thread = w.thread,
  acquisition = w.acquisition, acquired_at = w.at, expires_at = w.at + w.lease * interval '1 microsecond', note = w.note
FROM (SELECT w.*, clock_timestamp() AS at FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[],
      $6::text[]) AS u (name, owner, thread, acquisition, lease, note) ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND (r.owner IS NULL OR r.expires_at <= clock_timestamp())
    AND NOT r.waiting AND set_config('synchronous_commit', 'on', true) IS NOT NULL
  FOR UPDATE SKIP LOCKED) free) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.acquisition, l.version, w.lease, 0

--- transaction_pooling, both

UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  acquisition = g.acquisition, acquired_at = g.at, expires_at = g.at + g.lease * interval '1 microsecond', note = g.note
FROM (SELECT f.*, clock_timestamp() AS at FROM (
    SELECT r.name, w.owner, w.thread, w.acquisition, w.lease, w.note
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[])
      WITH ORDINALITY AS w (name, owner, thread, acquisition, lease, note, place)
    JOIN place.rowlock_lock r ON r.name = w.name COLLATE "C"
    WHERE (r.owner IS NULL OR r.expires_at <= clock_timestamp()) AND NOT r.waiting AND set_config('synchronous_commit', 'on', true) IS NOT NULL
    ORDER BY w.place LIMIT 1 FOR UPDATE OF r SKIP LOCKED) f) g
WHERE l.name = g.name
RETURNING l.name, l.version, g.lease

--- transaction_pooling, both

WITH free AS MATERIALIZED (
  SELECT r.name, r.acquisition AS had, w.owner, w.thread, w.acquisition, w.lease, w.note
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[],
    $7::bigint[])
    AS w (name, owner, thread, acquisition, lease, note, version)
  JOIN place.rowlock_lock r ON r.name = w.name COLLATE "C"
  WHERE (r.owner IS NULL OR r.expires_at <= clock_timestamp())
    AND CASE WHEN w.version = 0 THEN NOT r.waiting ELSE r.version = w.version END AND set_config('synchronous_commit', 'on', true) IS NOT NULL
  ORDER BY r.name FOR UPDATE OF r SKIP LOCKED),
all_of_them AS MATERIALIZED (
  SELECT clock_timestamp() AS at FROM (SELECT count(*) AS number FROM free) f
    WHERE f.number = cardinality($1::text[])),
passed AS (
  DELETE FROM place.rowlock_waiter w USING all_of_them, free g WHERE w.name = g.name AND w.attempt = g.had)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM a.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  acquisition = g.acquisition, acquired_at = a.at, expires_at = a.at + g.lease * interval '1 microsecond', note = g.note
FROM all_of_them a, free g
WHERE l.name = g.name
RETURNING l.acquisition, l.version, g.lease

--- transaction_pooling, both

WITH seen AS MATERIALIZED (
  SELECT owner, expires_at, waiting, acquisition, version FROM place.rowlock_lock WHERE name = $1::text),
queue AS MATERIALIZED (
  SELECT EXISTS (SELECT FROM place.rowlock_waiter q
      WHERE name = $1::text AND ticket < $8::bigint AND expires_at > clock_timestamp()
        AND ($9::bigint = 0 OR ((q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)) AND NOT EXISTS (
          SELECT FROM seen WHERE expires_at <= clock_timestamp() - interval '1 second')))
        AND attempt IS DISTINCT FROM (SELECT acquisition FROM seen)) AS is_behind,
    $7::bigint = 0 OR $9::bigint > 0
      OR EXISTS (SELECT FROM place.rowlock_waiter WHERE ticket = $7::bigint AND owner = $2::text) AS has_place),
taken AS (
  UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = $2::text,
    thread = $3::text, acquisition = $4::text, acquired_at = clock_timestamp(),
    expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond', note = $6::text
  WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp())
      AND version = (SELECT version FROM seen) AND (SELECT has_place AND NOT is_behind FROM queue) AND set_config('synchronous_commit', 'on', true) IS NOT NULL
    FOR UPDATE SKIP LOCKED)
  RETURNING version),
made AS (
  INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT $1::text, greatest((SELECT token FROM place.rowlock_share WHERE name = '' AND acquisition = '') + 1,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), $2::text, $3::text, $4::text, clock_timestamp(),
    clock_timestamp() + $5::bigint * interval '1 microsecond', $6::text
  WHERE NOT EXISTS (SELECT FROM seen) AND (SELECT has_place AND NOT is_behind FROM queue) AND set_config('synchronous_commit', 'on', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
    ON CONFLICT (name) DO NOTHING
  RETURNING version),
claimed AS (
  UPDATE place.rowlock_lock SET expires_at = greatest(expires_at,
    clock_timestamp() + $5::bigint * interval '1 microsecond')
  WHERE name = (SELECT name FROM place.rowlock_lock
      WHERE name = $1::text AND owner = $2::text AND expires_at > clock_timestamp()
        AND acquisition = (SELECT attempt FROM place.rowlock_waiter WHERE ticket = $7::bigint
          AND owner = $2::text) AND set_config('synchronous_commit', 'on', true) IS NOT NULL
      FOR NO KEY UPDATE SKIP LOCKED)
    AND expires_at > clock_timestamp()
  RETURNING acquisition, version),
granted AS MATERIALIZED (SELECT version FROM taken UNION ALL SELECT version FROM made),
gone AS (
  DELETE FROM place.rowlock_waiter WHERE ticket = (SELECT w.ticket FROM place.rowlock_waiter w
    WHERE w.ticket = $7::bigint AND w.owner = $2::text
      AND EXISTS (SELECT version FROM granted UNION ALL SELECT version FROM claimed) FOR UPDATE SKIP LOCKED)
  RETURNING ticket),
passed AS (
  DELETE FROM place.rowlock_waiter
  WHERE name = $1::text AND attempt = (SELECT acquisition FROM seen) AND EXISTS (SELECT FROM granted))
SELECT $4::text, NULL::bigint, (extract(epoch FROM seen.expires_at - clock_timestamp()) * 1000000)::bigint, is_behind, has_place, false,
  seen.owner IS NULL, seen.acquisition, seen.version, coalesce((SELECT waiting FROM seen), false)
FROM queue LEFT JOIN seen ON seen.owner IS NOT NULL AND (seen.expires_at IS NULL OR seen.expires_at > clock_timestamp())
WHERE seen.owner IS NOT NULL OR is_behind OR NOT has_place
UNION ALL SELECT $4::text, NULL::bigint, $5::bigint, false, true, EXISTS (SELECT FROM gone), false,
  acquisition, version, true
FROM claimed
UNION ALL SELECT $4::text, version, $5::bigint, false, true, EXISTS (SELECT FROM gone), true, NULL::text,
  NULL::bigint, NULL::boolean
FROM granted

--- transaction_pooling, both

UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = $2::text,
  thread = $3::text, acquisition = $4::text, acquired_at = clock_timestamp(),
  expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond', note = $6::text
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND version = $7::bigint
    AND (owner IS NULL OR expires_at <= clock_timestamp()) AND set_config('synchronous_commit', 'on', true) IS NOT NULL
  FOR UPDATE SKIP LOCKED)
RETURNING $4::text, version, $5::bigint

--- transaction_pooling, both

INSERT INTO place.rowlock_lock (name, version, expires_at)
SELECT $1::text, greatest((SELECT token FROM place.rowlock_share WHERE name = '' AND acquisition = '') + 1,
  (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), clock_timestamp() WHERE NOT EXISTS (
  SELECT FROM place.rowlock_lock WHERE name = $1::text) AND set_config('lock_timeout', '100ms', true) IS NOT NULL ON CONFLICT (name) DO NOTHING

--- transaction_pooling, both

UPDATE place.rowlock_lock SET expires_at = greatest(expires_at, clock_timestamp() + $3::bigint * interval '1 microsecond')
WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
      AND expires_at > clock_timestamp() AND set_config('synchronous_commit', 'on', true) IS NOT NULL
    FOR NO KEY UPDATE SKIP LOCKED)
  AND expires_at > clock_timestamp()
RETURNING acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint

--- transaction_pooling, both

UPDATE place.rowlock_lock l SET expires_at = greatest(l.expires_at, w.at + w.lease * interval '1 microsecond')
FROM (SELECT w.*, clock_timestamp() AS at FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, lease)
    ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND r.expires_at > clock_timestamp() AND set_config('synchronous_commit', 'on', true) IS NOT NULL
  FOR NO KEY UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C" AND l.expires_at > w.at
RETURNING l.acquisition, (extract(epoch FROM (CASE l.expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE l.expires_at END) - w.at) * 1000000)::bigint

--- transaction_pooling, both

UPDATE place.rowlock_lock SET expires_at = clock_timestamp() + $3::bigint * interval '1 microsecond'
WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
      AND expires_at > clock_timestamp() AND set_config('synchronous_commit', 'on', true) IS NOT NULL
    FOR NO KEY UPDATE SKIP LOCKED)
  AND expires_at > clock_timestamp()
RETURNING acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint

--- transaction_pooling, both

UPDATE place.rowlock_lock l SET expires_at = w.at + w.lease * interval '1 microsecond'
FROM (SELECT w.*, clock_timestamp() AS at FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, lease)
    ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND r.expires_at > clock_timestamp() AND set_config('synchronous_commit', 'on', true) IS NOT NULL
  FOR NO KEY UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C" AND l.expires_at > w.at
RETURNING l.acquisition, (extract(epoch FROM (CASE l.expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE l.expires_at END) - w.at) * 1000000)::bigint

--- transaction_pooling, both

UPDATE place.rowlock_lock l SET version = greatest(version + $4::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint),
  expires_at = greatest(expires_at, clock_timestamp() + $3::bigint * interval '1 microsecond')
WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
      AND expires_at > clock_timestamp() AND set_config('synchronous_commit', 'on', true) IS NOT NULL
    FOR UPDATE SKIP LOCKED)
  AND expires_at > clock_timestamp()
RETURNING acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint, version,
  (EXISTS (SELECT FROM place.rowlock_waiter w
    WHERE w.name = $1::text AND w.owner <> l.owner AND w.expires_at > clock_timestamp()))::integer

--- transaction_pooling, both

UPDATE place.rowlock_lock SET expires_at = acquired_at + $3::bigint * interval '1 microsecond', thread = '(released)'
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
    AND expires_at > clock_timestamp() AND set_config('synchronous_commit', 'on', true) IS NOT NULL
  FOR NO KEY UPDATE SKIP LOCKED)
RETURNING acquisition,
  (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> left($2::text, 16) AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255)

--- transaction_pooling, both

UPDATE place.rowlock_lock l SET expires_at = l.acquired_at + w.stay * interval '1 microsecond', thread = '(released)'
FROM (SELECT w.* FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, stay)
    ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND r.expires_at > clock_timestamp() AND set_config('synchronous_commit', 'on', true) IS NOT NULL
  FOR NO KEY UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.acquisition,
  (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> left(l.acquisition, 16) AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255)

--- transaction_pooling, both

WITH freed AS (
  UPDATE place.rowlock_lock SET owner = NULL, thread = NULL, note = NULL,
    version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), expires_at = clock_timestamp()
  WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND version = $2::bigint AND owner IS NOT NULL AND set_config('synchronous_commit', 'on', true) IS NOT NULL FOR UPDATE SKIP LOCKED)
  RETURNING name, acquisition),
spent AS (
  DELETE FROM place.rowlock_waiter w USING freed WHERE w.name = freed.name AND w.attempt = freed.acquisition)
SELECT freed.name,
  (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.attempt IS DISTINCT FROM freed.acquisition AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.attempt IS DISTINCT FROM freed.acquisition AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> '' AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255)
FROM freed

--- transaction_pooling, both

WITH asked AS (SELECT *
  FROM (VALUES ($2::text, $3::text, $4::text, $5::bigint, $6::text, $7::bigint,
  1)) AS a (owner, thread, acquisition, lease, note, permits, place)),
taken AS (
  UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM own.at) * 1000000)::bigint) + own.number - 1, owner = '(shared)',
    thread = NULL, note = NULL, sharers = CASE WHEN own.joins THEN l.sharers ELSE 0 END + own.permits,
    acquisition = CASE WHEN own.joins THEN l.acquisition ELSE 'shared:' || $4::text END,
    acquired_at = CASE WHEN own.joins THEN l.acquired_at ELSE own.at END,
    expires_at = CASE WHEN own.joins THEN greatest(l.expires_at, own.until) ELSE own.until END
  FROM (SELECT r.at, r.at + total.lease * interval '1 microsecond' AS until, total.number, total.permits,
      r.owner IS NOT DISTINCT FROM '(shared)' AND r.expires_at > r.at AS joins, r.acquisition AS had FROM (
    SELECT k.owner, k.expires_at, k.acquisition, clock_timestamp() AS at FROM (
      SELECT owner, expires_at, acquisition FROM place.rowlock_lock
      WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp()
          OR (owner = '(shared)' AND sharers <= $8::bigint))
        AND CASE WHEN $9::bigint = 0 THEN NOT waiting
          ELSE version = $9::bigint OR (owner IS NOT DISTINCT FROM '(shared)'
            AND expires_at > clock_timestamp()) END
         AND set_config('synchronous_commit', 'on', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
      FOR UPDATE) k) r,
    (SELECT max(lease) AS lease, sum(permits)::bigint AS permits, count(*) AS number FROM asked) total) own
  WHERE l.name = $1::text
  RETURNING l.version - own.number AS before, l.acquisition, own.at, own.joins, own.had),
passed AS (
  DELETE FROM place.rowlock_waiter w USING taken t WHERE w.name = $1::text AND w.attempt = t.had AND NOT t.joins),
share AS (
  INSERT INTO place.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
  SELECT $1::text, a.acquisition, t.acquisition, a.permits, t.before + a.place, a.owner, a.thread, t.at,
    t.at + a.lease * interval '1 microsecond', a.note FROM taken t, asked a)
SELECT a.acquisition, t.before + a.place, a.lease FROM taken t, asked a

--- transaction_pooling, both

WITH asked AS MATERIALIZED (
  SELECT u.*, row_number() OVER (PARTITION BY name ORDER BY acquisition) AS place
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[],
    $7::bigint[], $8::bigint[], $9::bigint[])
    AS u (name, owner, thread, acquisition, lease, note, permits, room, version)),
own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.* FROM (
      SELECT name, max(lease) AS lease, sum(permits)::bigint AS permits, count(*) AS number,
        min(acquisition) AS first, max(room) AS room, max(version) AS version
      FROM asked GROUP BY name ORDER BY name COLLATE "C") w, LATERAL (
      SELECT owner, expires_at, acquisition AS before FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND (owner IS NULL OR expires_at <= clock_timestamp()
          OR (owner = '(shared)' AND sharers <= w.room))
        AND CASE WHEN w.version = 0 THEN NOT waiting
          ELSE version = w.version OR (owner IS NOT DISTINCT FROM '(shared)' AND expires_at > clock_timestamp()) END
         AND set_config('synchronous_commit', 'on', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
      FOR UPDATE) r) k),
joining AS (
  SELECT own.*, at + lease * interval '1 microsecond' AS until,
    owner IS NOT DISTINCT FROM '(shared)' AND expires_at > at AS joins FROM own),
taken AS (
  UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM own.at) * 1000000)::bigint) + own.number - 1, owner = '(shared)',
    thread = NULL, note = NULL, sharers = CASE WHEN own.joins THEN l.sharers ELSE 0 END + own.permits,
    acquisition = CASE WHEN own.joins THEN l.acquisition ELSE 'shared:' || own.first END,
    acquired_at = CASE WHEN own.joins THEN l.acquired_at ELSE own.at END,
    expires_at = CASE WHEN own.joins THEN greatest(l.expires_at, own.until) ELSE own.until END
  FROM joining own WHERE l.name = own.name COLLATE "C"
  RETURNING l.name, l.version - own.number AS token, l.acquisition, own.at, own.joins, own.before),
passed AS (
  DELETE FROM place.rowlock_waiter w USING taken t WHERE w.name = t.name AND w.attempt = t.before AND NOT t.joins),
share AS (
  INSERT INTO place.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
  SELECT t.name, a.acquisition, t.acquisition, a.permits, t.token + a.place, a.owner, a.thread, t.at,
    t.at + a.lease * interval '1 microsecond', a.note FROM taken t JOIN asked a ON a.name = t.name COLLATE "C")
SELECT a.acquisition, t.token + a.place, a.lease FROM taken t JOIN asked a ON a.name = t.name COLLATE "C"

--- transaction_pooling, both

WITH asked AS MATERIALIZED (
  SELECT u.*, row_number() OVER (PARTITION BY name ORDER BY acquisition) AS place
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[],
    $7::bigint[], $8::bigint[], $9::bigint[])
    AS u (name, owner, thread, acquisition, lease, note, permits, room, version)),
own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.* FROM (
      SELECT name, max(lease) AS lease, sum(permits)::bigint AS permits, count(*) AS number,
        min(acquisition) AS first, max(room) AS room, max(version) AS version
      FROM asked GROUP BY name ORDER BY name COLLATE "C") w, LATERAL (
      SELECT owner, expires_at, acquisition AS before FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND (owner IS NULL OR expires_at <= clock_timestamp()
          OR (owner = '(shared)' AND sharers <= w.room))
        AND CASE WHEN w.version = 0 THEN NOT waiting
          ELSE version = w.version OR (owner IS NOT DISTINCT FROM '(shared)' AND expires_at > clock_timestamp()) END
         AND set_config('synchronous_commit', 'on', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
      FOR UPDATE SKIP LOCKED) r) k),
joining AS (
  SELECT own.*, at + lease * interval '1 microsecond' AS until,
    owner IS NOT DISTINCT FROM '(shared)' AND expires_at > at AS joins FROM own),
taken AS (
  UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM own.at) * 1000000)::bigint) + own.number - 1, owner = '(shared)',
    thread = NULL, note = NULL, sharers = CASE WHEN own.joins THEN l.sharers ELSE 0 END + own.permits,
    acquisition = CASE WHEN own.joins THEN l.acquisition ELSE 'shared:' || own.first END,
    acquired_at = CASE WHEN own.joins THEN l.acquired_at ELSE own.at END,
    expires_at = CASE WHEN own.joins THEN greatest(l.expires_at, own.until) ELSE own.until END
  FROM joining own WHERE l.name = own.name COLLATE "C"
  RETURNING l.name, l.version - own.number AS token, l.acquisition, own.at, own.joins, own.before),
passed AS (
  DELETE FROM place.rowlock_waiter w USING taken t WHERE w.name = t.name AND w.attempt = t.before AND NOT t.joins),
share AS (
  INSERT INTO place.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
  SELECT t.name, a.acquisition, t.acquisition, a.permits, t.token + a.place, a.owner, a.thread, t.at,
    t.at + a.lease * interval '1 microsecond', a.note FROM taken t JOIN asked a ON a.name = t.name COLLATE "C")
SELECT a.acquisition, t.token + a.place, a.lease FROM taken t JOIN asked a ON a.name = t.name COLLATE "C"

--- transaction_pooling, both

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since, r.ends FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, lease)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since, expires_at AS ends FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)' AND set_config('synchronous_commit', 'on', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
      FOR NO KEY UPDATE) r) k),
kept AS (
  UPDATE place.rowlock_share s SET expires_at = greatest(s.expires_at, own.at + own.lease * interval '1 microsecond') FROM own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND s.expires_at > own.at
  RETURNING s.name, s.acquisition, s.expires_at, own.at, own.ends),
raised AS (
  UPDATE place.rowlock_lock l SET expires_at = greatest(l.expires_at, k.last)
  FROM (SELECT name, max(expires_at) AS last FROM kept WHERE expires_at > ends GROUP BY name) k WHERE l.name = k.name)
SELECT acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - at) * 1000000)::bigint FROM kept

--- transaction_pooling, both

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since, r.ends FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, lease)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since, expires_at AS ends FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)' AND set_config('synchronous_commit', 'on', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
      FOR NO KEY UPDATE SKIP LOCKED) r) k),
kept AS (
  UPDATE place.rowlock_share s SET expires_at = greatest(s.expires_at, own.at + own.lease * interval '1 microsecond') FROM own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND s.expires_at > own.at
  RETURNING s.name, s.acquisition, s.expires_at, own.at, own.ends),
raised AS (
  UPDATE place.rowlock_lock l SET expires_at = greatest(l.expires_at, k.last)
  FROM (SELECT name, max(expires_at) AS last FROM kept WHERE expires_at > ends GROUP BY name) k WHERE l.name = k.name)
SELECT acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - at) * 1000000)::bigint FROM kept

--- transaction_pooling, both

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since, r.ends FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, lease)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since, expires_at AS ends FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)' AND set_config('synchronous_commit', 'on', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
      FOR NO KEY UPDATE) r) k),
kept AS (
  UPDATE place.rowlock_share s SET expires_at = own.at + own.lease * interval '1 microsecond' FROM own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND s.expires_at > own.at
  RETURNING s.name, s.acquisition, s.expires_at, own.at, own.ends),
raised AS (
  UPDATE place.rowlock_lock l SET expires_at = greatest(l.expires_at, k.last)
  FROM (SELECT name, max(expires_at) AS last FROM kept WHERE expires_at > ends GROUP BY name) k WHERE l.name = k.name)
SELECT acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - at) * 1000000)::bigint FROM kept

--- transaction_pooling, both

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since, r.ends FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, lease)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since, expires_at AS ends FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)' AND set_config('synchronous_commit', 'on', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
      FOR NO KEY UPDATE SKIP LOCKED) r) k),
kept AS (
  UPDATE place.rowlock_share s SET expires_at = own.at + own.lease * interval '1 microsecond' FROM own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND s.expires_at > own.at
  RETURNING s.name, s.acquisition, s.expires_at, own.at, own.ends),
raised AS (
  UPDATE place.rowlock_lock l SET expires_at = greatest(l.expires_at, k.last)
  FROM (SELECT name, max(expires_at) AS last FROM kept WHERE expires_at > ends GROUP BY name) k WHERE l.name = k.name)
SELECT acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - at) * 1000000)::bigint FROM kept

--- transaction_pooling

WITH own AS MATERIALIZED (
  SELECT r.acquisition, clock_timestamp() AS at FROM (
    SELECT acquisition FROM place.rowlock_lock WHERE name = $1::text AND owner = '(shared)' AND set_config('synchronous_commit', 'off', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
    FOR UPDATE) r),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = $1::text AND s.acquisition = $2::text AND s.since = own.acquisition
    AND ($3::bigint = 0 OR s.expires_at <= own.at)
  RETURNING s.permits, own.at)
UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
  owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
  version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
  expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
FROM gone g WHERE l.name = $1::text
RETURNING $2::text, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
    WHERE q.name = $1::text AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
  (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> CASE WHEN $3::bigint = 0 THEN left($2::text, 16) ELSE '' END AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END,
  l.waiting

--- transaction_pooling

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, expired)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)' AND set_config('synchronous_commit', 'off', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
      FOR UPDATE) r) k),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND (own.expired = 0 OR s.expires_at <= own.at)
  RETURNING s.name, s.acquisition, s.permits, own.expired, own.at),
freed AS (
  UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
    owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
    version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
    expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
  FROM (SELECT name, sum(permits)::bigint AS permits, max(at) AS at, array_agg(acquisition) AS acquisitions,
      CASE WHEN max(expired) = 0 THEN left(min(acquisition), 16) ELSE '' END AS teller FROM gone GROUP BY name) g
  WHERE l.name = g.name
  RETURNING g.acquisitions, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
      WHERE q.name = l.name AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
    (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> g.teller AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END AS told, l.waiting)
SELECT unnest(acquisitions), told, waiting FROM freed

--- transaction_pooling

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, expired)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)' AND set_config('synchronous_commit', 'off', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
      FOR UPDATE SKIP LOCKED) r) k),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND (own.expired = 0 OR s.expires_at <= own.at)
  RETURNING s.name, s.acquisition, s.permits, own.expired, own.at),
freed AS (
  UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
    owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
    version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
    expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
  FROM (SELECT name, sum(permits)::bigint AS permits, max(at) AS at, array_agg(acquisition) AS acquisitions,
      CASE WHEN max(expired) = 0 THEN left(min(acquisition), 16) ELSE '' END AS teller FROM gone GROUP BY name) g
  WHERE l.name = g.name
  RETURNING g.acquisitions, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
      WHERE q.name = l.name AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
    (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> g.teller AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END AS told, l.waiting)
SELECT unnest(acquisitions), told, waiting FROM freed

--- transaction_pooling, both

WITH own AS MATERIALIZED (
  SELECT r.acquisition, r.sharers, clock_timestamp() AS at FROM (
    SELECT acquisition, sharers FROM place.rowlock_lock WHERE name = $1::text AND owner = '(shared)' AND set_config('synchronous_commit', 'on', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
    FOR UPDATE) r),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = $1::text AND s.acquisition = $2::text AND s.since = own.acquisition
    AND s.permits = own.sharers
    AND s.expires_at > own.at
  RETURNING s.expires_at, own.at)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = $3::text, thread = $4::text,
  acquisition = $2::text, acquired_at = g.at, expires_at = g.expires_at, note = $5::text, sharers = 0
FROM gone g WHERE l.name = $1::text
RETURNING $2::text, l.version, (extract(epoch FROM (CASE l.expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE l.expires_at END) - g.at) * 1000000)::bigint

--- transaction_pooling, both

WITH taken AS (
  UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM own.at) * 1000000)::bigint), owner = '(shared)', thread = NULL,
    note = NULL, acquisition = 'shared:' || $6::text, sharers = $7::bigint
  FROM (SELECT clock_timestamp() AS at FROM (
    SELECT FROM place.rowlock_lock WHERE name = $1::text AND acquisition = $2::text
      AND owner IS NOT NULL AND set_config('synchronous_commit', 'on', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
    FOR UPDATE) k) own
  WHERE l.name = $1::text AND l.expires_at > own.at
  RETURNING l.version, l.acquisition, l.expires_at, own.at),
share AS (
  INSERT INTO place.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
  SELECT $1::text, $2::text, acquisition, $7::bigint, version, $3::text, $4::text, at,
    expires_at, $5::text FROM taken)
SELECT $2::text, version, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - at) * 1000000)::bigint FROM taken

--- transaction_pooling, both

WITH gone AS (DELETE FROM place.rowlock_waiter WHERE ticket = $3::bigint AND attempt = $2::text AND set_config('synchronous_commit', 'off', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL)
SELECT w.attempt, CASE WHEN NOT EXISTS (SELECT FROM place.rowlock_lock l
    WHERE l.name = w.name AND l.owner <> '(shared)' AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())) THEN
  (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = w.name AND right(q.owner, 16) <> left(w.attempt, 16) AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = w.name AND right(q.owner, 16) <> left(w.attempt, 16) AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> left(w.attempt, 16) AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END
FROM (SELECT $1::text AS name, $2::text AS attempt) w

--- transaction_pooling, both

WITH wanted AS MATERIALIZED (
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, attempt, ticket)),
gone AS (
  DELETE FROM place.rowlock_waiter t USING wanted u
  WHERE t.ticket = u.ticket AND t.attempt = u.attempt AND set_config('synchronous_commit', 'off', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL)
SELECT w.attempt, CASE WHEN NOT EXISTS (SELECT FROM place.rowlock_lock l
    WHERE l.name = w.name AND l.owner <> '(shared)' AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())) THEN
  (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = w.name AND right(q.owner, 16) <> left(w.attempt, 16) AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = w.name AND right(q.owner, 16) <> left(w.attempt, 16) AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> left(w.attempt, 16) AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END
FROM wanted w

--- transaction_pooling, both
DELETE FROM place.rowlock_waiter WHERE name = $1::text AND attempt = $2::text AND set_config('synchronous_commit', 'off', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL

--- transaction_pooling, both

WITH marked AS (
  UPDATE place.rowlock_lock SET waiting = true WHERE name = $1::text AND NOT waiting AND set_config('synchronous_commit', 'off', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
  RETURNING name),
made AS (
  INSERT INTO place.rowlock_lock (name, version, expires_at, waiting)
  SELECT $1::text, greatest((SELECT token FROM place.rowlock_share WHERE name = '' AND acquisition = '') + 1,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), clock_timestamp(), true
  WHERE NOT EXISTS (SELECT FROM place.rowlock_lock WHERE name = $1::text) AND set_config('synchronous_commit', 'off', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
  ON CONFLICT (name) DO UPDATE SET waiting = true
  RETURNING name)
SELECT name FROM marked UNION ALL SELECT name FROM made
UNION ALL SELECT name FROM place.rowlock_lock WHERE name = $1::text AND waiting

--- transaction_pooling, both

SELECT q.owner, pg_notify('rowlock_' || right(q.owner, 16), q.name)::text
FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND right(q.owner, 16) <> left($2::text, 16) AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND right(q.owner, 16) <> left($2::text, 16) AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q, (SELECT $1::text AS name) w
WHERE NOT EXISTS (SELECT FROM place.rowlock_lock l
    WHERE l.name = w.name AND l.owner <> '(shared)' AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp()))
      AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255 AND set_config('synchronous_commit', 'off', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL

--- transaction_pooling, both

DELETE FROM place.rowlock_lock l
USING (SELECT w.name FROM (
    SELECT * FROM unnest($1::text[], $2::bigint[]) AS u (name, retention) ORDER BY name COLLATE "C") w,
      LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.expires_at <= clock_timestamp() - w.retention * interval '1 microsecond'
    AND r.version <= (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - w.retention
      AND r.version <= (SELECT token FROM place.rowlock_share WHERE name = '' AND acquisition = '') AND set_config('synchronous_commit', 'on', true) IS NOT NULL
  FOR UPDATE SKIP LOCKED) unused) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.name

--- transaction_pooling, both

WITH own AS MATERIALIZED (
  SELECT name, expires_at FROM place.rowlock_lock
  WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
    AND expires_at > clock_timestamp() AND set_config('synchronous_commit', 'on', true) IS NOT NULL
  FOR KEY SHARE SKIP LOCKED)
UPDATE place.rowlock_job_run r SET finished_at = clock_timestamp(), result = 'lost' FROM own
WHERE own.expires_at > clock_timestamp() AND r.job = own.name AND r.finished_at IS NULL
  AND r.token <> $3::bigint

--- transaction_pooling, both

WITH own AS MATERIALIZED (
  SELECT name, owner, expires_at FROM place.rowlock_lock
  WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
    AND expires_at > clock_timestamp() AND set_config('synchronous_commit', 'on', true) IS NOT NULL
  FOR KEY SHARE SKIP LOCKED),
period AS MATERIALIZED (
  SELECT timestamptz 'epoch' + $4::bigint * interval '1 microsecond' AS begins,
    timestamptz 'epoch' + $5::bigint * interval '1 microsecond' AS ends)
INSERT INTO place.rowlock_job_run (job, period_begin, attempt, period_end, owner, token, started_at)
SELECT own.name, p.begins, (SELECT coalesce(max(r.attempt), 0) + 1 FROM place.rowlock_job_run r
    WHERE r.job = own.name AND r.period_begin = p.begins), p.ends, own.owner, $3::bigint, clock_timestamp()
FROM own, period p
WHERE own.expires_at > clock_timestamp()
  AND NOT EXISTS (SELECT FROM place.rowlock_job_run r WHERE r.job = own.name AND r.period_begin = p.begins
    AND (r.succeeded = 1 OR r.token = $3::bigint OR r.attempt >= $6::bigint
      OR r.finished_at <= clock_timestamp()
        AND r.finished_at > clock_timestamp() - $7::bigint * interval '1 microsecond'))
ON CONFLICT DO NOTHING

--- transaction_pooling, both

WITH own AS MATERIALIZED (
  SELECT name, expires_at FROM place.rowlock_lock
  WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
    AND expires_at > clock_timestamp() AND set_config('synchronous_commit', 'on', true) IS NOT NULL
  FOR KEY SHARE SKIP LOCKED)
UPDATE place.rowlock_job_run r SET finished_at = clock_timestamp(), result = $5::text,
  exit_status = $6::bigint, signal_number = $7::bigint, output = $8::text,
  succeeded = CASE WHEN $5::text = 'succeeded' THEN 1 END
FROM own
WHERE own.expires_at > clock_timestamp() AND r.job = own.name
  AND r.period_begin = timestamptz 'epoch' + $4::bigint * interval '1 microsecond'
  AND r.token = $3::bigint AND r.finished_at IS NULL

--- transaction_pooling, both

WITH changed AS (
  UPDATE place.rowlock_guard SET term = $5::bigint, incarnation = $2::text, quarantine = $3::bigint,
    since = clock_timestamp(),
    relaxed_from = CASE WHEN $6::bigint = 1
      THEN coalesce(relaxed_from, clock_timestamp() + interval '20 seconds') END,
    grants_from = clock_timestamp() + interval '1 microsecond' * coalesce($4::bigint, CASE WHEN EXISTS (
      SELECT FROM place.rowlock_lock WHERE owner IS NOT NULL
        AND expires_at > clock_timestamp() + $3::bigint * interval '1 microsecond')
      THEN $3::bigint ELSE 0 END)
  WHERE term = $1::bigint AND set_config('synchronous_commit', 'on', true) IS NOT NULL
  RETURNING term, relaxed_from),
witnessed AS (
  INSERT INTO place.rowlock_witness (id, term) SELECT 1, term FROM changed WHERE relaxed_from IS NOT NULL
  ON CONFLICT (id) DO UPDATE SET term = excluded.term)
SELECT term FROM changed

--- transaction_pooling, both

UPDATE place.rowlock_migration SET serves_from = $2::integer WHERE version >= $1::integer AND set_config('synchronous_commit', 'on', true) IS NOT NULL
RETURNING version

--- transaction_pooling, both

UPDATE place.rowlock_lock SET expires_at = acquired_at + $3::bigint * interval '1 microsecond', thread = '(released)'
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
    AND expires_at > clock_timestamp() AND set_config('synchronous_commit', 'on', true) IS NOT NULL
  FOR NO KEY UPDATE SKIP LOCKED)
RETURNING acquisition,
  (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> left($2::text, 16) AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255)

--- transaction_pooling, both

UPDATE place.rowlock_lock l SET expires_at = l.acquired_at + w.stay * interval '1 microsecond', thread = '(released)'
FROM (SELECT w.* FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, stay)
    ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND r.expires_at > clock_timestamp() AND set_config('synchronous_commit', 'on', true) IS NOT NULL
  FOR NO KEY UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.acquisition,
  (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> left(l.acquisition, 16) AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255)

--- transaction_pooling, both

WITH freed AS (
  UPDATE place.rowlock_lock SET owner = NULL, thread = NULL, note = NULL,
    version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), expires_at = clock_timestamp()
  WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND version = $2::bigint AND owner IS NOT NULL AND set_config('synchronous_commit', 'on', true) IS NOT NULL FOR UPDATE SKIP LOCKED)
  RETURNING name, acquisition),
spent AS (
  DELETE FROM place.rowlock_waiter w USING freed WHERE w.name = freed.name AND w.attempt = freed.acquisition)
SELECT freed.name,
  (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.attempt IS DISTINCT FROM freed.acquisition AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.attempt IS DISTINCT FROM freed.acquisition AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> '' AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255)
FROM freed

--- transaction_pooling

WITH own AS MATERIALIZED (
  SELECT r.acquisition, clock_timestamp() AS at FROM (
    SELECT acquisition FROM place.rowlock_lock WHERE name = $1::text AND owner = '(shared)' AND set_config('synchronous_commit', 'off', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
    FOR UPDATE) r),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = $1::text AND s.acquisition = $2::text AND s.since = own.acquisition
    AND ($3::bigint = 0 OR s.expires_at <= own.at)
  RETURNING s.permits, own.at)
UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
  owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
  version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
  expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
FROM gone g WHERE l.name = $1::text
RETURNING $2::text, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
    WHERE q.name = $1::text AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
  (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> CASE WHEN $3::bigint = 0 THEN left($2::text, 16) ELSE '' END AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END,
  l.waiting

--- transaction_pooling

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, expired)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)' AND set_config('synchronous_commit', 'off', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
      FOR UPDATE) r) k),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND (own.expired = 0 OR s.expires_at <= own.at)
  RETURNING s.name, s.acquisition, s.permits, own.expired, own.at),
freed AS (
  UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
    owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
    version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
    expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
  FROM (SELECT name, sum(permits)::bigint AS permits, max(at) AS at, array_agg(acquisition) AS acquisitions,
      CASE WHEN max(expired) = 0 THEN left(min(acquisition), 16) ELSE '' END AS teller FROM gone GROUP BY name) g
  WHERE l.name = g.name
  RETURNING g.acquisitions, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
      WHERE q.name = l.name AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
    (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> g.teller AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END AS told, l.waiting)
SELECT unnest(acquisitions), told, waiting FROM freed

--- transaction_pooling

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, expired)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)' AND set_config('synchronous_commit', 'off', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
      FOR UPDATE SKIP LOCKED) r) k),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND (own.expired = 0 OR s.expires_at <= own.at)
  RETURNING s.name, s.acquisition, s.permits, own.expired, own.at),
freed AS (
  UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
    owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
    version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
    expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
  FROM (SELECT name, sum(permits)::bigint AS permits, max(at) AS at, array_agg(acquisition) AS acquisitions,
      CASE WHEN max(expired) = 0 THEN left(min(acquisition), 16) ELSE '' END AS teller FROM gone GROUP BY name) g
  WHERE l.name = g.name
  RETURNING g.acquisitions, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
      WHERE q.name = l.name AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
    (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> g.teller AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END AS told, l.waiting)
SELECT unnest(acquisitions), told, waiting FROM freed

--- transaction_pooling, both

WITH gone AS (DELETE FROM place.rowlock_waiter WHERE ticket = $3::bigint AND attempt = $2::text AND set_config('synchronous_commit', 'off', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL)
SELECT w.attempt, CASE WHEN NOT EXISTS (SELECT FROM place.rowlock_lock l
    WHERE l.name = w.name AND l.owner <> '(shared)' AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())) THEN
  (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = w.name AND right(q.owner, 16) <> left(w.attempt, 16) AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = w.name AND right(q.owner, 16) <> left(w.attempt, 16) AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> left(w.attempt, 16) AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END
FROM (SELECT $1::text AS name, $2::text AS attempt) w

--- transaction_pooling, both

WITH wanted AS MATERIALIZED (
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, attempt, ticket)),
gone AS (
  DELETE FROM place.rowlock_waiter t USING wanted u
  WHERE t.ticket = u.ticket AND t.attempt = u.attempt AND set_config('synchronous_commit', 'off', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL)
SELECT w.attempt, CASE WHEN NOT EXISTS (SELECT FROM place.rowlock_lock l
    WHERE l.name = w.name AND l.owner <> '(shared)' AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())) THEN
  (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = w.name AND right(q.owner, 16) <> left(w.attempt, 16) AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = w.name AND right(q.owner, 16) <> left(w.attempt, 16) AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> left(w.attempt, 16) AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END
FROM wanted w

--- both

UPDATE place.rowlock_lock SET owner = NULL, thread = NULL, note = NULL,
  version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), expires_at = clock_timestamp()
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND owner IS NOT NULL AND expires_at <= clock_timestamp() AND set_config('synchronous_commit', 'on', true) IS NOT NULL FOR UPDATE SKIP LOCKED)

--- both

WITH spent AS (DELETE FROM place.rowlock_waiter WHERE name = $1::text AND attempt = $2::text)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT $1::text AS name, $2::text AS acquisition) w CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM place.rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL AND set_config('synchronous_commit', 'on', true) IS NOT NULL
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN pg_notify('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting

--- both

WITH spent AS (
  DELETE FROM place.rowlock_waiter t USING unnest($1::text[], $2::text[]) AS u (name, acquisition)
  WHERE t.name = u.name COLLATE "C" AND t.attempt = u.acquisition)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT * FROM unnest($1::text[], $2::text[]) AS u (name, acquisition) ORDER BY name COLLATE "C") w
    CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM place.rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL AND set_config('synchronous_commit', 'on', true) IS NOT NULL
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN pg_notify('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting

--- both

UPDATE place.rowlock_lock SET owner = NULL, thread = NULL, note = NULL,
  version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), expires_at = clock_timestamp()
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL AND NOT waiting AND set_config('synchronous_commit', 'on', true) IS NOT NULL
  FOR UPDATE SKIP LOCKED)
RETURNING acquisition

--- both

UPDATE place.rowlock_lock l SET owner = NULL, thread = NULL, note = NULL, version = greatest(l.version + 1, (extract(epoch FROM w.at) * 1000000)::bigint),
  expires_at = w.at
FROM (SELECT w.*, clock_timestamp() AS at FROM (
    SELECT * FROM unnest($1::text[], $2::text[]) AS u (name, acquisition) ORDER BY name COLLATE "C") w,
      LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND NOT r.waiting AND set_config('synchronous_commit', 'on', true) IS NOT NULL
  FOR UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.acquisition

--- both

WITH own AS MATERIALIZED (
  SELECT r.acquisition, clock_timestamp() AS at FROM (
    SELECT acquisition FROM place.rowlock_lock WHERE name = $1::text AND owner = '(shared)' AND set_config('synchronous_commit', 'on', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
    FOR UPDATE) r),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = $1::text AND s.acquisition = $2::text AND s.since = own.acquisition
    AND ($3::bigint = 0 OR s.expires_at <= own.at)
  RETURNING s.permits, own.at)
UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
  owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
  version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
  expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
FROM gone g WHERE l.name = $1::text
RETURNING $2::text, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
    WHERE q.name = $1::text AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
  (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> CASE WHEN $3::bigint = 0 THEN left($2::text, 16) ELSE '' END AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END,
  l.waiting

--- both

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, expired)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)' AND set_config('synchronous_commit', 'on', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
      FOR UPDATE) r) k),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND (own.expired = 0 OR s.expires_at <= own.at)
  RETURNING s.name, s.acquisition, s.permits, own.expired, own.at),
freed AS (
  UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
    owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
    version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
    expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
  FROM (SELECT name, sum(permits)::bigint AS permits, max(at) AS at, array_agg(acquisition) AS acquisitions,
      CASE WHEN max(expired) = 0 THEN left(min(acquisition), 16) ELSE '' END AS teller FROM gone GROUP BY name) g
  WHERE l.name = g.name
  RETURNING g.acquisitions, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
      WHERE q.name = l.name AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
    (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> g.teller AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END AS told, l.waiting)
SELECT unnest(acquisitions), told, waiting FROM freed

--- both

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, expired)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)' AND set_config('synchronous_commit', 'on', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
      FOR UPDATE SKIP LOCKED) r) k),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND (own.expired = 0 OR s.expires_at <= own.at)
  RETURNING s.name, s.acquisition, s.permits, own.expired, own.at),
freed AS (
  UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
    owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
    version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
    expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
  FROM (SELECT name, sum(permits)::bigint AS permits, max(at) AS at, array_agg(acquisition) AS acquisitions,
      CASE WHEN max(expired) = 0 THEN left(min(acquisition), 16) ELSE '' END AS teller FROM gone GROUP BY name) g
  WHERE l.name = g.name
  RETURNING g.acquisitions, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
      WHERE q.name = l.name AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
    (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> g.teller AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END AS told, l.waiting)
SELECT unnest(acquisitions), told, waiting FROM freed

--- both

SELECT name, version, owner, thread, acquisition, (extract(epoch FROM clock_timestamp() - (CASE acquired_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE acquired_at END)) * 1000000)::bigint,
  (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint, note, expires_at IS NULL, EXISTS (
  SELECT FROM place.rowlock_lock l WHERE l.name = $1::text AND l.owner IS NULL AND set_config('synchronous_commit', 'on', true) IS NOT NULL FOR UPDATE SKIP LOCKED)::integer
FROM place.rowlock_lock WHERE name = $1::text

--- both

WITH spent AS (DELETE FROM place.rowlock_waiter WHERE name = $1::text AND attempt = $2::text)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT $1::text AS name, $2::text AS acquisition) w CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM place.rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL AND set_config('synchronous_commit', 'on', true) IS NOT NULL
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND false AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND false AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN nullif('', '') || concat('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting

--- both

WITH spent AS (
  DELETE FROM place.rowlock_waiter t USING unnest($1::text[], $2::text[]) AS u (name, acquisition)
  WHERE t.name = u.name COLLATE "C" AND t.attempt = u.acquisition)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT * FROM unnest($1::text[], $2::text[]) AS u (name, acquisition) ORDER BY name COLLATE "C") w
    CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM place.rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL AND set_config('synchronous_commit', 'on', true) IS NOT NULL
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND false AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND false AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN nullif('', '') || concat('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting

--- both

WITH own AS MATERIALIZED (
  SELECT r.acquisition, clock_timestamp() AS at FROM (
    SELECT acquisition FROM place.rowlock_lock WHERE name = $1::text AND owner = '(shared)' AND set_config('synchronous_commit', 'on', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
    FOR UPDATE) r),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = $1::text AND s.acquisition = $2::text AND s.since = own.acquisition
    AND ($3::bigint = 0 OR s.expires_at <= own.at)
  RETURNING s.permits, own.at)
UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
  owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
  version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
  expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
FROM gone g WHERE l.name = $1::text
RETURNING $2::text, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
    WHERE q.name = $1::text AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
  (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> CASE WHEN $3::bigint = 0 THEN left($2::text, 16) ELSE '' END AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END,
  l.waiting

--- both

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, expired)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)' AND set_config('synchronous_commit', 'on', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
      FOR UPDATE) r) k),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND (own.expired = 0 OR s.expires_at <= own.at)
  RETURNING s.name, s.acquisition, s.permits, own.expired, own.at),
freed AS (
  UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
    owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
    version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
    expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
  FROM (SELECT name, sum(permits)::bigint AS permits, max(at) AS at, array_agg(acquisition) AS acquisitions,
      CASE WHEN max(expired) = 0 THEN left(min(acquisition), 16) ELSE '' END AS teller FROM gone GROUP BY name) g
  WHERE l.name = g.name
  RETURNING g.acquisitions, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
      WHERE q.name = l.name AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
    (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> g.teller AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END AS told, l.waiting)
SELECT unnest(acquisitions), told, waiting FROM freed

--- both

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, expired)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)' AND set_config('synchronous_commit', 'on', true) IS NOT NULL AND set_config('lock_timeout', '100ms', true) IS NOT NULL
      FOR UPDATE SKIP LOCKED) r) k),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND (own.expired = 0 OR s.expires_at <= own.at)
  RETURNING s.name, s.acquisition, s.permits, own.expired, own.at),
freed AS (
  UPDATE place.rowlock_lock l SET sharers = l.sharers - g.permits,
    owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
    version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint) END,
    expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
  FROM (SELECT name, sum(permits)::bigint AS permits, max(at) AS at, array_agg(acquisition) AS acquisitions,
      CASE WHEN max(expired) = 0 THEN left(min(acquisition), 16) ELSE '' END AS teller FROM gone GROUP BY name) g
  WHERE l.name = g.name
  RETURNING g.acquisitions, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM place.rowlock_waiter q
      WHERE q.name = l.name AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
    (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> g.teller AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255) END AS told, l.waiting)
SELECT unnest(acquisitions), told, waiting FROM freed

--- guarded

WITH seen AS MATERIALIZED (
  SELECT owner, expires_at, waiting FROM place.rowlock_lock WHERE name = $1::text),
taken AS (
  UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = $2::text,
    thread = $3::text, acquisition = $4::text, acquired_at = clock_timestamp(),
    expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond', note = $6::text
  WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp()) AND NOT waiting AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g)
    FOR UPDATE SKIP LOCKED)
  RETURNING version),
made AS (
  INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT $1::text, greatest((SELECT token FROM place.rowlock_share WHERE name = '' AND acquisition = '') + 1,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), $2::text, $3::text, $4::text, clock_timestamp(),
    clock_timestamp() + $5::bigint * interval '1 microsecond', $6::text
  WHERE NOT EXISTS (SELECT FROM seen) AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g) ON CONFLICT (name) DO NOTHING
  RETURNING version)
SELECT $4::text, NULL::bigint, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint, (owner = '(shared)')::integer FROM seen
WHERE waiting OR (owner IS NOT NULL AND (expires_at IS NULL OR expires_at > clock_timestamp()))
UNION ALL SELECT $4::text, version, $5::bigint, 0 FROM taken
UNION ALL SELECT $4::text, version, $5::bigint, 0 FROM made

--- guarded

WITH wanted AS MATERIALIZED (
  SELECT w.*, l.name IS NULL AS is_new,
    l.owner IS NOT NULL AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp()) AS is_busy, l.expires_at,
    (l.owner = '(shared)')::integer AS is_shared, l.waiting
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[])
    AS w (name, owner, thread, acquisition, lease, note)
  LEFT JOIN place.rowlock_lock l ON l.name = w.name COLLATE "C" ORDER BY w.name COLLATE "C"),
taken AS (
  UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM w.at) * 1000000)::bigint), owner = w.owner, thread = w.thread,
    acquisition = w.acquisition, acquired_at = w.at, expires_at = w.at + w.lease * interval '1 microsecond',
    note = w.note
  FROM (SELECT w.*, clock_timestamp() AS at FROM wanted w, LATERAL (
      SELECT FROM place.rowlock_lock r
      WHERE r.name = w.name COLLATE "C" AND (r.owner IS NULL OR r.expires_at <= clock_timestamp())
        AND NOT r.waiting AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g)
      FOR UPDATE SKIP LOCKED) free
    WHERE NOT w.is_new AND NOT w.is_busy) w
  WHERE l.name = w.name COLLATE "C"
  RETURNING l.acquisition, l.version, w.lease),
made AS (
  INSERT INTO place.rowlock_lock AS l (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT w.name, greatest((SELECT token FROM place.rowlock_share WHERE name = '' AND acquisition = '') + 1, (extract(epoch FROM w.at) * 1000000)::bigint),
    w.owner, w.thread, w.acquisition, w.at, w.at + w.lease * interval '1 microsecond', w.note
  FROM (SELECT *, clock_timestamp() AS at FROM wanted WHERE is_new AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g)) w ON CONFLICT (name) DO NOTHING
  RETURNING l.acquisition, l.version, (extract(epoch FROM (CASE l.expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE l.expires_at END) - l.acquired_at) * 1000000)::bigint AS lease)
SELECT acquisition, NULL::bigint, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint, is_shared FROM wanted WHERE is_busy OR waiting
UNION ALL SELECT acquisition, version, lease, 0 FROM taken
UNION ALL SELECT acquisition, version, lease, 0 FROM made

--- guarded

UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = $2::text,
  thread = $3::text, acquisition = $4::text, acquired_at = clock_timestamp(),
  expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond', note = $6::text
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp()) AND NOT waiting AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g)
  FOR UPDATE SKIP LOCKED)
RETURNING acquisition, version, $5::bigint, 0

--- guarded

UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM w.at) * 1000000)::bigint), owner = w.owner, thread = w.thread,
  acquisition = w.acquisition, acquired_at = w.at, expires_at = w.at + w.lease * interval '1 microsecond', note = w.note
FROM (SELECT w.*, clock_timestamp() AS at FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[],
      $6::text[]) AS u (name, owner, thread, acquisition, lease, note) ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND (r.owner IS NULL OR r.expires_at <= clock_timestamp())
    AND NOT r.waiting AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g)
  FOR UPDATE SKIP LOCKED) free) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.acquisition, l.version, w.lease, 0

--- guarded

UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  acquisition = g.acquisition, acquired_at = g.at, expires_at = g.at + g.lease * interval '1 microsecond', note = g.note
FROM (SELECT f.*, clock_timestamp() AS at FROM (
    SELECT r.name, w.owner, w.thread, w.acquisition, w.lease, w.note
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[])
      WITH ORDINALITY AS w (name, owner, thread, acquisition, lease, note, place)
    JOIN place.rowlock_lock r ON r.name = w.name COLLATE "C"
    WHERE (r.owner IS NULL OR r.expires_at <= clock_timestamp()) AND NOT r.waiting AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g)
    ORDER BY w.place LIMIT 1 FOR UPDATE OF r SKIP LOCKED) f) g
WHERE l.name = g.name
RETURNING l.name, l.version, g.lease

--- guarded

WITH free AS MATERIALIZED (
  SELECT r.name, r.acquisition AS had, w.owner, w.thread, w.acquisition, w.lease, w.note
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[],
    $7::bigint[])
    AS w (name, owner, thread, acquisition, lease, note, version)
  JOIN place.rowlock_lock r ON r.name = w.name COLLATE "C"
  WHERE (r.owner IS NULL OR r.expires_at <= clock_timestamp())
    AND CASE WHEN w.version = 0 THEN NOT r.waiting ELSE r.version = w.version END AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g)
  ORDER BY r.name FOR UPDATE OF r SKIP LOCKED),
all_of_them AS MATERIALIZED (
  SELECT clock_timestamp() AS at FROM (SELECT count(*) AS number FROM free) f
    WHERE f.number = cardinality($1::text[])),
passed AS (
  DELETE FROM place.rowlock_waiter w USING all_of_them, free g WHERE w.name = g.name AND w.attempt = g.had)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM a.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  acquisition = g.acquisition, acquired_at = a.at, expires_at = a.at + g.lease * interval '1 microsecond', note = g.note
FROM all_of_them a, free g
WHERE l.name = g.name
RETURNING l.acquisition, l.version, g.lease

--- guarded

WITH seen AS MATERIALIZED (
  SELECT owner, expires_at, waiting, acquisition, version FROM place.rowlock_lock WHERE name = $1::text),
queue AS MATERIALIZED (
  SELECT EXISTS (SELECT FROM place.rowlock_waiter q
      WHERE name = $1::text AND ticket < $8::bigint AND expires_at > clock_timestamp()
        AND ($9::bigint = 0 OR ((q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)) AND NOT EXISTS (
          SELECT FROM seen WHERE expires_at <= clock_timestamp() - interval '1 second')))
        AND attempt IS DISTINCT FROM (SELECT acquisition FROM seen)) AS is_behind,
    $7::bigint = 0 OR $9::bigint > 0
      OR EXISTS (SELECT FROM place.rowlock_waiter WHERE ticket = $7::bigint AND owner = $2::text) AS has_place),
taken AS (
  UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = $2::text,
    thread = $3::text, acquisition = $4::text, acquired_at = clock_timestamp(),
    expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond', note = $6::text
  WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp())
      AND version = (SELECT version FROM seen) AND (SELECT has_place AND NOT is_behind FROM queue) AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g)
    FOR UPDATE SKIP LOCKED)
  RETURNING version),
made AS (
  INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT $1::text, greatest((SELECT token FROM place.rowlock_share WHERE name = '' AND acquisition = '') + 1,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), $2::text, $3::text, $4::text, clock_timestamp(),
    clock_timestamp() + $5::bigint * interval '1 microsecond', $6::text
  WHERE NOT EXISTS (SELECT FROM seen) AND (SELECT has_place AND NOT is_behind FROM queue) AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g)
    ON CONFLICT (name) DO NOTHING
  RETURNING version),
claimed AS (
  UPDATE place.rowlock_lock SET expires_at = greatest(expires_at,
    clock_timestamp() + $5::bigint * interval '1 microsecond')
  WHERE name = (SELECT name FROM place.rowlock_lock
      WHERE name = $1::text AND owner = $2::text AND expires_at > clock_timestamp()
        AND acquisition = (SELECT attempt FROM place.rowlock_waiter WHERE ticket = $7::bigint
          AND owner = $2::text) AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g)
      FOR NO KEY UPDATE SKIP LOCKED)
    AND expires_at > clock_timestamp()
  RETURNING acquisition, version),
granted AS MATERIALIZED (SELECT version FROM taken UNION ALL SELECT version FROM made),
gone AS (
  DELETE FROM place.rowlock_waiter WHERE ticket = (SELECT w.ticket FROM place.rowlock_waiter w
    WHERE w.ticket = $7::bigint AND w.owner = $2::text
      AND EXISTS (SELECT version FROM granted UNION ALL SELECT version FROM claimed) FOR UPDATE SKIP LOCKED)
  RETURNING ticket),
passed AS (
  DELETE FROM place.rowlock_waiter
  WHERE name = $1::text AND attempt = (SELECT acquisition FROM seen) AND EXISTS (SELECT FROM granted))
SELECT $4::text, NULL::bigint, (extract(epoch FROM seen.expires_at - clock_timestamp()) * 1000000)::bigint, is_behind, has_place, false,
  seen.owner IS NULL, seen.acquisition, seen.version, coalesce((SELECT waiting FROM seen), false)
FROM queue LEFT JOIN seen ON seen.owner IS NOT NULL AND (seen.expires_at IS NULL OR seen.expires_at > clock_timestamp())
WHERE seen.owner IS NOT NULL OR is_behind OR NOT has_place
UNION ALL SELECT $4::text, NULL::bigint, $5::bigint, false, true, EXISTS (SELECT FROM gone), false,
  acquisition, version, true
FROM claimed
UNION ALL SELECT $4::text, version, $5::bigint, false, true, EXISTS (SELECT FROM gone), true, NULL::text,
  NULL::bigint, NULL::boolean
FROM granted

--- guarded

UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = $2::text,
  thread = $3::text, acquisition = $4::text, acquired_at = clock_timestamp(),
  expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond', note = $6::text
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND version = $7::bigint
    AND (owner IS NULL OR expires_at <= clock_timestamp()) AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g)
  FOR UPDATE SKIP LOCKED)
RETURNING $4::text, version, $5::bigint

--- guarded

UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp()) AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g) FOR UPDATE SKIP LOCKED)
RETURNING name, version, waiting

--- guarded

UPDATE place.rowlock_lock l SET version = greatest(version + $4::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint),
  expires_at = greatest(expires_at, clock_timestamp() + $3::bigint * interval '1 microsecond')
WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
      AND expires_at > clock_timestamp() AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g)
    FOR UPDATE SKIP LOCKED)
  AND expires_at > clock_timestamp()
RETURNING acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint, version,
  (EXISTS (SELECT FROM place.rowlock_waiter w
    WHERE w.name = $1::text AND w.owner <> l.owner AND w.expires_at > clock_timestamp()))::integer

--- guarded

WITH spent AS (DELETE FROM place.rowlock_waiter WHERE name = $1::text AND attempt = $2::text)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT $1::text AS name, $2::text AS acquisition) w CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM place.rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL AND set_config('synchronous_commit', 'off', true) IS NOT NULL
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g) AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g) AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN pg_notify('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting

--- guarded

WITH spent AS (
  DELETE FROM place.rowlock_waiter t USING unnest($1::text[], $2::text[]) AS u (name, acquisition)
  WHERE t.name = u.name COLLATE "C" AND t.attempt = u.acquisition)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT * FROM unnest($1::text[], $2::text[]) AS u (name, acquisition) ORDER BY name COLLATE "C") w
    CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM place.rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL AND set_config('synchronous_commit', 'off', true) IS NOT NULL
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g) AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g) AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN pg_notify('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting

--- guarded

WITH asked AS (SELECT *
  FROM (VALUES ($2::text, $3::text, $4::text, $5::bigint, $6::text, $7::bigint,
  1)) AS a (owner, thread, acquisition, lease, note, permits, place)),
taken AS (
  UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM own.at) * 1000000)::bigint) + own.number - 1, owner = '(shared)',
    thread = NULL, note = NULL, sharers = CASE WHEN own.joins THEN l.sharers ELSE 0 END + own.permits,
    acquisition = CASE WHEN own.joins THEN l.acquisition ELSE 'shared:' || $4::text END,
    acquired_at = CASE WHEN own.joins THEN l.acquired_at ELSE own.at END,
    expires_at = CASE WHEN own.joins THEN greatest(l.expires_at, own.until) ELSE own.until END
  FROM (SELECT r.at, r.at + total.lease * interval '1 microsecond' AS until, total.number, total.permits,
      r.owner IS NOT DISTINCT FROM '(shared)' AND r.expires_at > r.at AS joins, r.acquisition AS had FROM (
    SELECT k.owner, k.expires_at, k.acquisition, clock_timestamp() AS at FROM (
      SELECT owner, expires_at, acquisition FROM place.rowlock_lock
      WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp()
          OR (owner = '(shared)' AND sharers <= $8::bigint))
        AND CASE WHEN $9::bigint = 0 THEN NOT waiting
          ELSE version = $9::bigint OR (owner IS NOT DISTINCT FROM '(shared)'
            AND expires_at > clock_timestamp()) END
         AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g)
      FOR UPDATE) k) r,
    (SELECT max(lease) AS lease, sum(permits)::bigint AS permits, count(*) AS number FROM asked) total) own
  WHERE l.name = $1::text
  RETURNING l.version - own.number AS before, l.acquisition, own.at, own.joins, own.had),
passed AS (
  DELETE FROM place.rowlock_waiter w USING taken t WHERE w.name = $1::text AND w.attempt = t.had AND NOT t.joins),
share AS (
  INSERT INTO place.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
  SELECT $1::text, a.acquisition, t.acquisition, a.permits, t.before + a.place, a.owner, a.thread, t.at,
    t.at + a.lease * interval '1 microsecond', a.note FROM taken t, asked a)
SELECT a.acquisition, t.before + a.place, a.lease FROM taken t, asked a

--- guarded

WITH asked AS MATERIALIZED (
  SELECT u.*, row_number() OVER (PARTITION BY name ORDER BY acquisition) AS place
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[],
    $7::bigint[], $8::bigint[], $9::bigint[])
    AS u (name, owner, thread, acquisition, lease, note, permits, room, version)),
own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.* FROM (
      SELECT name, max(lease) AS lease, sum(permits)::bigint AS permits, count(*) AS number,
        min(acquisition) AS first, max(room) AS room, max(version) AS version
      FROM asked GROUP BY name ORDER BY name COLLATE "C") w, LATERAL (
      SELECT owner, expires_at, acquisition AS before FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND (owner IS NULL OR expires_at <= clock_timestamp()
          OR (owner = '(shared)' AND sharers <= w.room))
        AND CASE WHEN w.version = 0 THEN NOT waiting
          ELSE version = w.version OR (owner IS NOT DISTINCT FROM '(shared)' AND expires_at > clock_timestamp()) END
         AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g)
      FOR UPDATE) r) k),
joining AS (
  SELECT own.*, at + lease * interval '1 microsecond' AS until,
    owner IS NOT DISTINCT FROM '(shared)' AND expires_at > at AS joins FROM own),
taken AS (
  UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM own.at) * 1000000)::bigint) + own.number - 1, owner = '(shared)',
    thread = NULL, note = NULL, sharers = CASE WHEN own.joins THEN l.sharers ELSE 0 END + own.permits,
    acquisition = CASE WHEN own.joins THEN l.acquisition ELSE 'shared:' || own.first END,
    acquired_at = CASE WHEN own.joins THEN l.acquired_at ELSE own.at END,
    expires_at = CASE WHEN own.joins THEN greatest(l.expires_at, own.until) ELSE own.until END
  FROM joining own WHERE l.name = own.name COLLATE "C"
  RETURNING l.name, l.version - own.number AS token, l.acquisition, own.at, own.joins, own.before),
passed AS (
  DELETE FROM place.rowlock_waiter w USING taken t WHERE w.name = t.name AND w.attempt = t.before AND NOT t.joins),
share AS (
  INSERT INTO place.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
  SELECT t.name, a.acquisition, t.acquisition, a.permits, t.token + a.place, a.owner, a.thread, t.at,
    t.at + a.lease * interval '1 microsecond', a.note FROM taken t JOIN asked a ON a.name = t.name COLLATE "C")
SELECT a.acquisition, t.token + a.place, a.lease FROM taken t JOIN asked a ON a.name = t.name COLLATE "C"

--- guarded

WITH asked AS MATERIALIZED (
  SELECT u.*, row_number() OVER (PARTITION BY name ORDER BY acquisition) AS place
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[],
    $7::bigint[], $8::bigint[], $9::bigint[])
    AS u (name, owner, thread, acquisition, lease, note, permits, room, version)),
own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.* FROM (
      SELECT name, max(lease) AS lease, sum(permits)::bigint AS permits, count(*) AS number,
        min(acquisition) AS first, max(room) AS room, max(version) AS version
      FROM asked GROUP BY name ORDER BY name COLLATE "C") w, LATERAL (
      SELECT owner, expires_at, acquisition AS before FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND (owner IS NULL OR expires_at <= clock_timestamp()
          OR (owner = '(shared)' AND sharers <= w.room))
        AND CASE WHEN w.version = 0 THEN NOT waiting
          ELSE version = w.version OR (owner IS NOT DISTINCT FROM '(shared)' AND expires_at > clock_timestamp()) END
         AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g)
      FOR UPDATE SKIP LOCKED) r) k),
joining AS (
  SELECT own.*, at + lease * interval '1 microsecond' AS until,
    owner IS NOT DISTINCT FROM '(shared)' AND expires_at > at AS joins FROM own),
taken AS (
  UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM own.at) * 1000000)::bigint) + own.number - 1, owner = '(shared)',
    thread = NULL, note = NULL, sharers = CASE WHEN own.joins THEN l.sharers ELSE 0 END + own.permits,
    acquisition = CASE WHEN own.joins THEN l.acquisition ELSE 'shared:' || own.first END,
    acquired_at = CASE WHEN own.joins THEN l.acquired_at ELSE own.at END,
    expires_at = CASE WHEN own.joins THEN greatest(l.expires_at, own.until) ELSE own.until END
  FROM joining own WHERE l.name = own.name COLLATE "C"
  RETURNING l.name, l.version - own.number AS token, l.acquisition, own.at, own.joins, own.before),
passed AS (
  DELETE FROM place.rowlock_waiter w USING taken t WHERE w.name = t.name AND w.attempt = t.before AND NOT t.joins),
share AS (
  INSERT INTO place.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
  SELECT t.name, a.acquisition, t.acquisition, a.permits, t.token + a.place, a.owner, a.thread, t.at,
    t.at + a.lease * interval '1 microsecond', a.note FROM taken t JOIN asked a ON a.name = t.name COLLATE "C")
SELECT a.acquisition, t.token + a.place, a.lease FROM taken t JOIN asked a ON a.name = t.name COLLATE "C"

--- guarded

WITH own AS MATERIALIZED (
  SELECT r.acquisition, r.sharers, clock_timestamp() AS at FROM (
    SELECT acquisition, sharers FROM place.rowlock_lock WHERE name = $1::text AND owner = '(shared)' AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g)
    FOR UPDATE) r),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = $1::text AND s.acquisition = $2::text AND s.since = own.acquisition
    AND s.permits = own.sharers
    AND s.expires_at > own.at
  RETURNING s.expires_at, own.at)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = $3::text, thread = $4::text,
  acquisition = $2::text, acquired_at = g.at, expires_at = g.expires_at, note = $5::text, sharers = 0
FROM gone g WHERE l.name = $1::text
RETURNING $2::text, l.version, (extract(epoch FROM (CASE l.expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE l.expires_at END) - g.at) * 1000000)::bigint

--- guarded

WITH spent AS (DELETE FROM place.rowlock_waiter WHERE name = $1::text AND attempt = $2::text)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT $1::text AS name, $2::text AS acquisition) w CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM place.rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL AND set_config('synchronous_commit', 'off', true) IS NOT NULL
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g) AND false AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g) AND false AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN nullif('', '') || concat('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting

--- guarded

WITH spent AS (
  DELETE FROM place.rowlock_waiter t USING unnest($1::text[], $2::text[]) AS u (name, acquisition)
  WHERE t.name = u.name COLLATE "C" AND t.attempt = u.acquisition)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT * FROM unnest($1::text[], $2::text[]) AS u (name, acquisition) ORDER BY name COLLATE "C") w
    CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM place.rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL AND set_config('synchronous_commit', 'off', true) IS NOT NULL
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g) AND false AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND g.relaxed_from IS NULL FROM place.rowlock_guard g) AND false AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN nullif('', '') || concat('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting

--- relaxed

WITH seen AS MATERIALIZED (
  SELECT owner, expires_at, waiting FROM place.rowlock_lock WHERE name = $1::text),
taken AS (
  UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = $2::text,
    thread = $3::text, acquisition = $4::text, acquired_at = clock_timestamp(),
    expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond', note = $6::text
  WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp()) AND NOT waiting AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
    FOR UPDATE SKIP LOCKED)
  RETURNING version),
made AS (
  INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT $1::text, greatest((SELECT token FROM place.rowlock_share WHERE name = '' AND acquisition = '') + 1,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), $2::text, $3::text, $4::text, clock_timestamp(),
    clock_timestamp() + $5::bigint * interval '1 microsecond', $6::text
  WHERE NOT EXISTS (SELECT FROM seen) AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL ON CONFLICT (name) DO NOTHING
  RETURNING version)
SELECT $4::text, NULL::bigint, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint, (owner = '(shared)')::integer FROM seen
WHERE waiting OR (owner IS NOT NULL AND (expires_at IS NULL OR expires_at > clock_timestamp()))
UNION ALL SELECT $4::text, version, $5::bigint, 0 FROM taken
UNION ALL SELECT $4::text, version, $5::bigint, 0 FROM made

--- relaxed

WITH wanted AS MATERIALIZED (
  SELECT w.*, l.name IS NULL AS is_new,
    l.owner IS NOT NULL AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp()) AS is_busy, l.expires_at,
    (l.owner = '(shared)')::integer AS is_shared, l.waiting
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[])
    AS w (name, owner, thread, acquisition, lease, note)
  LEFT JOIN place.rowlock_lock l ON l.name = w.name COLLATE "C" ORDER BY w.name COLLATE "C"),
taken AS (
  UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM w.at) * 1000000)::bigint), owner = w.owner, thread = w.thread,
    acquisition = w.acquisition, acquired_at = w.at, expires_at = w.at + w.lease * interval '1 microsecond',
    note = w.note
  FROM (SELECT w.*, clock_timestamp() AS at FROM wanted w, LATERAL (
      SELECT FROM place.rowlock_lock r
      WHERE r.name = w.name COLLATE "C" AND (r.owner IS NULL OR r.expires_at <= clock_timestamp())
        AND NOT r.waiting AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
      FOR UPDATE SKIP LOCKED) free
    WHERE NOT w.is_new AND NOT w.is_busy) w
  WHERE l.name = w.name COLLATE "C"
  RETURNING l.acquisition, l.version, w.lease),
made AS (
  INSERT INTO place.rowlock_lock AS l (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT w.name, greatest((SELECT token FROM place.rowlock_share WHERE name = '' AND acquisition = '') + 1, (extract(epoch FROM w.at) * 1000000)::bigint),
    w.owner, w.thread, w.acquisition, w.at, w.at + w.lease * interval '1 microsecond', w.note
  FROM (SELECT *, clock_timestamp() AS at FROM wanted WHERE is_new AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL) w ON CONFLICT (name) DO NOTHING
  RETURNING l.acquisition, l.version, (extract(epoch FROM (CASE l.expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE l.expires_at END) - l.acquired_at) * 1000000)::bigint AS lease)
SELECT acquisition, NULL::bigint, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint, is_shared FROM wanted WHERE is_busy OR waiting
UNION ALL SELECT acquisition, version, lease, 0 FROM taken
UNION ALL SELECT acquisition, version, lease, 0 FROM made

--- relaxed

UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = $2::text,
  thread = $3::text, acquisition = $4::text, acquired_at = clock_timestamp(),
  expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond', note = $6::text
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp()) AND NOT waiting AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
  FOR UPDATE SKIP LOCKED)
RETURNING acquisition, version, $5::bigint, 0

--- relaxed

UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM w.at) * 1000000)::bigint), owner = w.owner, thread = w.thread,
  acquisition = w.acquisition, acquired_at = w.at, expires_at = w.at + w.lease * interval '1 microsecond', note = w.note
FROM (SELECT w.*, clock_timestamp() AS at FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[],
      $6::text[]) AS u (name, owner, thread, acquisition, lease, note) ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND (r.owner IS NULL OR r.expires_at <= clock_timestamp())
    AND NOT r.waiting AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
  FOR UPDATE SKIP LOCKED) free) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.acquisition, l.version, w.lease, 0

--- relaxed

UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  acquisition = g.acquisition, acquired_at = g.at, expires_at = g.at + g.lease * interval '1 microsecond', note = g.note
FROM (SELECT f.*, clock_timestamp() AS at FROM (
    SELECT r.name, w.owner, w.thread, w.acquisition, w.lease, w.note
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[])
      WITH ORDINALITY AS w (name, owner, thread, acquisition, lease, note, place)
    JOIN place.rowlock_lock r ON r.name = w.name COLLATE "C"
    WHERE (r.owner IS NULL OR r.expires_at <= clock_timestamp()) AND NOT r.waiting AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
    ORDER BY w.place LIMIT 1 FOR UPDATE OF r SKIP LOCKED) f) g
WHERE l.name = g.name
RETURNING l.name, l.version, g.lease

--- relaxed

WITH free AS MATERIALIZED (
  SELECT r.name, r.acquisition AS had, w.owner, w.thread, w.acquisition, w.lease, w.note
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[],
    $7::bigint[])
    AS w (name, owner, thread, acquisition, lease, note, version)
  JOIN place.rowlock_lock r ON r.name = w.name COLLATE "C"
  WHERE (r.owner IS NULL OR r.expires_at <= clock_timestamp())
    AND CASE WHEN w.version = 0 THEN NOT r.waiting ELSE r.version = w.version END AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
  ORDER BY r.name FOR UPDATE OF r SKIP LOCKED),
all_of_them AS MATERIALIZED (
  SELECT clock_timestamp() AS at FROM (SELECT count(*) AS number FROM free) f
    WHERE f.number = cardinality($1::text[])),
passed AS (
  DELETE FROM place.rowlock_waiter w USING all_of_them, free g WHERE w.name = g.name AND w.attempt = g.had)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM a.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  acquisition = g.acquisition, acquired_at = a.at, expires_at = a.at + g.lease * interval '1 microsecond', note = g.note
FROM all_of_them a, free g
WHERE l.name = g.name
RETURNING l.acquisition, l.version, g.lease

--- relaxed

WITH seen AS MATERIALIZED (
  SELECT owner, expires_at, waiting, acquisition, version FROM place.rowlock_lock WHERE name = $1::text),
queue AS MATERIALIZED (
  SELECT EXISTS (SELECT FROM place.rowlock_waiter q
      WHERE name = $1::text AND ticket < $8::bigint AND expires_at > clock_timestamp()
        AND ($9::bigint = 0 OR ((q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)) AND NOT EXISTS (
          SELECT FROM seen WHERE expires_at <= clock_timestamp() - interval '1 second')))
        AND attempt IS DISTINCT FROM (SELECT acquisition FROM seen)) AS is_behind,
    $7::bigint = 0 OR $9::bigint > 0
      OR EXISTS (SELECT FROM place.rowlock_waiter WHERE ticket = $7::bigint AND owner = $2::text) AS has_place),
taken AS (
  UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = $2::text,
    thread = $3::text, acquisition = $4::text, acquired_at = clock_timestamp(),
    expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond', note = $6::text
  WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp())
      AND version = (SELECT version FROM seen) AND (SELECT has_place AND NOT is_behind FROM queue) AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
    FOR UPDATE SKIP LOCKED)
  RETURNING version),
made AS (
  INSERT INTO place.rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT $1::text, greatest((SELECT token FROM place.rowlock_share WHERE name = '' AND acquisition = '') + 1,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), $2::text, $3::text, $4::text, clock_timestamp(),
    clock_timestamp() + $5::bigint * interval '1 microsecond', $6::text
  WHERE NOT EXISTS (SELECT FROM seen) AND (SELECT has_place AND NOT is_behind FROM queue) AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
    ON CONFLICT (name) DO NOTHING
  RETURNING version),
claimed AS (
  UPDATE place.rowlock_lock SET expires_at = greatest(expires_at,
    clock_timestamp() + $5::bigint * interval '1 microsecond')
  WHERE name = (SELECT name FROM place.rowlock_lock
      WHERE name = $1::text AND owner = $2::text AND expires_at > clock_timestamp()
        AND acquisition = (SELECT attempt FROM place.rowlock_waiter WHERE ticket = $7::bigint
          AND owner = $2::text) AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
      FOR NO KEY UPDATE SKIP LOCKED)
    AND expires_at > clock_timestamp()
  RETURNING acquisition, version),
granted AS MATERIALIZED (SELECT version FROM taken UNION ALL SELECT version FROM made),
gone AS (
  DELETE FROM place.rowlock_waiter WHERE ticket = (SELECT w.ticket FROM place.rowlock_waiter w
    WHERE w.ticket = $7::bigint AND w.owner = $2::text
      AND EXISTS (SELECT version FROM granted UNION ALL SELECT version FROM claimed) FOR UPDATE SKIP LOCKED)
  RETURNING ticket),
passed AS (
  DELETE FROM place.rowlock_waiter
  WHERE name = $1::text AND attempt = (SELECT acquisition FROM seen) AND EXISTS (SELECT FROM granted))
SELECT $4::text, NULL::bigint, (extract(epoch FROM seen.expires_at - clock_timestamp()) * 1000000)::bigint, is_behind, has_place, false,
  seen.owner IS NULL, seen.acquisition, seen.version, coalesce((SELECT waiting FROM seen), false)
FROM queue LEFT JOIN seen ON seen.owner IS NOT NULL AND (seen.expires_at IS NULL OR seen.expires_at > clock_timestamp())
WHERE seen.owner IS NOT NULL OR is_behind OR NOT has_place
UNION ALL SELECT $4::text, NULL::bigint, $5::bigint, false, true, EXISTS (SELECT FROM gone), false,
  acquisition, version, true
FROM claimed
UNION ALL SELECT $4::text, version, $5::bigint, false, true, EXISTS (SELECT FROM gone), true, NULL::text,
  NULL::bigint, NULL::boolean
FROM granted

--- relaxed

UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = $2::text,
  thread = $3::text, acquisition = $4::text, acquired_at = clock_timestamp(),
  expires_at = clock_timestamp() + $5::bigint * interval '1 microsecond', note = $6::text
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND version = $7::bigint
    AND (owner IS NULL OR expires_at <= clock_timestamp()) AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
  FOR UPDATE SKIP LOCKED)
RETURNING $4::text, version, $5::bigint

--- relaxed

UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp()) AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) FOR UPDATE SKIP LOCKED)
RETURNING name, version, waiting

--- relaxed

UPDATE place.rowlock_lock SET expires_at = greatest(expires_at, clock_timestamp() + $3::bigint * interval '1 microsecond')
WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
      AND expires_at > clock_timestamp() AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
    FOR NO KEY UPDATE SKIP LOCKED)
  AND expires_at > clock_timestamp()
RETURNING acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint

--- relaxed

UPDATE place.rowlock_lock l SET expires_at = greatest(l.expires_at, w.at + w.lease * interval '1 microsecond')
FROM (SELECT w.*, clock_timestamp() AS at FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, lease)
    ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND r.expires_at > clock_timestamp() AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
  FOR NO KEY UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C" AND l.expires_at > w.at
RETURNING l.acquisition, (extract(epoch FROM (CASE l.expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE l.expires_at END) - w.at) * 1000000)::bigint

--- relaxed

UPDATE place.rowlock_lock SET expires_at = clock_timestamp() + $3::bigint * interval '1 microsecond'
WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
      AND expires_at > clock_timestamp() AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
    FOR NO KEY UPDATE SKIP LOCKED)
  AND expires_at > clock_timestamp()
RETURNING acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint

--- relaxed

UPDATE place.rowlock_lock l SET expires_at = w.at + w.lease * interval '1 microsecond'
FROM (SELECT w.*, clock_timestamp() AS at FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, lease)
    ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND r.expires_at > clock_timestamp() AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
  FOR NO KEY UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C" AND l.expires_at > w.at
RETURNING l.acquisition, (extract(epoch FROM (CASE l.expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE l.expires_at END) - w.at) * 1000000)::bigint

--- relaxed

UPDATE place.rowlock_lock l SET version = greatest(version + $4::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint),
  expires_at = greatest(expires_at, clock_timestamp() + $3::bigint * interval '1 microsecond')
WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
      AND expires_at > clock_timestamp() AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
    FOR UPDATE SKIP LOCKED)
  AND expires_at > clock_timestamp()
RETURNING acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - clock_timestamp()) * 1000000)::bigint, version,
  (EXISTS (SELECT FROM place.rowlock_waiter w
    WHERE w.name = $1::text AND w.owner <> l.owner AND w.expires_at > clock_timestamp()))::integer

--- relaxed

WITH spent AS (DELETE FROM place.rowlock_waiter WHERE name = $1::text AND attempt = $2::text)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT $1::text AS name, $2::text AS acquisition) w CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM place.rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL AND set_config('synchronous_commit', 'off', true) IS NOT NULL
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN pg_notify('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting

--- relaxed

WITH spent AS (
  DELETE FROM place.rowlock_waiter t USING unnest($1::text[], $2::text[]) AS u (name, acquisition)
  WHERE t.name = u.name COLLATE "C" AND t.attempt = u.acquisition)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT * FROM unnest($1::text[], $2::text[]) AS u (name, acquisition) ORDER BY name COLLATE "C") w
    CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM place.rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL AND set_config('synchronous_commit', 'off', true) IS NOT NULL
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN pg_notify('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting

--- relaxed

UPDATE place.rowlock_lock SET expires_at = acquired_at + $3::bigint * interval '1 microsecond', thread = '(released)'
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
    AND expires_at > clock_timestamp() AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
  FOR NO KEY UPDATE SKIP LOCKED)
RETURNING acquisition,
  (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> left($2::text, 16) AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255)

--- relaxed

UPDATE place.rowlock_lock l SET expires_at = l.acquired_at + w.stay * interval '1 microsecond', thread = '(released)'
FROM (SELECT w.* FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, stay)
    ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND r.expires_at > clock_timestamp() AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
  FOR NO KEY UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.acquisition,
  (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> left(l.acquisition, 16) AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255)

--- relaxed

WITH freed AS (
  UPDATE place.rowlock_lock SET owner = NULL, thread = NULL, note = NULL,
    version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), expires_at = clock_timestamp()
  WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND version = $2::bigint AND owner IS NOT NULL AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL FOR UPDATE SKIP LOCKED)
  RETURNING name, acquisition),
spent AS (
  DELETE FROM place.rowlock_waiter w USING freed WHERE w.name = freed.name AND w.attempt = freed.acquisition)
SELECT freed.name,
  (SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.attempt IS DISTINCT FROM freed.acquisition AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.attempt IS DISTINCT FROM freed.acquisition AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> '' AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255)
FROM freed

--- relaxed

WITH asked AS (SELECT *
  FROM (VALUES ($2::text, $3::text, $4::text, $5::bigint, $6::text, $7::bigint,
  1)) AS a (owner, thread, acquisition, lease, note, permits, place)),
taken AS (
  UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM own.at) * 1000000)::bigint) + own.number - 1, owner = '(shared)',
    thread = NULL, note = NULL, sharers = CASE WHEN own.joins THEN l.sharers ELSE 0 END + own.permits,
    acquisition = CASE WHEN own.joins THEN l.acquisition ELSE 'shared:' || $4::text END,
    acquired_at = CASE WHEN own.joins THEN l.acquired_at ELSE own.at END,
    expires_at = CASE WHEN own.joins THEN greatest(l.expires_at, own.until) ELSE own.until END
  FROM (SELECT r.at, r.at + total.lease * interval '1 microsecond' AS until, total.number, total.permits,
      r.owner IS NOT DISTINCT FROM '(shared)' AND r.expires_at > r.at AS joins, r.acquisition AS had FROM (
    SELECT k.owner, k.expires_at, k.acquisition, clock_timestamp() AS at FROM (
      SELECT owner, expires_at, acquisition FROM place.rowlock_lock
      WHERE name = $1::text AND (owner IS NULL OR expires_at <= clock_timestamp()
          OR (owner = '(shared)' AND sharers <= $8::bigint))
        AND CASE WHEN $9::bigint = 0 THEN NOT waiting
          ELSE version = $9::bigint OR (owner IS NOT DISTINCT FROM '(shared)'
            AND expires_at > clock_timestamp()) END
         AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
      FOR UPDATE) k) r,
    (SELECT max(lease) AS lease, sum(permits)::bigint AS permits, count(*) AS number FROM asked) total) own
  WHERE l.name = $1::text
  RETURNING l.version - own.number AS before, l.acquisition, own.at, own.joins, own.had),
passed AS (
  DELETE FROM place.rowlock_waiter w USING taken t WHERE w.name = $1::text AND w.attempt = t.had AND NOT t.joins),
share AS (
  INSERT INTO place.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
  SELECT $1::text, a.acquisition, t.acquisition, a.permits, t.before + a.place, a.owner, a.thread, t.at,
    t.at + a.lease * interval '1 microsecond', a.note FROM taken t, asked a)
SELECT a.acquisition, t.before + a.place, a.lease FROM taken t, asked a

--- relaxed

WITH asked AS MATERIALIZED (
  SELECT u.*, row_number() OVER (PARTITION BY name ORDER BY acquisition) AS place
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[],
    $7::bigint[], $8::bigint[], $9::bigint[])
    AS u (name, owner, thread, acquisition, lease, note, permits, room, version)),
own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.* FROM (
      SELECT name, max(lease) AS lease, sum(permits)::bigint AS permits, count(*) AS number,
        min(acquisition) AS first, max(room) AS room, max(version) AS version
      FROM asked GROUP BY name ORDER BY name COLLATE "C") w, LATERAL (
      SELECT owner, expires_at, acquisition AS before FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND (owner IS NULL OR expires_at <= clock_timestamp()
          OR (owner = '(shared)' AND sharers <= w.room))
        AND CASE WHEN w.version = 0 THEN NOT waiting
          ELSE version = w.version OR (owner IS NOT DISTINCT FROM '(shared)' AND expires_at > clock_timestamp()) END
         AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
      FOR UPDATE) r) k),
joining AS (
  SELECT own.*, at + lease * interval '1 microsecond' AS until,
    owner IS NOT DISTINCT FROM '(shared)' AND expires_at > at AS joins FROM own),
taken AS (
  UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM own.at) * 1000000)::bigint) + own.number - 1, owner = '(shared)',
    thread = NULL, note = NULL, sharers = CASE WHEN own.joins THEN l.sharers ELSE 0 END + own.permits,
    acquisition = CASE WHEN own.joins THEN l.acquisition ELSE 'shared:' || own.first END,
    acquired_at = CASE WHEN own.joins THEN l.acquired_at ELSE own.at END,
    expires_at = CASE WHEN own.joins THEN greatest(l.expires_at, own.until) ELSE own.until END
  FROM joining own WHERE l.name = own.name COLLATE "C"
  RETURNING l.name, l.version - own.number AS token, l.acquisition, own.at, own.joins, own.before),
passed AS (
  DELETE FROM place.rowlock_waiter w USING taken t WHERE w.name = t.name AND w.attempt = t.before AND NOT t.joins),
share AS (
  INSERT INTO place.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
  SELECT t.name, a.acquisition, t.acquisition, a.permits, t.token + a.place, a.owner, a.thread, t.at,
    t.at + a.lease * interval '1 microsecond', a.note FROM taken t JOIN asked a ON a.name = t.name COLLATE "C")
SELECT a.acquisition, t.token + a.place, a.lease FROM taken t JOIN asked a ON a.name = t.name COLLATE "C"

--- relaxed

WITH asked AS MATERIALIZED (
  SELECT u.*, row_number() OVER (PARTITION BY name ORDER BY acquisition) AS place
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[],
    $7::bigint[], $8::bigint[], $9::bigint[])
    AS u (name, owner, thread, acquisition, lease, note, permits, room, version)),
own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.* FROM (
      SELECT name, max(lease) AS lease, sum(permits)::bigint AS permits, count(*) AS number,
        min(acquisition) AS first, max(room) AS room, max(version) AS version
      FROM asked GROUP BY name ORDER BY name COLLATE "C") w, LATERAL (
      SELECT owner, expires_at, acquisition AS before FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND (owner IS NULL OR expires_at <= clock_timestamp()
          OR (owner = '(shared)' AND sharers <= w.room))
        AND CASE WHEN w.version = 0 THEN NOT waiting
          ELSE version = w.version OR (owner IS NOT DISTINCT FROM '(shared)' AND expires_at > clock_timestamp()) END
         AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
      FOR UPDATE SKIP LOCKED) r) k),
joining AS (
  SELECT own.*, at + lease * interval '1 microsecond' AS until,
    owner IS NOT DISTINCT FROM '(shared)' AND expires_at > at AS joins FROM own),
taken AS (
  UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM own.at) * 1000000)::bigint) + own.number - 1, owner = '(shared)',
    thread = NULL, note = NULL, sharers = CASE WHEN own.joins THEN l.sharers ELSE 0 END + own.permits,
    acquisition = CASE WHEN own.joins THEN l.acquisition ELSE 'shared:' || own.first END,
    acquired_at = CASE WHEN own.joins THEN l.acquired_at ELSE own.at END,
    expires_at = CASE WHEN own.joins THEN greatest(l.expires_at, own.until) ELSE own.until END
  FROM joining own WHERE l.name = own.name COLLATE "C"
  RETURNING l.name, l.version - own.number AS token, l.acquisition, own.at, own.joins, own.before),
passed AS (
  DELETE FROM place.rowlock_waiter w USING taken t WHERE w.name = t.name AND w.attempt = t.before AND NOT t.joins),
share AS (
  INSERT INTO place.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
  SELECT t.name, a.acquisition, t.acquisition, a.permits, t.token + a.place, a.owner, a.thread, t.at,
    t.at + a.lease * interval '1 microsecond', a.note FROM taken t JOIN asked a ON a.name = t.name COLLATE "C")
SELECT a.acquisition, t.token + a.place, a.lease FROM taken t JOIN asked a ON a.name = t.name COLLATE "C"

--- relaxed

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since, r.ends FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, lease)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since, expires_at AS ends FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)' AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
      FOR NO KEY UPDATE) r) k),
kept AS (
  UPDATE place.rowlock_share s SET expires_at = greatest(s.expires_at, own.at + own.lease * interval '1 microsecond') FROM own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND s.expires_at > own.at
  RETURNING s.name, s.acquisition, s.expires_at, own.at, own.ends),
raised AS (
  UPDATE place.rowlock_lock l SET expires_at = greatest(l.expires_at, k.last)
  FROM (SELECT name, max(expires_at) AS last FROM kept WHERE expires_at > ends GROUP BY name) k WHERE l.name = k.name)
SELECT acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - at) * 1000000)::bigint FROM kept

--- relaxed

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since, r.ends FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, lease)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since, expires_at AS ends FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)' AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
      FOR NO KEY UPDATE SKIP LOCKED) r) k),
kept AS (
  UPDATE place.rowlock_share s SET expires_at = greatest(s.expires_at, own.at + own.lease * interval '1 microsecond') FROM own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND s.expires_at > own.at
  RETURNING s.name, s.acquisition, s.expires_at, own.at, own.ends),
raised AS (
  UPDATE place.rowlock_lock l SET expires_at = greatest(l.expires_at, k.last)
  FROM (SELECT name, max(expires_at) AS last FROM kept WHERE expires_at > ends GROUP BY name) k WHERE l.name = k.name)
SELECT acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - at) * 1000000)::bigint FROM kept

--- relaxed

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since, r.ends FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, lease)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since, expires_at AS ends FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)' AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
      FOR NO KEY UPDATE) r) k),
kept AS (
  UPDATE place.rowlock_share s SET expires_at = own.at + own.lease * interval '1 microsecond' FROM own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND s.expires_at > own.at
  RETURNING s.name, s.acquisition, s.expires_at, own.at, own.ends),
raised AS (
  UPDATE place.rowlock_lock l SET expires_at = greatest(l.expires_at, k.last)
  FROM (SELECT name, max(expires_at) AS last FROM kept WHERE expires_at > ends GROUP BY name) k WHERE l.name = k.name)
SELECT acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - at) * 1000000)::bigint FROM kept

--- relaxed

WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since, r.ends FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, lease)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since, expires_at AS ends FROM place.rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)' AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
      FOR NO KEY UPDATE SKIP LOCKED) r) k),
kept AS (
  UPDATE place.rowlock_share s SET expires_at = own.at + own.lease * interval '1 microsecond' FROM own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND s.expires_at > own.at
  RETURNING s.name, s.acquisition, s.expires_at, own.at, own.ends),
raised AS (
  UPDATE place.rowlock_lock l SET expires_at = greatest(l.expires_at, k.last)
  FROM (SELECT name, max(expires_at) AS last FROM kept WHERE expires_at > ends GROUP BY name) k WHERE l.name = k.name)
SELECT acquisition, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - at) * 1000000)::bigint FROM kept

--- relaxed

WITH own AS MATERIALIZED (
  SELECT r.acquisition, r.sharers, clock_timestamp() AS at FROM (
    SELECT acquisition, sharers FROM place.rowlock_lock WHERE name = $1::text AND owner = '(shared)' AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
    FOR UPDATE) r),
gone AS (
  DELETE FROM place.rowlock_share s USING own
  WHERE s.name = $1::text AND s.acquisition = $2::text AND s.since = own.acquisition
    AND s.permits = own.sharers
    AND s.expires_at > own.at
  RETURNING s.expires_at, own.at)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = $3::text, thread = $4::text,
  acquisition = $2::text, acquired_at = g.at, expires_at = g.expires_at, note = $5::text, sharers = 0
FROM gone g WHERE l.name = $1::text
RETURNING $2::text, l.version, (extract(epoch FROM (CASE l.expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE l.expires_at END) - g.at) * 1000000)::bigint

--- relaxed

WITH taken AS (
  UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM own.at) * 1000000)::bigint), owner = '(shared)', thread = NULL,
    note = NULL, acquisition = 'shared:' || $6::text, sharers = $7::bigint
  FROM (SELECT clock_timestamp() AS at FROM (
    SELECT FROM place.rowlock_lock WHERE name = $1::text AND acquisition = $2::text
      AND owner IS NOT NULL AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
    FOR UPDATE) k) own
  WHERE l.name = $1::text AND l.expires_at > own.at
  RETURNING l.version, l.acquisition, l.expires_at, own.at),
share AS (
  INSERT INTO place.rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
  SELECT $1::text, $2::text, acquisition, $7::bigint, version, $3::text, $4::text, at,
    expires_at, $5::text FROM taken)
SELECT $2::text, version, (extract(epoch FROM (CASE expires_at WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE expires_at END) - at) * 1000000)::bigint FROM taken

--- relaxed

DELETE FROM place.rowlock_lock l
USING (SELECT w.name FROM (
    SELECT * FROM unnest($1::text[], $2::bigint[]) AS u (name, retention) ORDER BY name COLLATE "C") w,
      LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.expires_at <= clock_timestamp() - w.retention * interval '1 microsecond'
    AND r.version <= (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - w.retention
      AND r.version <= (SELECT token FROM place.rowlock_share WHERE name = '' AND acquisition = '') AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
  FOR UPDATE SKIP LOCKED) unused) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.name

--- relaxed

WITH spent AS (DELETE FROM place.rowlock_waiter WHERE name = $1::text AND attempt = $2::text)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT $1::text AS name, $2::text AS acquisition) w CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM place.rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL AND set_config('synchronous_commit', 'off', true) IS NOT NULL
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AND false AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AND false AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN nullif('', '') || concat('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting

--- relaxed

WITH spent AS (
  DELETE FROM place.rowlock_waiter t USING unnest($1::text[], $2::text[]) AS u (name, acquisition)
  WHERE t.name = u.name COLLATE "C" AND t.attempt = u.acquisition)
UPDATE place.rowlock_lock l SET version = greatest(l.version + 1, (extract(epoch FROM g.at) * 1000000)::bigint), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT * FROM unnest($1::text[], $2::text[]) AS u (name, acquisition) ORDER BY name COLLATE "C") w
    CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM place.rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL AND set_config('synchronous_commit', 'off', true) IS NOT NULL
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AND false AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000)))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds' AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) AND false AS granted
    FROM place.rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN nullif('', '') || concat('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting

--- relaxed

UPDATE place.rowlock_lock SET expires_at = acquired_at + $3::bigint * interval '1 microsecond', thread = '(released)'
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL
    AND expires_at > clock_timestamp() AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
  FOR NO KEY UPDATE SKIP LOCKED)
RETURNING acquisition,
  (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> left($2::text, 16) AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255)

--- relaxed

UPDATE place.rowlock_lock l SET expires_at = l.acquired_at + w.stay * interval '1 microsecond', thread = '(released)'
FROM (SELECT w.* FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, stay)
    ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM place.rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND r.expires_at > clock_timestamp() AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL
  FOR NO KEY UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.acquisition,
  (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = l.name AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> left(l.acquisition, 16) AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255)

--- relaxed

WITH freed AS (
  UPDATE place.rowlock_lock SET owner = NULL, thread = NULL, note = NULL,
    version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), expires_at = clock_timestamp()
  WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = $1::text AND version = $2::bigint AND owner IS NOT NULL AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM place.rowlock_guard g WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM place.rowlock_witness w) AND NOT EXISTS (SELECT FROM place.rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), current_setting('synchronous_commit')), true) IS NOT NULL FOR UPDATE SKIP LOCKED)
  RETURNING name, acquisition),
spent AS (
  DELETE FROM place.rowlock_waiter w USING freed WHERE w.name = freed.name AND w.attempt = freed.acquisition)
SELECT freed.name,
  (SELECT nullif('', '') || concat('rowlock_' || right(q.owner, 16), q.name)::text FROM ((SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.attempt IS DISTINCT FROM freed.acquisition AND q.expires_at > clock_timestamp() AND (q.room IS DISTINCT FROM -2 OR (q.room < -1 AND q.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
    AND (q.enqueued_at > clock_timestamp() - interval '1100 milliseconds' OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint % 5000000 < 1000000))) ORDER BY q.ticket LIMIT 1)
    UNION ALL (SELECT q.owner, q.name FROM place.rowlock_waiter q WHERE q.name = $1::text AND q.attempt IS DISTINCT FROM freed.acquisition AND q.expires_at > clock_timestamp() AND q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1) q
    WHERE right(q.owner, 16) <> '' AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255)
FROM freed

--- the caller's transaction

UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = NULL, thread = NULL,
  note = convert_from(decode($3::text, 'hex'), 'UTF8'), expires_at = clock_timestamp()
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = convert_from(decode($1::text, 'hex'), 'UTF8') AND owner IS NULL AND
  (SELECT installation || '/' || encode(convert_to(current_database(), 'UTF8'), 'hex') || '/' || m.tableoid::text
    FROM place.rowlock_migration m WHERE version = 1) = convert_from(decode($2::text, 'hex'), 'UTF8')
      FOR UPDATE SKIP LOCKED)
RETURNING version

--- the caller's transaction

WITH home AS MATERIALIZED (SELECT coalesce(
  (SELECT installation || '/' || encode(convert_to(current_database(), 'UTF8'), 'hex') || '/' || m.tableoid::text
    FROM place.rowlock_migration m WHERE version = 1) = convert_from(decode($2::text, 'hex'), 'UTF8'),
      false) AS is_here),
taken AS (
  UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = NULL, thread = NULL,
    note = convert_from(decode($3::text, 'hex'), 'UTF8'), expires_at = clock_timestamp()
  WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = convert_from(decode($1::text, 'hex'), 'UTF8')
      AND (owner IS NULL OR acquisition = convert_from(decode($4::text, 'hex'), 'UTF8'))
      AND (SELECT is_here FROM home) FOR UPDATE SKIP LOCKED)
  RETURNING version)
SELECT (SELECT is_here::integer FROM home), (SELECT version FROM taken),
  (SELECT (owner IS NULL)::integer FROM place.rowlock_lock WHERE name = convert_from(decode($1::text, 'hex'), 'UTF8')),
    current_setting('transaction_isolation')

--- the caller's transaction

WITH home AS MATERIALIZED (SELECT coalesce(
  (SELECT installation || '/' || encode(convert_to(current_database(), 'UTF8'), 'hex') || '/' || m.tableoid::text
    FROM place.rowlock_migration m WHERE version = 1) = convert_from(decode($2::text, 'hex'), 'UTF8'),
      false) AS is_here),
taken AS (
  UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = NULL, thread = NULL,
    note = convert_from(decode($3::text, 'hex'), 'UTF8'), expires_at = clock_timestamp()
  WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = convert_from(decode($1::text, 'hex'), 'UTF8')
      AND (owner IS NULL OR acquisition = convert_from(decode($4::text, 'hex'), 'UTF8'))
      AND (SELECT is_here FROM home) FOR UPDATE)
  RETURNING version)
SELECT (SELECT is_here::integer FROM home), (SELECT version FROM taken),
  (SELECT (owner IS NULL)::integer FROM place.rowlock_lock WHERE name = convert_from(decode($1::text, 'hex'), 'UTF8')),
    current_setting('transaction_isolation')

--- the caller's transaction, the caller's transaction guarded

SELECT coalesce(
  (SELECT installation || '/' || encode(convert_to(current_database(), 'UTF8'), 'hex') || '/' || m.tableoid::text
    FROM place.rowlock_migration m WHERE version = 1) = convert_from(decode($3::text, 'hex'), 'UTF8'),
      false)::integer, (SELECT (expires_at > clock_timestamp())::integer FROM (
      SELECT expires_at FROM place.rowlock_lock WHERE name = convert_from(decode($1::text, 'hex'), 'UTF8')
        AND acquisition = convert_from(decode($2::text, 'hex'), 'UTF8') AND owner IS NOT NULL
      FOR KEY SHARE SKIP LOCKED) own), current_setting('transaction_isolation')

--- the caller's transaction, the caller's transaction guarded

SELECT coalesce(
  (SELECT installation || '/' || encode(convert_to(current_database(), 'UTF8'), 'hex') || '/' || m.tableoid::text
    FROM place.rowlock_migration m WHERE version = 1) = convert_from(decode($1::text, 'hex'), 'UTF8'),
      false)::integer

--- the caller's transaction

WITH home AS MATERIALIZED (SELECT coalesce(
  (SELECT installation || '/' || encode(convert_to(current_database(), 'UTF8'), 'hex') || '/' || m.tableoid::text
    FROM place.rowlock_migration m WHERE version = 1) = convert_from(decode($2::text, 'hex'), 'UTF8'),
      false) AS is_here),
changed AS (
  UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
  WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = convert_from(decode($1::text, 'hex'), 'UTF8') AND version = $3::bigint AND owner IS NULL
      AND (SELECT is_here FROM home) FOR UPDATE SKIP LOCKED)
  RETURNING version)
SELECT (SELECT is_here::integer FROM home), (SELECT version FROM changed)

--- the caller's transaction guarded

UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = NULL, thread = NULL,
  note = convert_from(decode($3::text, 'hex'), 'UTF8'), expires_at = clock_timestamp()
WHERE name = (SELECT name FROM place.rowlock_lock
  WHERE name = convert_from(decode($1::text, 'hex'), 'UTF8') AND owner IS NULL AND
  (SELECT installation || '/' || encode(convert_to(current_database(), 'UTF8'), 'hex') || '/' || m.tableoid::text
    FROM place.rowlock_migration m WHERE version = 1) = convert_from(decode($2::text, 'hex'), 'UTF8') AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g)
      FOR UPDATE SKIP LOCKED)
RETURNING version

--- the caller's transaction guarded

WITH home AS MATERIALIZED (SELECT coalesce(
  (SELECT installation || '/' || encode(convert_to(current_database(), 'UTF8'), 'hex') || '/' || m.tableoid::text
    FROM place.rowlock_migration m WHERE version = 1) = convert_from(decode($2::text, 'hex'), 'UTF8'),
      false) AS is_here),
taken AS (
  UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = NULL, thread = NULL,
    note = convert_from(decode($3::text, 'hex'), 'UTF8'), expires_at = clock_timestamp()
  WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = convert_from(decode($1::text, 'hex'), 'UTF8')
      AND (owner IS NULL OR acquisition = convert_from(decode($4::text, 'hex'), 'UTF8'))
      AND (SELECT is_here FROM home) AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) FOR UPDATE SKIP LOCKED)
  RETURNING version)
SELECT (SELECT is_here::integer FROM home), (SELECT version FROM taken),
  (SELECT (owner IS NULL)::integer FROM place.rowlock_lock WHERE name = convert_from(decode($1::text, 'hex'), 'UTF8')),
    current_setting('transaction_isolation')

--- the caller's transaction guarded

WITH home AS MATERIALIZED (SELECT coalesce(
  (SELECT installation || '/' || encode(convert_to(current_database(), 'UTF8'), 'hex') || '/' || m.tableoid::text
    FROM place.rowlock_migration m WHERE version = 1) = convert_from(decode($2::text, 'hex'), 'UTF8'),
      false) AS is_here),
taken AS (
  UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), owner = NULL, thread = NULL,
    note = convert_from(decode($3::text, 'hex'), 'UTF8'), expires_at = clock_timestamp()
  WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = convert_from(decode($1::text, 'hex'), 'UTF8')
      AND (owner IS NULL OR acquisition = convert_from(decode($4::text, 'hex'), 'UTF8'))
      AND (SELECT is_here FROM home) AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) FOR UPDATE)
  RETURNING version)
SELECT (SELECT is_here::integer FROM home), (SELECT version FROM taken),
  (SELECT (owner IS NULL)::integer FROM place.rowlock_lock WHERE name = convert_from(decode($1::text, 'hex'), 'UTF8')),
    current_setting('transaction_isolation')

--- the caller's transaction guarded

WITH home AS MATERIALIZED (SELECT coalesce(
  (SELECT installation || '/' || encode(convert_to(current_database(), 'UTF8'), 'hex') || '/' || m.tableoid::text
    FROM place.rowlock_migration m WHERE version = 1) = convert_from(decode($2::text, 'hex'), 'UTF8'),
      false) AS is_here),
changed AS (
  UPDATE place.rowlock_lock SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
  WHERE name = (SELECT name FROM place.rowlock_lock
    WHERE name = convert_from(decode($1::text, 'hex'), 'UTF8') AND version = $3::bigint AND owner IS NULL
      AND (SELECT is_here FROM home) AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AND g.grants_from <= clock_timestamp() AND (g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM place.rowlock_witness w)) FROM place.rowlock_guard g) FOR UPDATE SKIP LOCKED)
  RETURNING version)
SELECT (SELECT is_here::integer FROM home), (SELECT version FROM changed)

