-- Every statement that rowlock sends to PostgreSQL. The library is built with this text, and its page in docs/ is
-- written from it: src/sql/loader.hpp describes its form. docs/protocol.md has the laws, and shows why all is safe.
--
-- `rowlock_` stands for the place of the tables and their prefix, `:name` for an argument. In a batch an argument is an
-- array with an element for each request. Also replaced are:
--
--   us(x)         Microseconds of a time since 1970, or of an interval: (extract(epoch FROM x) * 1000000)::bigint. A time
--                 that was set to infinity by hand counts as the year 9999 or 1: calculating with infinity would be an
--                 error for every client that reads the row.
--   {relaxed}     AND set_config('synchronous_commit', 'off', true) IS NOT NULL
--   {always durably}  With transaction_pooling the same with 'on'. Elsewhere nothing: the session has that setting.
--   {durably}     The same, but for a client that has seen a relaxed guard {relaxed} if its row still says so and no
--                 crash was since. The statement itself reads that.
--   {releasing}   With durable_release as {durably}, otherwise as {relaxed}.
--   {guarded}     If the guard is on: AND the server's incarnation is that of the guard, no quarantine is on, and the
--                 guard is not relaxed or, for a client that has seen it relaxed, no crash was since. Otherwise nothing.
--                 Where it does not hold, a statement locks and grants nothing.
--   {after_all}   A text that is after all names.
--   insists(x)    The ticket x is that of a set that insists now: see below.
--   first_of(which)   The first of these tickets q that have not expired: of a set that need not wait in turn only if
--                 there is no other, unless the set insists.
--   notify_first(client, which)   pg_notify( for its client, unless that is this one: then NULL.
--   {briefly}     With transaction_pooling AND set_config('lock_timeout', '100ms', true) IS NOT NULL. Elsewhere nothing.
--
-- If the server refuses notifications, a statement that notifies is sent again with nullif('', '') || concat( in place
-- of pg_notify(, and grants nothing.
--
-- A sub-select that skips rows which others have locked locks the row before it is changed, and clock_timestamp() is
-- read above that lock.
--
-- The sweeper deletes only rows whose version is at most the floor, the token of the share with the empty name. A new
-- row begins above the floor. Nothing is locked to read it: one snapshot sees both whether there is a row, and the
-- floor, which was committed before the deletion. A statement that does not see the row sees the floor.
--
-- A set that waits for all of its names has a ticket with room < -1 in each queue. For a second in every five seconds
-- it insists: the names are kept free for it.

-- ---- Acquiring ------------------------------------------------------------------------------------------------------

-- name: acquire(name, owner, thread, acquisition, lease, note) -> acquisition, version, left, permits
-- doing: acquiring
-- does: the owner holds the name for the lease, if it is free
-- rules: waits_to_make
-- locks: FOR UPDATE SKIP LOCKED on a row that looks free; none if it is held
-- clock: after the lock
-- no row: inconclusive
-- Busy is read from the snapshot, without a lock. If the lease has ended in between, a request is answered twice; the
-- grant comes last and counts. A row is inserted only if the snapshot has none. Of two that insert the same name,
-- the second waits for the first one's commit, at most lock_timeout, and does nothing then: inconclusive. If the row
-- that was made meanwhile is changed in an open transaction, the insert waits for that, and fails after lock_timeout,
-- having written nothing. If inspect finds the row then, the attempt is inconclusive. Otherwise the table is locked,
-- and the failure is reported.
--
-- A batch locks the rows in the order of their names. Nevertheless batches that insert the same new names may
-- deadlock, since each also locks rows. One of them ends within lock_timeout, and the call is tried again.
-- write: if a client waits, a free row is not taken before the queue was seen. A row that is seen is not made: it may
--   be being deleted, and the floor that was seen is the one before the deletion.
WITH seen AS MATERIALIZED (
  SELECT owner, expires_at, waiting FROM rowlock_lock WHERE name = :name::text),
taken AS (
  UPDATE rowlock_lock SET version = greatest(version + 1, us(clock_timestamp())), owner = :owner::text,
    thread = :thread::text, acquisition = :acquisition::text, acquired_at = clock_timestamp(),
    expires_at = clock_timestamp() + :lease::bigint * interval '1 microsecond', note = :note::text
  WHERE name = (SELECT name FROM rowlock_lock
    WHERE name = :name::text AND (owner IS NULL OR expires_at <= clock_timestamp()) AND NOT waiting{guarded}{durably}
    FOR UPDATE SKIP LOCKED)
  RETURNING version),
made AS (
  INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT :name::text, greatest((SELECT token FROM rowlock_share WHERE name = '' AND acquisition = '') + 1,
    us(clock_timestamp())), :owner::text, :thread::text, :acquisition::text, clock_timestamp(),
    clock_timestamp() + :lease::bigint * interval '1 microsecond', :note::text
  WHERE NOT EXISTS (SELECT FROM seen){guarded}{durably}{briefly} ON CONFLICT (name) DO NOTHING
  RETURNING version)
SELECT :acquisition::text, NULL::bigint, us(expires_at - clock_timestamp()), (owner = '(shared)')::integer FROM seen
WHERE waiting OR (owner IS NOT NULL AND (expires_at IS NULL OR expires_at > clock_timestamp()))
UNION ALL SELECT :acquisition::text, version, :lease::bigint, 0 FROM taken
UNION ALL SELECT :acquisition::text, version, :lease::bigint, 0 FROM made;
-- batch:
WITH wanted AS MATERIALIZED (
  SELECT w.*, l.name IS NULL AS is_new,
    l.owner IS NOT NULL AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp()) AS is_busy, l.expires_at,
    (l.owner = '(shared)')::integer AS is_shared, l.waiting
  FROM unnest(:name::text[], :owner::text[], :thread::text[], :acquisition::text[], :lease::bigint[], :note::text[])
    AS w (name, owner, thread, acquisition, lease, note)
  LEFT JOIN rowlock_lock l ON l.name = w.name COLLATE "C" ORDER BY w.name COLLATE "C"),
taken AS (
  UPDATE rowlock_lock l SET version = greatest(l.version + 1, us(w.at)), owner = w.owner, thread = w.thread,
    acquisition = w.acquisition, acquired_at = w.at, expires_at = w.at + w.lease * interval '1 microsecond',
    note = w.note
  FROM (SELECT w.*, clock_timestamp() AS at FROM wanted w, LATERAL (
      SELECT FROM rowlock_lock r
      WHERE r.name = w.name COLLATE "C" AND (r.owner IS NULL OR r.expires_at <= clock_timestamp())
        AND NOT r.waiting{guarded}{durably}
      FOR UPDATE SKIP LOCKED) free
    WHERE NOT w.is_new AND NOT w.is_busy) w
  WHERE l.name = w.name COLLATE "C"
  RETURNING l.acquisition, l.version, w.lease),
made AS (
  INSERT INTO rowlock_lock AS l (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT w.name, greatest((SELECT token FROM rowlock_share WHERE name = '' AND acquisition = '') + 1, us(w.at)),
    w.owner, w.thread, w.acquisition, w.at, w.at + w.lease * interval '1 microsecond', w.note
  FROM (SELECT *, clock_timestamp() AS at FROM wanted WHERE is_new{guarded}{durably}{briefly}) w ON CONFLICT (name) DO NOTHING
  RETURNING l.acquisition, l.version, us(l.expires_at - l.acquired_at) AS lease)
SELECT acquisition, NULL::bigint, us(expires_at - clock_timestamp()), is_shared FROM wanted WHERE is_busy OR waiting
UNION ALL SELECT acquisition, version, lease, 0 FROM taken
UNION ALL SELECT acquisition, version, lease, 0 FROM made;

-- name: acquire_existing(name, owner, thread, acquisition, lease, note) -> acquisition, version, left, permits
-- doing: acquiring
-- does: acquires, if there is a row, which is free, and for which no client waits
-- locks: FOR UPDATE SKIP LOCKED on a row that looks free
-- clock: after the lock
-- no row: acquire follows
-- Sent first for names that this client was granted when it last tried: it costs two thirds of acquire. It tests, locks
-- and writes what acquire does where it finds a row. Without an answer it has written nothing, and acquire, with the
-- same acquisition, decides on the row that it finds then, as if it came alone. Both are sent by one session, one after
-- the other: if the reply to either is lost, the row shows whether it has the acquisition. A client that was paused
-- between the two is one that sends acquire late.
-- write:
UPDATE rowlock_lock SET version = greatest(version + 1, us(clock_timestamp())), owner = :owner::text,
  thread = :thread::text, acquisition = :acquisition::text, acquired_at = clock_timestamp(),
  expires_at = clock_timestamp() + :lease::bigint * interval '1 microsecond', note = :note::text
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = :name::text AND (owner IS NULL OR expires_at <= clock_timestamp()) AND NOT waiting{guarded}{durably}
  FOR UPDATE SKIP LOCKED)
RETURNING acquisition, version, :lease::bigint, 0;
-- batch:
UPDATE rowlock_lock l SET version = greatest(l.version + 1, us(w.at)), owner = w.owner, thread = w.thread,
  acquisition = w.acquisition, acquired_at = w.at, expires_at = w.at + w.lease * interval '1 microsecond', note = w.note
FROM (SELECT w.*, clock_timestamp() AS at FROM (
    SELECT * FROM unnest(:name::text[], :owner::text[], :thread::text[], :acquisition::text[], :lease::bigint[],
      :note::text[]) AS u (name, owner, thread, acquisition, lease, note) ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND (r.owner IS NULL OR r.expires_at <= clock_timestamp())
    AND NOT r.waiting{guarded}{durably}
  FOR UPDATE SKIP LOCKED) free) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.acquisition, l.version, w.lease, 0;

-- name: acquire_any(name, owner, thread, acquisition, lease, note) -> name, version, left
-- doing: acquiring
-- does: acquires the first name of a batch that is free. The rows must exist
-- rules: takes_one
-- locks: FOR UPDATE SKIP LOCKED on the first row that is free
-- clock: after the lock
-- no row: none is free, or has a row
-- batch: in the order of the batch. Rows that others have locked are skipped. A row that is not free any more once it
--   is locked is passed over, as is one that a client waits for.
UPDATE rowlock_lock l SET version = greatest(l.version + 1, us(g.at)), owner = g.owner, thread = g.thread,
  acquisition = g.acquisition, acquired_at = g.at, expires_at = g.at + g.lease * interval '1 microsecond', note = g.note
FROM (SELECT f.*, clock_timestamp() AS at FROM (
    SELECT r.name, w.owner, w.thread, w.acquisition, w.lease, w.note
    FROM unnest(:name::text[], :owner::text[], :thread::text[], :acquisition::text[], :lease::bigint[], :note::text[])
      WITH ORDINALITY AS w (name, owner, thread, acquisition, lease, note, place)
    JOIN rowlock_lock r ON r.name = w.name COLLATE "C"
    WHERE (r.owner IS NULL OR r.expires_at <= clock_timestamp()) AND NOT r.waiting{guarded}{durably}
    ORDER BY w.place LIMIT 1 FOR UPDATE OF r SKIP LOCKED) f) g
WHERE l.name = g.name
RETURNING l.name, l.version, g.lease;

-- name: acquire_all(name, owner, thread, acquisition, lease, note, version) -> acquisition, version, left
-- doing: acquiring
-- does: acquires all names of a batch, or none. version: as it was seen, or 0 for any. The rows must exist
-- rules: takes_all
-- locks: FOR UPDATE SKIP LOCKED on each row that is free; then the ticket of a lease that has ended
-- clock: after the last lock
-- no row: one is not free, or has no row
-- batch: rows that others have locked are skipped, so two sets that want some of the same names do not wait for each
--   other. The clock is read above all of the locks. Version 0 is any, unless a client waits. A ticket by which a release
--   had granted a name, for a lease that has ended, is deleted, as by acquire_in_turn: with the grant or not at all. Its
--   waiter, if it is only late, finds no ticket and takes another one.
WITH free AS MATERIALIZED (
  SELECT r.name, r.acquisition AS had, w.owner, w.thread, w.acquisition, w.lease, w.note
  FROM unnest(:name::text[], :owner::text[], :thread::text[], :acquisition::text[], :lease::bigint[], :note::text[],
    :version::bigint[])
    AS w (name, owner, thread, acquisition, lease, note, version)
  JOIN rowlock_lock r ON r.name = w.name COLLATE "C"
  WHERE (r.owner IS NULL OR r.expires_at <= clock_timestamp())
    AND CASE WHEN w.version = 0 THEN NOT r.waiting ELSE r.version = w.version END{guarded}{durably}
  ORDER BY r.name FOR UPDATE OF r SKIP LOCKED),
all_of_them AS MATERIALIZED (
  SELECT clock_timestamp() AS at FROM (SELECT count(*) AS number FROM free) f
    WHERE f.number = cardinality(:name::text[])),
passed AS (
  DELETE FROM rowlock_waiter w USING all_of_them, free g WHERE w.name = g.name AND w.attempt = g.had)
UPDATE rowlock_lock l SET version = greatest(l.version + 1, us(a.at)), owner = g.owner, thread = g.thread,
  acquisition = g.acquisition, acquired_at = a.at, expires_at = a.at + g.lease * interval '1 microsecond', note = g.note
FROM all_of_them a, free g
WHERE l.name = g.name
RETURNING l.acquisition, l.version, g.lease;

-- name: acquire_in_turn(name, owner, thread, acquisition, lease, note, ticket, turn, patience) -> acquisition, version, left, is_behind, has_ticket, has_left, looks_free, holding, held_as, waiting
-- doing: acquiring
-- does: acquires, and answers the place in the queue. Tickets after turn do not count; a granted ticket is deleted
-- rules: waits_to_make
-- locks: as acquire; FOR UPDATE SKIP LOCKED on the own ticket; and the ticket of a grant that was not claimed
-- clock: after the lock
-- no row: inconclusive
-- Sent for a lease if the call has a ticket, asks for fifo, or was refused a free name for which a client waits.
-- The queue is read from the snapshot, which is older than the row lock. So it may delay a grant, never permit one
-- (law 11).
--
-- A claim renews a grant by a release (docs/protocol.md#grant-by-release), under the row lock, by the clock read there.
-- Taking requires a free row, claiming one that has not expired. A row that expires in between is changed once:
-- PostgreSQL changes no row twice in a statement.
-- write: :ticket is the own ticket, 0: none. :patience is above 0 for a client that yields to sets only, until the name
--   has been free for a second. The queue is as it was when the statement began, and so must the row be: a holder in
--   between may have seen tickets that this statement does not see. A ticket to which a release has granted the name
--   does not count: if its waiter does not claim it, others pass, and delete it, even if the row was freed meanwhile: a
--   second grant to it would bring back the acquisition that its first holder still holds. A grant to the own ticket is
--   claimed by the same statement: a renewal, which waits for the disk. The ticket is deleted with it: if the answer is
--   lost, the row still names the attempt, which the waiter knows.
WITH seen AS MATERIALIZED (
  SELECT owner, expires_at, waiting, acquisition, version FROM rowlock_lock WHERE name = :name::text),
queue AS MATERIALIZED (
  SELECT EXISTS (SELECT FROM rowlock_waiter q
      WHERE name = :name::text AND ticket < :turn::bigint AND expires_at > clock_timestamp()
        AND (:patience::bigint = 0 OR (insists(q) AND NOT EXISTS (
          SELECT FROM seen WHERE expires_at <= clock_timestamp() - interval '1 second')))
        AND attempt IS DISTINCT FROM (SELECT acquisition FROM seen)) AS is_behind,
    :ticket::bigint = 0 OR :patience::bigint > 0
      OR EXISTS (SELECT FROM rowlock_waiter WHERE ticket = :ticket::bigint AND owner = :owner::text) AS has_place),
taken AS (
  UPDATE rowlock_lock SET version = greatest(version + 1, us(clock_timestamp())), owner = :owner::text,
    thread = :thread::text, acquisition = :acquisition::text, acquired_at = clock_timestamp(),
    expires_at = clock_timestamp() + :lease::bigint * interval '1 microsecond', note = :note::text
  WHERE name = (SELECT name FROM rowlock_lock
    WHERE name = :name::text AND (owner IS NULL OR expires_at <= clock_timestamp())
      AND version = (SELECT version FROM seen) AND (SELECT has_place AND NOT is_behind FROM queue){guarded}{durably}
    FOR UPDATE SKIP LOCKED)
  RETURNING version),
made AS (
  INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
  SELECT :name::text, greatest((SELECT token FROM rowlock_share WHERE name = '' AND acquisition = '') + 1,
    us(clock_timestamp())), :owner::text, :thread::text, :acquisition::text, clock_timestamp(),
    clock_timestamp() + :lease::bigint * interval '1 microsecond', :note::text
  WHERE NOT EXISTS (SELECT FROM seen) AND (SELECT has_place AND NOT is_behind FROM queue){guarded}{durably}{briefly}
    ON CONFLICT (name) DO NOTHING
  RETURNING version),
claimed AS (
  UPDATE rowlock_lock SET expires_at = greatest(expires_at,
    clock_timestamp() + :lease::bigint * interval '1 microsecond')
  WHERE name = (SELECT name FROM rowlock_lock
      WHERE name = :name::text AND owner = :owner::text AND expires_at > clock_timestamp()
        AND acquisition = (SELECT attempt FROM rowlock_waiter WHERE ticket = :ticket::bigint
          AND owner = :owner::text){guarded}{durably}
      FOR NO KEY UPDATE SKIP LOCKED)
    AND expires_at > clock_timestamp()
  RETURNING acquisition, version),
granted AS MATERIALIZED (SELECT version FROM taken UNION ALL SELECT version FROM made),
gone AS (
  DELETE FROM rowlock_waiter WHERE ticket = (SELECT w.ticket FROM rowlock_waiter w
    WHERE w.ticket = :ticket::bigint AND w.owner = :owner::text
      AND EXISTS (SELECT version FROM granted UNION ALL SELECT version FROM claimed) FOR UPDATE SKIP LOCKED)
  RETURNING ticket),
passed AS (
  DELETE FROM rowlock_waiter
  WHERE name = :name::text AND attempt = (SELECT acquisition FROM seen) AND EXISTS (SELECT FROM granted))
SELECT :acquisition::text, NULL::bigint, us(seen.expires_at - clock_timestamp()), is_behind, has_place, false,
  seen.owner IS NULL, seen.acquisition, seen.version, coalesce((SELECT waiting FROM seen), false)
FROM queue LEFT JOIN seen ON seen.owner IS NOT NULL AND (seen.expires_at IS NULL OR seen.expires_at > clock_timestamp())
WHERE seen.owner IS NOT NULL OR is_behind OR NOT has_place
UNION ALL SELECT :acquisition::text, NULL::bigint, :lease::bigint, false, true, EXISTS (SELECT FROM gone), false,
  acquisition, version, true
FROM claimed
UNION ALL SELECT :acquisition::text, version, :lease::bigint, false, true, EXISTS (SELECT FROM gone), true, NULL::text,
  NULL::bigint, NULL::boolean
FROM granted;

-- name: compare_and_set(name, owner, thread, acquisition, lease, note, version) -> acquisition, version, left, permits
-- doing: acquiring
-- does: acquires, if the row has the version that was seen
-- locks: FOR UPDATE SKIP LOCKED on a row that looks free and has the version
-- clock: after the lock
-- no row: inconclusive
-- The sub-select tests version and freedom again on the newest row, which it has locked.
-- write:
UPDATE rowlock_lock SET version = greatest(version + 1, us(clock_timestamp())), owner = :owner::text,
  thread = :thread::text, acquisition = :acquisition::text, acquired_at = clock_timestamp(),
  expires_at = clock_timestamp() + :lease::bigint * interval '1 microsecond', note = :note::text
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = :name::text AND version = :version::bigint
    AND (owner IS NULL OR expires_at <= clock_timestamp()){guarded}{durably}
  FOR UPDATE SKIP LOCKED)
RETURNING :acquisition::text, version, :lease::bigint;

-- name: hold(name) -> name, version, waiting
-- doing: acquiring
-- does: acquires in a transaction that remains open
-- locks: FOR UPDATE SKIP LOCKED on a row that looks free, until the transaction ends
-- clock: after the lock
-- no row: inspect shows: leased, missing, or locked
-- BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE NOT DEFERRABLE is sent before it. The release is COMMIT and
-- first_waiter, in one message. The version is changed at once, so that the release is a mere COMMIT, and so that the
-- row's xmax shows others that it is held. A row may be locked even if none is answered, if it was free only in the
-- snapshot. The ROLLBACK unlocks it.
--
-- The COMMIT waits for the disk only with durable_release. A crash of the server ends the lock in any case. If it
-- loses the commit, it loses the higher version alone: the next token is at least the clock, and so greater. A program
-- that commits durably after the release has the release on disk, too: the log has an order. transaction_limit is
-- idle_in_transaction_session_timeout. See docs/protocol.md#locks-held-by-transactions.
-- write: in a transaction that remains open
UPDATE rowlock_lock SET version = greatest(version + 1, us(clock_timestamp()))
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = :name::text AND (owner IS NULL OR expires_at <= clock_timestamp()){guarded} FOR UPDATE SKIP LOCKED)
RETURNING name, version, waiting;

-- name: hold_while_alive(name, owner, thread, acquisition, lease, note, liveness) -> acquisition, version, left, permits
-- doing: acquiring
-- does: acquires without a lease: while the client's liveness file is locked
-- none: a transaction holds a row without a lease: hold

-- name: names_liveness(liveness) -> anything
-- doing: tidying up after dead clients
-- does: answers whether a row names that liveness file
-- none: as hold_while_alive

-- name: vacate_dead(liveness) -> anything
-- doing: tidying up after dead clients
-- does: frees the rows that name it
-- none: as hold_while_alive

-- name: make(name) -> anything
-- doing: acquiring
-- does: makes a vacant row, if there is none
-- rules: waits_to_make
-- locks: none on a row that exists; waits for another's insert of the name, or for a transaction that has changed a row
--   made meanwhile, at most lock_timeout
-- clock: in the row's expression
-- no row: always
-- write:
INSERT INTO rowlock_lock (name, version, expires_at)
SELECT :name::text, greatest((SELECT token FROM rowlock_share WHERE name = '' AND acquisition = '') + 1,
  us(clock_timestamp())), clock_timestamp() WHERE NOT EXISTS (
  SELECT FROM rowlock_lock WHERE name = :name::text){briefly} ON CONFLICT (name) DO NOTHING;

-- name: vacate_expired(name) -> anything
-- doing: acquiring
-- does: frees the row, if its lease has ended and no session has it locked
-- locks: FOR UPDATE SKIP LOCKED on a row whose lease has ended
-- clock: after the lock
-- no row: always
-- write: a late holder's renew and confirm find no owner then
UPDATE rowlock_lock SET owner = NULL, thread = NULL, note = NULL,
  version = greatest(version + 1, us(clock_timestamp())), expires_at = clock_timestamp()
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = :name::text AND owner IS NOT NULL AND expires_at <= clock_timestamp(){releasing} FOR UPDATE SKIP LOCKED);

-- ---- Holding and releasing ------------------------------------------------------------------------------------------

-- name: renew(name, acquisition, lease) -> acquisition, left
-- doing: renewing
-- does: the lease ends that long from now, but not earlier than before
-- locks: FOR NO KEY UPDATE SKIP LOCKED
-- clock: after the lock
-- no row: inspect shows why
-- A row that another session keeps locked is skipped. inspect shows that it is still held, and the renewal is tried
-- again before the lease ends. It waits for the disk: a crash must not shorten a lease that its holder believes in.
-- write: testing again whether the lease has ended costs nothing, and is still valid once the row is locked
UPDATE rowlock_lock SET expires_at = greatest(expires_at, clock_timestamp() + :lease::bigint * interval '1 microsecond')
WHERE name = (SELECT name FROM rowlock_lock
    WHERE name = :name::text AND acquisition = :acquisition::text AND owner IS NOT NULL
      AND expires_at > clock_timestamp(){durably}
    FOR NO KEY UPDATE SKIP LOCKED)
  AND expires_at > clock_timestamp()
RETURNING acquisition, us(expires_at - clock_timestamp());
-- batch:
UPDATE rowlock_lock l SET expires_at = greatest(l.expires_at, w.at + w.lease * interval '1 microsecond')
FROM (SELECT w.*, clock_timestamp() AS at FROM (
    SELECT * FROM unnest(:name::text[], :acquisition::text[], :lease::bigint[]) AS u (name, acquisition, lease)
    ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND r.expires_at > clock_timestamp(){durably}
  FOR NO KEY UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C" AND l.expires_at > w.at
RETURNING l.acquisition, us(l.expires_at - w.at);

-- name: extend(name, acquisition, lease) -> acquisition, left
-- doing: extending
-- does: the lease ends that long from now, even if it ended later before
-- locks: FOR NO KEY UPDATE SKIP LOCKED
-- clock: after the lock
-- no row: inspect shows why
-- write: as renew, but the lease may become shorter
UPDATE rowlock_lock SET expires_at = clock_timestamp() + :lease::bigint * interval '1 microsecond'
WHERE name = (SELECT name FROM rowlock_lock
    WHERE name = :name::text AND acquisition = :acquisition::text AND owner IS NOT NULL
      AND expires_at > clock_timestamp(){durably}
    FOR NO KEY UPDATE SKIP LOCKED)
  AND expires_at > clock_timestamp()
RETURNING acquisition, us(expires_at - clock_timestamp());
-- batch:
UPDATE rowlock_lock l SET expires_at = w.at + w.lease * interval '1 microsecond'
FROM (SELECT w.*, clock_timestamp() AS at FROM (
    SELECT * FROM unnest(:name::text[], :acquisition::text[], :lease::bigint[]) AS u (name, acquisition, lease)
    ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND r.expires_at > clock_timestamp(){durably}
  FOR NO KEY UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C" AND l.expires_at > w.at
RETURNING l.acquisition, us(l.expires_at - w.at);

-- name: reserve(name, acquisition, lease, number) -> acquisition, left, version, others_wait
-- doing: handing over
-- does: renews, and raises the version by that number at least, for tokens of holders in one process
-- locks: FOR UPDATE SKIP LOCKED
-- clock: after the lock
-- no row: not ours, pinned, or expired: the lock is released
-- It waits for the disk: after a crash no token may be given twice. The queue is as it was when the statement began.
-- It decides only the length of the tenure.
-- write: unlike a renewal it changes the version, so it waits for a pin, as every change of ownership does
UPDATE rowlock_lock l SET version = greatest(version + :number::bigint, us(clock_timestamp())),
  expires_at = greatest(expires_at, clock_timestamp() + :lease::bigint * interval '1 microsecond')
WHERE name = (SELECT name FROM rowlock_lock
    WHERE name = :name::text AND acquisition = :acquisition::text AND owner IS NOT NULL
      AND expires_at > clock_timestamp(){guarded}{durably}
    FOR UPDATE SKIP LOCKED)
  AND expires_at > clock_timestamp()
RETURNING acquisition, us(expires_at - clock_timestamp()), version,
  (EXISTS (SELECT FROM rowlock_waiter w
    WHERE w.name = :name::text AND w.owner <> l.owner AND w.expires_at > clock_timestamp()))::integer;

-- name: release(name, acquisition) -> acquisition, notified, waiting
-- doing: releasing
-- does: frees the name, or grants it to the first waiter in turn. notified is NULL: no client is notified
-- locks: FOR UPDATE SKIP LOCKED
-- clock: after the lock
-- no row: inspect shows: pinned, or not ours
-- `waiting` is that of the row version that is locked, the tickets are those of the snapshot. If a client waits and
-- none was notified, first_waiter looks again (docs/protocol.md#waiting-in-turn). A ticket is granted the name if it
-- has a lease, and more than 300 ms are left of the holder's. Owners end with the client's id, attempts and
-- acquisitions begin with it: no client notifies itself.
--
-- While {guarded} does not hold, it grants nothing: the name is freed, and the waiter is notified.
--
-- It waits for the disk only with durable_release. If a crash undoes it, the name is held until the lease ends, and
-- nevertheless the next token is larger, since it follows the clock. If a transaction has pinned the row, the
-- reconciler repeats the release.
-- write: grants the name to the first waiter, if it waits for that, or notifies it. The lease does not end later than
--   before: raising it would have to wait for the disk. If the ticket of the previous grant still exists, it is
--   deleted, even if its client is just refreshing it: the next release must not take it for the first. As the next
--   waiter, a ticket that is just being deleted is skipped, and one that is granted is deleted after that: so the
--   client that has deleted it need only look once whether the name was granted to it. A set that need not wait in
--   turn is notified only if no other client waits, unless it insists.
WITH spent AS (DELETE FROM rowlock_waiter WHERE name = :name::text AND attempt = :acquisition::text)
UPDATE rowlock_lock l SET version = greatest(l.version + 1, us(g.at)), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT :name::text AS name, :acquisition::text AS acquisition) w CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL{releasing}
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds'{guarded} AS granted
    FROM rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR insists(q))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds'{guarded} AS granted
    FROM rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN pg_notify('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting;
-- batch:
WITH spent AS (
  DELETE FROM rowlock_waiter t USING unnest(:name::text[], :acquisition::text[]) AS u (name, acquisition)
  WHERE t.name = u.name COLLATE "C" AND t.attempt = u.acquisition)
UPDATE rowlock_lock l SET version = greatest(l.version + 1, us(g.at)), owner = g.owner, thread = g.thread,
  note = g.note, acquisition = coalesce(g.attempt, l.acquisition),
  acquired_at = CASE WHEN g.attempt IS NULL THEN l.acquired_at ELSE g.at END,
  expires_at = CASE WHEN g.attempt IS NULL THEN g.at ELSE least(l.expires_at, g.at + g.time) END
FROM (
  SELECT w.name, w.acquisition, first.owner AS first, clock_timestamp() AS at,
    CASE WHEN first.granted THEN first.owner END AS owner, CASE WHEN first.granted THEN first.thread END AS thread,
    CASE WHEN first.granted THEN first.note END AS note, CASE WHEN first.granted THEN first.attempt END AS attempt,
    least(interval '1 second', first.lease * interval '1 microsecond') AS time
  FROM (SELECT * FROM unnest(:name::text[], :acquisition::text[]) AS u (name, acquisition) ORDER BY name COLLATE "C") w
    CROSS JOIN LATERAL (
    SELECT r.waiting, r.expires_at FROM rowlock_lock r
    WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL{releasing}
    FOR UPDATE SKIP LOCKED) own LEFT JOIN LATERAL (
    SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds'{guarded} AS granted
    FROM rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND (q.room IS DISTINCT FROM -2 OR insists(q))
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) waits_in_turn
    UNION ALL SELECT * FROM (
    SELECT q.owner, q.thread, q.note, q.attempt, q.lease,
      q.lease IS NOT NULL AND own.expires_at > clock_timestamp() + interval '300 milliseconds'{guarded} AS granted
    FROM rowlock_waiter q
    WHERE own.waiting AND q.name = w.name COLLATE "C" AND q.expires_at > clock_timestamp()
      AND q.attempt <> w.acquisition AND q.room = -2
    ORDER BY q.ticket LIMIT 1 FOR KEY SHARE SKIP LOCKED) lets_others_pass LIMIT 1) first ON true) g
WHERE l.name = g.name COLLATE "C"
RETURNING g.acquisition, CASE WHEN right(g.first, 16) <> left(g.acquisition, 16)
  AND octet_length(right(g.first, 16)) = 16
    AND octet_length(l.name) <= 255 THEN pg_notify('rowlock_' || right(g.first, 16), l.name)::text END, l.waiting;

-- name: release_alone(name, acquisition) -> acquisition, notified, waiting
-- doing: releasing
-- does: releases, if no client waits
-- locks: FOR UPDATE SKIP LOCKED
-- clock: after the lock
-- no row: a client waits, as far as the row says, or as release: release follows
-- Sent first, unless this client's last release of the name found a waiter.
-- write:
UPDATE rowlock_lock SET owner = NULL, thread = NULL, note = NULL,
  version = greatest(version + 1, us(clock_timestamp())), expires_at = clock_timestamp()
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = :name::text AND acquisition = :acquisition::text AND owner IS NOT NULL AND NOT waiting{releasing}
  FOR UPDATE SKIP LOCKED)
RETURNING acquisition;
-- batch:
UPDATE rowlock_lock l SET owner = NULL, thread = NULL, note = NULL, version = greatest(l.version + 1, us(w.at)),
  expires_at = w.at
FROM (SELECT w.*, clock_timestamp() AS at FROM (
    SELECT * FROM unnest(:name::text[], :acquisition::text[]) AS u (name, acquisition) ORDER BY name COLLATE "C") w,
      LATERAL (
  SELECT FROM rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND NOT r.waiting{releasing}
  FOR UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.acquisition;

-- name: first_in_turn(name) -> owner, ticket, attempt, lease
-- doing: releasing
-- does: the first ticket without a grant
-- none: release grants the name itself

-- name: grant(name, acquisition, ticket, attempt) -> acquisition
-- doing: releasing
-- does: grants the lease to that ticket, which gets no second grant
-- none: as first_in_turn

-- name: defer_release(name, acquisition, lease) -> acquisition, notified
-- doing: releasing
-- does: releases later: the lease ends that long after the grant
-- locks: FOR NO KEY UPDATE SKIP LOCKED
-- clock: in the row's expression
-- no row: inspect shows: pinned, over, or not ours
-- It notifies as release does, and locks as renew does. See docs/protocol.md#holding-time-at_least-and-hold_limit.
-- write: :lease is the time since the grant. The owner stays in the row, so this does not wait for a pin, like a
--   renewal. It may make the lease longer, which a crash of the server must not undo.
UPDATE rowlock_lock SET expires_at = acquired_at + :lease::bigint * interval '1 microsecond', thread = '(released)'
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = :name::text AND acquisition = :acquisition::text AND owner IS NOT NULL
    AND expires_at > clock_timestamp(){durably}
  FOR NO KEY UPDATE SKIP LOCKED)
RETURNING acquisition,
  notify_first(left(:acquisition::text, 16), q.name = :name::text);
-- batch:
UPDATE rowlock_lock l SET expires_at = l.acquired_at + w.stay * interval '1 microsecond', thread = '(released)'
FROM (SELECT w.* FROM (
    SELECT * FROM unnest(:name::text[], :acquisition::text[], :lease::bigint[]) AS u (name, acquisition, stay)
    ORDER BY name COLLATE "C") w, LATERAL (
  SELECT FROM rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.acquisition = w.acquisition AND r.owner IS NOT NULL
    AND r.expires_at > clock_timestamp(){durably}
  FOR NO KEY UPDATE SKIP LOCKED) own) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.acquisition,
  notify_first(left(l.acquisition, 16), q.name = l.name);

-- name: free(name, version) -> name
-- doing: freeing
-- does: frees the row of that version, whichever client holds it, also after a crash
-- locks: FOR UPDATE SKIP LOCKED; and the ticket of the lease that it ends
-- clock: after the lock
-- no row: locked by another session, or of another version
-- It notifies the first waiter of any client, even of the client itself, and waits for the disk. See
-- docs/protocol.md#freeing-by-force.
-- write: whichever client is the owner: the version identifies the state of the row that was looked at. If a release
--   had granted the name to a ticket that still exists, it is deleted: a second grant to it would bring back the
--   acquisition of the holder that has just lost the name.
WITH freed AS (
  UPDATE rowlock_lock SET owner = NULL, thread = NULL, note = NULL,
    version = greatest(version + 1, us(clock_timestamp())), expires_at = clock_timestamp()
  WHERE name = (SELECT name FROM rowlock_lock
    WHERE name = :name::text AND version = :version::bigint AND owner IS NOT NULL{durably} FOR UPDATE SKIP LOCKED)
  RETURNING name, acquisition),
spent AS (
  DELETE FROM rowlock_waiter w USING freed WHERE w.name = freed.name AND w.attempt = freed.acquisition)
SELECT freed.name,
  notify_first('', q.name = :name::text AND q.attempt IS DISTINCT FROM freed.acquisition)
FROM freed;

-- ---- Sharing --------------------------------------------------------------------------------------------------------
--
-- Each verb is one statement, so that the row and its shares change together or not at all: the row is locked in a
-- CTE, a share is changed by what that has read, then the row. Shares are read by the snapshot, which is older than
-- the lock. A share that was prolonged or deleted since is tested again when it is changed (READ COMMITTED). A share
-- that was inserted since is never the requested one. Making, prolonging or converting a share waits for the disk.

-- name: share(name, owner, thread, acquisition, lease, note, permits, room, version) -> acquisition, version, left, permits
-- doing: acquiring
-- does: shares the name, if it is free, or shared with at most `room` permits. version 0: if no client waits
-- rules: batch_waits
-- locks: FOR UPDATE on a row that looks free, or shared with free permits, and the ticket of a lease that has ended;
--   of one name: waits at most lock_timeout, of several: SKIP LOCKED
-- clock: after the lock
-- no row: turn shows why
-- write: waits for the row, briefly: clients that share a name change it at any time. The row is locked before a share
--   is looked at, and the clock is read once, above that lock. Version 0: no client may wait. A ticket by which a release
--   had granted the name, for a lease that has ended, is deleted, as by acquire_in_turn.
WITH asked AS (SELECT *
  FROM (VALUES (:owner::text, :thread::text, :acquisition::text, :lease::bigint, :note::text, :permits::bigint,
  1)) AS a (owner, thread, acquisition, lease, note, permits, place)),
taken AS (
  UPDATE rowlock_lock l SET version = greatest(l.version + 1, us(own.at)) + own.number - 1, owner = '(shared)',
    thread = NULL, note = NULL, sharers = CASE WHEN own.joins THEN l.sharers ELSE 0 END + own.permits,
    acquisition = CASE WHEN own.joins THEN l.acquisition ELSE 'shared:' || :acquisition::text END,
    acquired_at = CASE WHEN own.joins THEN l.acquired_at ELSE own.at END,
    expires_at = CASE WHEN own.joins THEN greatest(l.expires_at, own.until) ELSE own.until END
  FROM (SELECT r.at, r.at + total.lease * interval '1 microsecond' AS until, total.number, total.permits,
      r.owner IS NOT DISTINCT FROM '(shared)' AND r.expires_at > r.at AS joins, r.acquisition AS had FROM (
    SELECT k.owner, k.expires_at, k.acquisition, clock_timestamp() AS at FROM (
      SELECT owner, expires_at, acquisition FROM rowlock_lock
      WHERE name = :name::text AND (owner IS NULL OR expires_at <= clock_timestamp()
          OR (owner = '(shared)' AND sharers <= :room::bigint))
        AND CASE WHEN :version::bigint = 0 THEN NOT waiting
          ELSE version = :version::bigint OR (owner IS NOT DISTINCT FROM '(shared)'
            AND expires_at > clock_timestamp()) END
        {guarded}{durably}{briefly}
      FOR UPDATE) k) r,
    (SELECT max(lease) AS lease, sum(permits)::bigint AS permits, count(*) AS number FROM asked) total) own
  WHERE l.name = :name::text
  RETURNING l.version - own.number AS before, l.acquisition, own.at, own.joins, own.had),
passed AS (
  DELETE FROM rowlock_waiter w USING taken t WHERE w.name = :name::text AND w.attempt = t.had AND NOT t.joins),
share AS (
  INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
  SELECT :name::text, a.acquisition, t.acquisition, a.permits, t.before + a.place, a.owner, a.thread, t.at,
    t.at + a.lease * interval '1 microsecond', a.note FROM taken t, asked a)
SELECT a.acquisition, t.before + a.place, a.lease FROM taken t, asked a;
-- batch: the requests of a name as a whole. Its row is changed once for all of them
WITH asked AS MATERIALIZED (
  SELECT u.*, row_number() OVER (PARTITION BY name ORDER BY acquisition) AS place
  FROM unnest(:name::text[], :owner::text[], :thread::text[], :acquisition::text[], :lease::bigint[], :note::text[],
    :permits::bigint[], :room::bigint[], :version::bigint[])
    AS u (name, owner, thread, acquisition, lease, note, permits, room, version)),
own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.* FROM (
      SELECT name, max(lease) AS lease, sum(permits)::bigint AS permits, count(*) AS number,
        min(acquisition) AS first, max(room) AS room, max(version) AS version
      FROM asked GROUP BY name ORDER BY name COLLATE "C") w, LATERAL (
      SELECT owner, expires_at, acquisition AS before FROM rowlock_lock
      WHERE name = w.name COLLATE "C" AND (owner IS NULL OR expires_at <= clock_timestamp()
          OR (owner = '(shared)' AND sharers <= w.room))
        AND CASE WHEN w.version = 0 THEN NOT waiting
          ELSE version = w.version OR (owner IS NOT DISTINCT FROM '(shared)' AND expires_at > clock_timestamp()) END
        {guarded}{durably}{briefly}
      FOR UPDATE{skipping}) r) k),
joining AS (
  SELECT own.*, at + lease * interval '1 microsecond' AS until,
    owner IS NOT DISTINCT FROM '(shared)' AND expires_at > at AS joins FROM own),
taken AS (
  UPDATE rowlock_lock l SET version = greatest(l.version + 1, us(own.at)) + own.number - 1, owner = '(shared)',
    thread = NULL, note = NULL, sharers = CASE WHEN own.joins THEN l.sharers ELSE 0 END + own.permits,
    acquisition = CASE WHEN own.joins THEN l.acquisition ELSE 'shared:' || own.first END,
    acquired_at = CASE WHEN own.joins THEN l.acquired_at ELSE own.at END,
    expires_at = CASE WHEN own.joins THEN greatest(l.expires_at, own.until) ELSE own.until END
  FROM joining own WHERE l.name = own.name COLLATE "C"
  RETURNING l.name, l.version - own.number AS token, l.acquisition, own.at, own.joins, own.before),
passed AS (
  DELETE FROM rowlock_waiter w USING taken t WHERE w.name = t.name AND w.attempt = t.before AND NOT t.joins),
share AS (
  INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
  SELECT t.name, a.acquisition, t.acquisition, a.permits, t.token + a.place, a.owner, a.thread, t.at,
    t.at + a.lease * interval '1 microsecond', a.note FROM taken t JOIN asked a ON a.name = t.name COLLATE "C")
SELECT a.acquisition, t.token + a.place, a.lease FROM taken t JOIN asked a ON a.name = t.name COLLATE "C";
-- batch skipping: as batch

-- name: renew_share(name, acquisition, lease) -> acquisition, left
-- doing: renewing
-- does: the lease of the share ends that long from now, but not earlier than before
-- rules: batch_waits
-- locks: FOR NO KEY UPDATE on the rows, then the shares; of one name: waits at most lock_timeout, of several: SKIP
--   LOCKED
-- clock: after the lock
-- no row: one name: not among sharers: lost; several: repeated name by name
-- batch: the row of the name is raised once for all its shares, and only if it ends too early. Its end as read under
--   the lock decides: a snapshot may be older, and show a later end that was true before.
WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since, r.ends FROM (
      SELECT * FROM unnest(:name::text[], :acquisition::text[], :lease::bigint[]) AS u (name, acquisition, lease)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since, expires_at AS ends FROM rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)'{durably}{briefly}
      FOR NO KEY UPDATE{skipping}) r) k),
kept AS (
  UPDATE rowlock_share s SET expires_at = greatest(s.expires_at, own.at + own.lease * interval '1 microsecond') FROM own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND s.expires_at > own.at
  RETURNING s.name, s.acquisition, s.expires_at, own.at, own.ends),
raised AS (
  UPDATE rowlock_lock l SET expires_at = greatest(l.expires_at, k.last)
  FROM (SELECT name, max(expires_at) AS last FROM kept WHERE expires_at > ends GROUP BY name) k WHERE l.name = k.name)
SELECT acquisition, us(expires_at - at) FROM kept;
-- batch skipping: as batch

-- name: extend_share(name, acquisition, lease) -> acquisition, left
-- doing: extending
-- does: the lease of the share ends that long from now, even if it ended later before
-- rules: batch_waits
-- locks: FOR NO KEY UPDATE on the rows, then the shares; of one name: waits at most lock_timeout, of several: SKIP
--   LOCKED
-- clock: after the lock
-- no row: one name: not among sharers: lost; several: repeated name by name
-- batch:
WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since, r.ends FROM (
      SELECT * FROM unnest(:name::text[], :acquisition::text[], :lease::bigint[]) AS u (name, acquisition, lease)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since, expires_at AS ends FROM rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)'{durably}{briefly}
      FOR NO KEY UPDATE{skipping}) r) k),
kept AS (
  UPDATE rowlock_share s SET expires_at = own.at + own.lease * interval '1 microsecond' FROM own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND s.expires_at > own.at
  RETURNING s.name, s.acquisition, s.expires_at, own.at, own.ends),
raised AS (
  UPDATE rowlock_lock l SET expires_at = greatest(l.expires_at, k.last)
  FROM (SELECT name, max(expires_at) AS last FROM kept WHERE expires_at > ends GROUP BY name) k WHERE l.name = k.name)
SELECT acquisition, us(expires_at - at) FROM kept;
-- batch skipping: as batch

-- name: release_share(name, acquisition, expired) -> acquisition, notified, waiting
-- doing: releasing
-- does: ends the share. expired is 1: only if its lease has ended
-- rules: batch_waits
-- locks: FOR UPDATE on the rows, then the shares; of one name: waits at most lock_timeout, of several: SKIP LOCKED
-- clock: after the lock
-- no row: sharers shows: pinned, or not ours
-- write: without any permits the row is vacant. The first waiter is notified if the name is vacant now, or if a
--   permit may be enough for it; it may be of the client that has expired.
WITH own AS MATERIALIZED (
  SELECT r.acquisition, clock_timestamp() AS at FROM (
    SELECT acquisition FROM rowlock_lock WHERE name = :name::text AND owner = '(shared)'{releasing}{briefly}
    FOR UPDATE) r),
gone AS (
  DELETE FROM rowlock_share s USING own
  WHERE s.name = :name::text AND s.acquisition = :acquisition::text AND s.since = own.acquisition
    AND (:expired::bigint = 0 OR s.expires_at <= own.at)
  RETURNING s.permits, own.at)
UPDATE rowlock_lock l SET sharers = l.sharers - g.permits,
  owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
  version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, us(g.at)) END,
  expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
FROM gone g WHERE l.name = :name::text
RETURNING :acquisition::text, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM rowlock_waiter q
    WHERE q.name = :name::text AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
  notify_first(CASE WHEN :expired::bigint = 0 THEN left(:acquisition::text, 16) ELSE '' END, q.name = :name::text) END,
  l.waiting;
-- batch: the permits of all shares of a name are taken off at once
WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since FROM (
      SELECT * FROM unnest(:name::text[], :acquisition::text[], :expired::bigint[]) AS u (name, acquisition, expired)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since FROM rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)'{releasing}{briefly}
      FOR UPDATE{skipping}) r) k),
gone AS (
  DELETE FROM rowlock_share s USING own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND (own.expired = 0 OR s.expires_at <= own.at)
  RETURNING s.name, s.acquisition, s.permits, own.expired, own.at),
freed AS (
  UPDATE rowlock_lock l SET sharers = l.sharers - g.permits,
    owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
    version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, us(g.at)) END,
    expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
  FROM (SELECT name, sum(permits)::bigint AS permits, max(at) AS at, array_agg(acquisition) AS acquisitions,
      CASE WHEN max(expired) = 0 THEN left(min(acquisition), 16) ELSE '' END AS teller FROM gone GROUP BY name) g
  WHERE l.name = g.name
  RETURNING g.acquisitions, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM rowlock_waiter q
      WHERE q.name = l.name AND q.room BETWEEN 0 AND 9223372036854775806)) THEN
    notify_first(g.teller, q.name = l.name) END AS told, l.waiting)
SELECT unnest(acquisitions), told, waiting FROM freed;
-- batch skipping: as batch

-- name: upgrade_share(name, acquisition, owner, thread, note) -> acquisition, version, left
-- doing: upgrading
-- does: the holder holds the name exclusively, if no other shares it
-- locks: as release_share
-- clock: after the lock
-- no row: others share it, or it is not ours
-- write: the expiry does not change
WITH own AS MATERIALIZED (
  SELECT r.acquisition, r.sharers, clock_timestamp() AS at FROM (
    SELECT acquisition, sharers FROM rowlock_lock WHERE name = :name::text AND owner = '(shared)'{guarded}{durably}{briefly}
    FOR UPDATE) r),
gone AS (
  DELETE FROM rowlock_share s USING own
  WHERE s.name = :name::text AND s.acquisition = :acquisition::text AND s.since = own.acquisition
    AND s.permits = own.sharers
    AND s.expires_at > own.at
  RETURNING s.expires_at, own.at)
UPDATE rowlock_lock l SET version = greatest(l.version + 1, us(g.at)), owner = :owner::text, thread = :thread::text,
  acquisition = :acquisition::text, acquired_at = g.at, expires_at = g.expires_at, note = :note::text, sharers = 0
FROM gone g WHERE l.name = :name::text
RETURNING :acquisition::text, l.version, us(l.expires_at - g.at);

-- name: downgrade(name, acquisition, owner, thread, note, attempt, permits) -> acquisition, version, left
-- doing: downgrading
-- does: the holder shares the name from now on
-- locks: as release_share
-- clock: after the lock
-- no row: the lock is not ours any more
-- write:
WITH taken AS (
  UPDATE rowlock_lock l SET version = greatest(l.version + 1, us(own.at)), owner = '(shared)', thread = NULL,
    note = NULL, acquisition = 'shared:' || :attempt::text, sharers = :permits::bigint
  FROM (SELECT clock_timestamp() AS at FROM (
    SELECT FROM rowlock_lock WHERE name = :name::text AND acquisition = :acquisition::text
      AND owner IS NOT NULL{durably}{briefly}
    FOR UPDATE) k) own
  WHERE l.name = :name::text AND l.expires_at > own.at
  RETURNING l.version, l.acquisition, l.expires_at, own.at),
share AS (
  INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
  SELECT :name::text, :acquisition::text, acquisition, :permits::bigint, version, :owner::text, :thread::text, at,
    expires_at, :note::text FROM taken)
SELECT :acquisition::text, version, us(expires_at - at) FROM taken;

-- name: purge_shares(name) -> anything
-- doing: sweeping
-- does: deletes shares that have ended and do not count any more
-- locks: shares
-- clock: in the row's expression
-- no row: always
-- write: those that belong to an earlier sharing of the name, which is over
DELETE FROM rowlock_share s
WHERE s.name = :name::text AND s.expires_at <= clock_timestamp(){relaxed} AND NOT EXISTS (
  SELECT FROM rowlock_lock l WHERE l.name = :name::text AND l.owner = '(shared)' AND l.acquisition = s.since);

-- name: find_dead_shares(name, number, retention) -> name
-- doing: sweeping
-- does: finds such shares, of the next names
-- locks: none
-- clock: in the row's expression
-- no row: there are none
-- read:
SELECT DISTINCT name FROM rowlock_share
WHERE name > :name::text AND expires_at <= clock_timestamp() - :retention::bigint * interval '1 microsecond'
ORDER BY name LIMIT :number::bigint;

-- name: sharers(name, expired) -> name, version, owner, thread, acquisition, age, left, note, without_lease, permits
-- doing: listing locks
-- does: the shares of the name that have not ended; expired is 1: those that have
-- locks: none
-- clock: in the row's expression
-- no row: there are none
-- read:
SELECT s.name, s.token, s.owner, s.thread, s.acquisition, us(clock_timestamp() - s.acquired_at),
  us(s.expires_at - clock_timestamp()), s.note, false, s.permits
FROM rowlock_share s JOIN rowlock_lock l ON l.name = s.name AND l.owner = '(shared)' AND l.acquisition = s.since
WHERE s.name = :name::text AND (s.expires_at > clock_timestamp()) = (:expired::bigint = 0) ORDER BY s.token;
-- batch:
SELECT s.name, s.token, s.owner, s.thread, s.acquisition, us(clock_timestamp() - s.acquired_at),
  us(s.expires_at - clock_timestamp()), s.note, false, s.permits
FROM unnest(:name::text[], :expired::bigint[]) AS w (name, expired)
JOIN rowlock_share s ON s.name = w.name COLLATE "C" AND (s.expires_at > clock_timestamp()) = (w.expired = 0)
JOIN rowlock_lock l ON l.name = s.name AND l.owner = '(shared)' AND l.acquisition = s.since;

-- ---- Waiting in turn ------------------------------------------------------------------------------------------------
--
-- Each client LISTENs to one channel, the table prefix and the client's id, on a connection that is opened when a
-- call first waits. release of a marked row, defer_release, free, leave, and first_waiter after the COMMIT of
-- for_update notify the owner of the first live ticket, unless it is the client itself. Without a ticket nothing is
-- sent, because NOTIFY makes commits wait for each other on the server.
--
-- A notification that the server refuses must not undo the work (law 7). PostgreSQL sends notifications at the
-- commit, and undoes the whole transaction if it cannot: the queue is full (54000), it cannot be written (53100,
-- 58030), or another transaction that notifies keeps its lock for longer than lock_timeout, as while it waits for a
-- synchronous standby (55P03). Then release, defer_release, leave, free, release_share and
-- notify_waiters are sent once more without the notification, and release without the grant. Nothing had happened,
-- so this is as if they had been sent that way first. The maintenance thread looks again, and notifies when the
-- server accepts notifications again. The waiter finds its turn by the refresh of its ticket, at most 2 s later. A
-- caller's transaction notifies no client.
--
-- The client rings once on another connection (ring), and relies on LISTEN only if that notification arrives within
-- 2 s. Behind PgBouncer in transaction mode it does not. Then the client warns once, looks at the queues instead
-- (docs/protocol.md#wake-ups), and tries again every minute. It also looks while the connection is broken; when it
-- is back, the first waiter of each name tries once. A silent connection is probed every 10 s.

-- name: enqueue(name, owner, thread, attempt, life, note, lease, room) -> attempt, ticket
-- doing: waiting in turn
-- does: a ticket at the end of the queue. lease: the lease that a release may grant to it, or NULL
-- locks: none
-- clock: in the row's expression
-- no row: never
-- write: tickets need not survive a crash of the server
INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at, note, lease, room)
SELECT :name::text, :owner::text, :thread::text, :attempt::text, clock_timestamp(),
  clock_timestamp() + :life::bigint * interval '1 microsecond', :note::text, :lease::bigint, :room::bigint
    WHERE true{relaxed}
RETURNING attempt, ticket;

-- name: refresh_ticket(name, attempt, ticket, life) -> attempt, may_go, waiting
-- doing: waiting in turn
-- does: prolongs the ticket. may_go: whether its turn has come, if that is asked
-- locks: FOR NO KEY UPDATE SKIP LOCKED on tickets
-- clock: in the row's expression
-- no row: these tickets were deleted
-- It also answers whether the ticket's turn has come and the name looks free, and whether the row is marked. The
-- waiter is woken if it may go, or if it relies on a missing mark.
-- batch:
WITH wanted AS MATERIALIZED (
  SELECT * FROM unnest(:name::text[], :attempt::text[], :ticket::bigint[], :life::bigint[]) AS u (name, attempt, ticket,
    life)),
kept AS (
  UPDATE rowlock_waiter w SET expires_at = clock_timestamp() + own.life * interval '1 microsecond'
  FROM (SELECT u.ticket, u.life FROM wanted u, LATERAL (
    SELECT FROM rowlock_waiter r WHERE r.ticket = u.ticket AND r.attempt = u.attempt{relaxed}
    FOR NO KEY UPDATE SKIP LOCKED) r) own
  WHERE w.ticket = own.ticket)
SELECT w.attempt, NOT EXISTS (SELECT FROM rowlock_waiter b
    WHERE b.name = w.name AND b.ticket < w.ticket AND b.expires_at > clock_timestamp()
      AND (b.room IS DISTINCT FROM 9223372036854775807 OR w.room IS DISTINCT FROM 9223372036854775807)
      AND (b.room IS DISTINCT FROM -2 OR insists(b))
      AND NOT EXISTS (SELECT FROM rowlock_lock l WHERE l.name = b.name AND l.acquisition = b.attempt))
        AND (NOT EXISTS (SELECT FROM rowlock_lock l
    WHERE l.name = w.name AND l.owner IS NOT NULL AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp()))
    OR EXISTS (SELECT FROM rowlock_lock l WHERE l.name = w.name AND l.owner = '(shared)' AND l.sharers <= w.room)),
  EXISTS (SELECT FROM rowlock_lock l WHERE l.name = w.name AND l.waiting)
FROM wanted u JOIN rowlock_waiter w ON w.ticket = u.ticket AND w.attempt = u.attempt;

-- name: leave(name, attempt, ticket) -> attempt, notified
-- doing: waiting in turn
-- does: deletes the ticket, and notifies the next waiter of another client
-- locks: the ticket; waits at most lock_timeout
-- clock: in the row's expression
-- no row: never
-- write: the next waiter is looked for only if the name looks free: then the server reads no more of a long queue
WITH gone AS (DELETE FROM rowlock_waiter WHERE ticket = :ticket::bigint AND attempt = :attempt::text{relaxed}{briefly})
SELECT w.attempt, CASE WHEN NOT EXISTS (SELECT FROM rowlock_lock l
    WHERE l.name = w.name AND l.owner <> '(shared)' AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())) THEN
  notify_first(left(w.attempt, 16), q.name = w.name AND right(q.owner, 16) <> left(w.attempt, 16)) END
FROM (SELECT :name::text AS name, :attempt::text AS attempt) w;
-- batch:
WITH wanted AS MATERIALIZED (
  SELECT * FROM unnest(:name::text[], :attempt::text[], :ticket::bigint[]) AS u (name, attempt, ticket)),
gone AS (
  DELETE FROM rowlock_waiter t USING wanted u
  WHERE t.ticket = u.ticket AND t.attempt = u.attempt{relaxed}{briefly})
SELECT w.attempt, CASE WHEN NOT EXISTS (SELECT FROM rowlock_lock l
    WHERE l.name = w.name AND l.owner <> '(shared)' AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())) THEN
  notify_first(left(w.attempt, 16), q.name = w.name AND right(q.owner, 16) <> left(w.attempt, 16)) END
FROM wanted w;

-- name: withdraw(name, attempt) -> anything
-- doing: waiting in turn
-- does: deletes a ticket whose number is not known
-- locks: the ticket; waits at most lock_timeout
-- clock: in the row's expression
-- no row: always
-- write:
DELETE FROM rowlock_waiter WHERE name = :name::text AND attempt = :attempt::text{relaxed}{briefly};

-- name: mark_waiting(name) -> name
-- doing: waiting in turn
-- does: notes in the row that a client waits
-- rules: waits_to_make
-- locks: FOR NO KEY UPDATE if the row is not marked; waits at most lock_timeout
-- clock: in the row's expression
-- no row: the row has changed meanwhile
-- write: if the row is marked already, nothing is written, and no row is locked. The ticket was committed before: the
--   client that clears the mark looks for tickets once more after that commit. As in every insert, a row that is seen
--   is not made.
WITH marked AS (
  UPDATE rowlock_lock SET waiting = true WHERE name = :name::text AND NOT waiting{relaxed}{briefly}
  RETURNING name),
made AS (
  INSERT INTO rowlock_lock (name, version, expires_at, waiting)
  SELECT :name::text, greatest((SELECT token FROM rowlock_share WHERE name = '' AND acquisition = '') + 1,
    us(clock_timestamp())), clock_timestamp(), true
  WHERE NOT EXISTS (SELECT FROM rowlock_lock WHERE name = :name::text){relaxed}{briefly}
  ON CONFLICT (name) DO UPDATE SET waiting = true
  RETURNING name)
SELECT name FROM marked UNION ALL SELECT name FROM made
UNION ALL SELECT name FROM rowlock_lock WHERE name = :name::text AND waiting;

-- name: clear_waiting(name) -> name
-- doing: notifying the next waiter
-- does: notes in the row that no client waits, since there is no ticket
-- locks: FOR NO KEY UPDATE SKIP LOCKED on a marked row
-- clock: not read
-- no row: not marked, or a client has a ticket
-- write:
UPDATE rowlock_lock SET waiting = false
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = :name::text AND waiting{relaxed}
    AND NOT EXISTS (SELECT FROM rowlock_waiter WHERE name = :name::text AND expires_at > clock_timestamp())
  FOR NO KEY UPDATE SKIP LOCKED)
RETURNING name;

-- name: first_waiter(name, attempt) -> owner, notified, is_behind
-- doing: notifying the next waiter
-- does: the first ticket of another client, if the name looks free
-- locks: none
-- clock: in the row's expression
-- no row: no client waits, or the name does not look free
-- read: an attempt begins with the id that ends the name of its client's channel. A text that is no name, or an owner
--   that is no client's id, is not notified: such a ticket was written by hand, and NOTIFY would refuse it.
SELECT q.owner, pg_notify('rowlock_' || right(q.owner, 16), q.name)::text
FROM first_of(q.name = :name::text AND right(q.owner, 16) <> left(:attempt::text, 16)) q, (SELECT :name::text AS name) w
WHERE NOT EXISTS (SELECT FROM rowlock_lock l
    WHERE l.name = w.name AND l.owner <> '(shared)' AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp()))
      AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255{relaxed}{briefly};

-- name: turn(name, turn, room, patience) -> name, is_behind, has_ticket, looks_free, left, version, holding, waiting
-- doing: waiting in turn
-- does: for a waiter: the state of its queue and of the name
-- locks: none
-- clock: in the row's expression
-- no row: no client waits
-- read:
SELECT :name::text, EXISTS (SELECT FROM rowlock_waiter b
    WHERE b.name = :name::text AND b.ticket < :turn::bigint AND b.expires_at > clock_timestamp()
      AND CASE WHEN :patience::bigint = 0 THEN true WHEN b.room = -2 OR (b.room < -1 AND :patience::bigint > 0)
        THEN insists(b)
        WHEN :patience::bigint < 0 THEN true
        ELSE :room::bigint >= 0
          AND b.enqueued_at <= clock_timestamp() - :patience::bigint * interval '1 microsecond' END
      AND (b.room IS DISTINCT FROM 9223372036854775807 OR :room::bigint <> 9223372036854775807)
      AND b.attempt IS DISTINCT FROM l.acquisition),
  EXISTS (SELECT FROM rowlock_waiter o WHERE o.ticket = :turn::bigint),
  l.owner IS NULL OR coalesce(l.expires_at <= clock_timestamp()
    OR (l.owner = '(shared)' AND l.sharers <= :room::bigint), false),
  us(l.expires_at - clock_timestamp()), l.version,
  CASE WHEN l.owner IS NOT NULL THEN l.acquisition END, l.waiting
FROM (SELECT) one LEFT JOIN rowlock_lock l ON l.name = :name::text;
-- batch:
SELECT w.name, EXISTS (SELECT FROM rowlock_waiter b
    WHERE b.name = w.name AND b.ticket < w.turn AND b.expires_at > clock_timestamp()
      AND CASE WHEN w.patience = 0 THEN true WHEN b.room = -2 OR (b.room < -1 AND w.patience > 0) THEN insists(b)
        WHEN w.patience < 0 THEN true
        ELSE w.room >= 0 AND b.enqueued_at <= clock_timestamp() - w.patience * interval '1 microsecond' END
      AND (b.room IS DISTINCT FROM 9223372036854775807 OR w.room <> 9223372036854775807)
      AND b.attempt IS DISTINCT FROM l.acquisition),
  EXISTS (SELECT FROM rowlock_waiter o WHERE o.ticket = w.turn),
  l.owner IS NULL OR coalesce(l.expires_at <= clock_timestamp() OR (l.owner = '(shared)' AND l.sharers <= w.room),
    false),
  us(l.expires_at - clock_timestamp()), l.version,
  CASE WHEN l.owner IS NOT NULL THEN l.acquisition END, l.waiting
FROM (SELECT name COLLATE "C" AS name, turn, room, patience
         FROM unnest(:name::text[], :turn::bigint[], :room::bigint[], :patience::bigint[]) AS u (name, turn, room,
           patience)) w LEFT JOIN rowlock_lock l ON l.name = w.name;

-- name: waiters(prefix, prefix_end) -> name, ticket, owner, thread, age, note
-- doing: listing waiters
-- does: the live tickets of names with that prefix
-- locks: none
-- clock: in the row's expression
-- no row: no client waits
-- read:
SELECT name, ticket, owner, thread, us(clock_timestamp() - enqueued_at), note FROM rowlock_waiter
  WHERE name >= :prefix::text AND name < coalesce(:prefix_end::text, {after_all})
  AND expires_at > clock_timestamp() ORDER BY name, ticket;

-- name: ring(owner) -> anything
-- doing: waiting in turn
-- does: notifies the own client, which shows that notifications arrive
-- locks: none
-- clock: in the row's expression
-- no row: never
-- read:
SELECT pg_notify('rowlock_' || right(:owner::text, 16), '')::text;

-- name: notify_waiters(name, number) -> name, notified
-- doing: notifying the next waiter
-- does: notifies the first waiter of each name of a page that looks free
-- locks: none
-- clock: in the row's expression
-- no row: never
-- read: in the order of the queues: of each name only the tickets on one page are read. If the name is shared, the
--   next may be able to share it.
SELECT name, CASE WHEN NOT EXISTS (SELECT FROM rowlock_lock l
    WHERE l.name = w.name AND l.owner <> '(shared)' AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())) THEN
  notify_first('', q.name = w.name) END
FROM (
    SELECT DISTINCT name FROM (SELECT name, expires_at FROM rowlock_waiter
      WHERE name > :name::text ORDER BY name, ticket LIMIT :number::bigint) page) w;

-- ---- Deadlocks ------------------------------------------------------------------------------------------------------

-- name: declare_held(ticket, name, acquisition) -> anything
-- doing: looking for deadlocks
-- does: notes that the waiter holds that name. acquisition is empty: its transaction holds it
-- locks: the edges
-- clock: in the row's expression
-- no row: always
-- write:
INSERT INTO rowlock_edge AS e (ticket, name, acquisition) SELECT :ticket::bigint, :name::text, :acquisition::text
  WHERE true{relaxed}
ON CONFLICT (ticket, name) DO UPDATE SET acquisition = excluded.acquisition;

-- name: forget_held(ticket) -> anything
-- doing: looking for deadlocks
-- does: deletes these notes
-- locks: the edges
-- clock: in the row's expression
-- no row: always
-- write:
DELETE FROM rowlock_edge WHERE ticket = :ticket::bigint{relaxed};

-- name: waiting_holders() -> name, ticket, owner, thread, held_name
-- doing: looking for deadlocks
-- does: each waiter with the names that it holds
-- locks: none
-- clock: in the row's expression
-- no row: there are none
-- read: a waiter that shares the name by now does not wait any more, although its ticket is not deleted yet
SELECT q.name, q.ticket, q.owner, q.thread, e.name
FROM rowlock_edge e JOIN rowlock_waiter q ON q.ticket = e.ticket AND q.expires_at > clock_timestamp()
LEFT JOIN rowlock_lock l
  ON l.name = e.name AND l.owner IS NOT NULL AND (l.expires_at IS NULL OR l.expires_at > clock_timestamp())
WHERE (e.acquisition = '' OR l.acquisition = e.acquisition OR EXISTS (SELECT FROM rowlock_share s
    WHERE s.name = e.name AND s.acquisition = e.acquisition AND s.since = l.acquisition
      AND s.expires_at > clock_timestamp()))
  AND NOT EXISTS (SELECT FROM rowlock_share s WHERE s.name = q.name AND s.owner = q.owner AND s.thread = q.thread
    AND s.acquired_at > q.enqueued_at)
ORDER BY q.ticket, e.name;

-- name: purge_held() -> anything
-- doing: sweeping
-- does: deletes the notes of deleted tickets
-- locks: the edges
-- clock: in the row's expression
-- no row: always
-- write:
DELETE FROM rowlock_edge e
WHERE NOT EXISTS (SELECT FROM rowlock_waiter q WHERE q.ticket = e.ticket){relaxed};

-- ---- Inspecting -----------------------------------------------------------------------------------------------------

-- name: inspect(name) -> name, version, owner, thread, acquisition, age, left, note, without_lease, waiting
-- doing: listing locks
-- does: the row
-- locks: none
-- clock: in the row's expression
-- no row: there is no row
-- read:
SELECT name, version, owner, thread, acquisition, us(clock_timestamp() - acquired_at),
  us(expires_at - clock_timestamp()), note, expires_at IS NULL, waiting FROM rowlock_lock WHERE name = :name::text;
-- batch:
SELECT name, version, owner, thread, acquisition, us(clock_timestamp() - acquired_at),
  us(expires_at - clock_timestamp()), note, expires_at IS NULL, waiting FROM rowlock_lock
    WHERE name = ANY (:name::text[]);

-- name: list(prefix, prefix_end) -> name, version, owner, thread, acquisition, age, left, note, without_lease, permits
-- doing: listing locks
-- does: the rows of names with that prefix
-- locks: none
-- clock: in the row's expression
-- no row: no name is held
-- read:
SELECT name, version, owner, thread, acquisition, us(clock_timestamp() - acquired_at),
  us(expires_at - clock_timestamp()), note, expires_at IS NULL,
  CASE owner WHEN '(shared)' THEN (
    SELECT least(coalesce(sum(greatest(s.permits, 0)), 0), 9223372036854775807)::bigint FROM rowlock_share s
    WHERE s.name = l.name AND s.since = l.acquisition AND s.expires_at > clock_timestamp()) END
FROM rowlock_lock l
WHERE name >= :prefix::text AND name < coalesce(:prefix_end::text, {after_all}) AND owner IS NOT NULL
AND (expires_at IS NULL OR expires_at > clock_timestamp()) ORDER BY name;

-- name: touch(name) -> name, version, owner, thread, acquisition, age, left, note, without_lease, is_unlocked
-- doing: acquiring
-- does: the row, and whether it is vacant and no session has it locked
-- locks: FOR UPDATE SKIP LOCKED on a vacant row, for that moment
-- clock: in the row's expression
-- no row: there is no row
-- read: whether the row is vacant and no transaction had it locked
SELECT name, version, owner, thread, acquisition, us(clock_timestamp() - acquired_at),
  us(expires_at - clock_timestamp()), note, expires_at IS NULL, EXISTS (
  SELECT FROM rowlock_lock l WHERE l.name = :name::text AND l.owner IS NULL{releasing} FOR UPDATE SKIP LOCKED)::integer
FROM rowlock_lock WHERE name = :name::text;

-- name: find_held(prefix, prefix_end) -> name, version, owner, session, acquisition, age, left, note, without_lease, transaction
-- doing: listing locks
-- does: the rows of names with that prefix, as open transactions have changed them
-- locks: none
-- clock: in the row's expression
-- no row: no transaction holds the name
-- The remains of a transaction that was rolled back have no such lock. The token is not known (0), the owner is the
-- session's application_name, and only roles that may see it learn its age. It is a picture of a moment, for people: a
-- change that is not committed yet looks the same, as does any transaction that locks the row. Only force_release
-- depends on it, for the session that it ends, and it looks again first.
-- read: the xmax of a row names the transaction that has changed it and not committed, and pg_locks lists that
--   transaction while it is open
WITH held AS MATERIALIZED (
  SELECT k.transactionid, k.pid, a.application_name, a.xact_start
  FROM pg_catalog.pg_locks k LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = k.pid
  WHERE k.locktype = 'transactionid' AND k.granted AND k.mode = 'ExclusiveLock')
SELECT l.name, 0::bigint, h.application_name, h.pid::bigint, NULL::text,
  us(clock_timestamp() - h.xact_start), NULL::bigint, NULL::text, true
FROM rowlock_lock l JOIN held h ON h.transactionid = l.xmax
WHERE (l.owner IS NULL OR l.expires_at <= clock_timestamp()) AND
l.name >= :prefix::text AND l.name < coalesce(:prefix_end::text, {after_all}) ORDER BY l.name;

-- name: find_pinning(name) -> name, version, owner, session, acquisition, age, left, note, without_lease, transaction
-- doing: listing locks
-- does: the transactions that keep the row locked; first those that do not change it
-- locks: none
-- clock: in the row's expression
-- no row: no transaction that is known has it locked
-- A number is read as a list only if there is one of that number: pg_get_multixact_members would fail. The
-- savepoint of confirm has a number of its own, which is in pg_locks, too. At worst, a transaction that has the number
-- by chance is another one that holds or pins a name. A prepared transaction has no session, and is not found.
-- read: where several transactions have had the row locked at once, its xmax is the number of a list of them. Nothing
--   distinguishes the number of a list from that of a transaction, so a transaction that is found by it must at least
--   have locked something in this table. In a list the transactions that only lock come first: a transaction that
--   writes meanwhile is a renewal or the like, and ends in a moment.
WITH named AS MATERIALIZED (SELECT name, xmax AS keeper, tableoid AS home FROM rowlock_lock WHERE name = :name::text),
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
  us(clock_timestamp() - a.xact_start), NULL::bigint, NULL::text, true
FROM found f LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = f.pid ORDER BY f.place, f.pid;

-- name: pinned_by(name, sign) -> anything
-- doing: acquiring
-- does: answers whether the transaction of that sign keeps the row as it is
-- locks: none
-- clock: not read
-- no row: another session keeps the row locked, or none that is known
-- Through PgBouncer the caller's session is not known: the row then counts as pinned by another.
-- read: a number that is read both as a transaction and as a list may make it seem that others keep the row, too
WITH named AS MATERIALIZED (SELECT name, xmax AS keeper, tableoid AS home FROM rowlock_lock WHERE name = :name::text),
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
SELECT 1 FROM found HAVING count(*) > 0 AND bool_and(pid = :sign::integer);

-- name: end_session(name, session) -> anything
-- doing: ending another session
-- does: ends that session of the server, if it keeps the row locked
-- locks: none
-- clock: not read
-- no row: that session does not keep the row locked any more
-- Test and end are one statement. A role may end the sessions of roles that it is a member of; a member of
-- pg_signal_backend those of all but superusers.
-- write:
WITH named AS MATERIALIZED (SELECT name, xmax AS keeper, tableoid AS home FROM rowlock_lock WHERE name = :name::text),
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
SELECT pg_terminate_backend(pid)::integer FROM (SELECT DISTINCT pid FROM found WHERE pid = :session::integer) f;

-- name: count() -> names, waiters, longest_wait
-- doing: counting
-- does: how many locks and waiters there are
-- locks: none
-- clock: in the row's expression
-- no row: never
-- The figures of `database_stats()` are this and list, on one connection but in two statements, and so perhaps of two
-- moments.
-- read:
SELECT (SELECT count(*) FROM rowlock_lock), count(*), us(clock_timestamp() - min(enqueued_at))
FROM rowlock_waiter WHERE expires_at > clock_timestamp();

-- ---- Sweeping -------------------------------------------------------------------------------------------------------

-- name: find_unused(name, number, retention) -> name, is_over, version
-- doing: sweeping
-- does: a page of names: all whose row may be deleted, and the last one
-- locks: none
-- clock: in the row's expression
-- no row: the end of the table
-- read: the version is as old as the last change of ownership, even if that change wrote no expiry
WITH page AS MATERIALIZED (
  SELECT name, version, expires_at <= clock_timestamp() - :retention::bigint * interval '1 microsecond'
    AND version <= us(clock_timestamp()) - :retention::bigint AS is_unused
  FROM rowlock_lock WHERE name > :name::text ORDER BY name LIMIT :number::bigint)
SELECT name, 1, version FROM page WHERE is_unused
  UNION ALL (SELECT name, 0, version FROM page ORDER BY name DESC LIMIT 1);

-- name: raise_floor(version) -> anything
-- doing: sweeping
-- does: rows that are made from now on begin above that version
-- locks: that row, until its commit
-- clock: not read
-- no row: it is as high already
-- write: in a transaction of its own, before the deletion. Raising it in vain does no harm.
INSERT INTO rowlock_share AS s (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at)
VALUES ('', '', '', 0, :version::bigint, '', '', 'epoch', 'epoch')
ON CONFLICT (name, acquisition) DO UPDATE SET token = excluded.token WHERE s.token < excluded.token;

-- name: sweep(name, retention) -> name
-- doing: sweeping
-- does: deletes the row, if no client has held the name for so long. Its version is at most the floor
-- locks: FOR UPDATE SKIP LOCKED
-- clock: in the locking select
-- no row: nothing was deleted
-- batch: the conditions are tested again under the lock. The deletion waits for the disk: until it is on
--   disk, PostgreSQL would not mark the deleted rows when the next page is looked at.
DELETE FROM rowlock_lock l
USING (SELECT w.name FROM (
    SELECT * FROM unnest(:name::text[], :retention::bigint[]) AS u (name, retention) ORDER BY name COLLATE "C") w,
      LATERAL (
  SELECT FROM rowlock_lock r
  WHERE r.name = w.name COLLATE "C" AND r.expires_at <= clock_timestamp() - w.retention * interval '1 microsecond'
    AND r.version <= us(clock_timestamp()) - w.retention
      AND r.version <= (SELECT token FROM rowlock_share WHERE name = '' AND acquisition = ''){durably}
  FOR UPDATE SKIP LOCKED) unused) w
WHERE l.name = w.name COLLATE "C"
RETURNING l.name;

-- name: find_dead(ticket, number, retention) -> ticket, name, attempt, is_over
-- doing: sweeping
-- does: a page of tickets: all that may be deleted, and the last one
-- locks: none
-- clock: in the row's expression
-- no row: the end of the table
-- read:
WITH page AS MATERIALIZED (
  SELECT ticket, name, attempt,
    expires_at <= clock_timestamp() - :retention::bigint * interval '1 microsecond' AS is_dead
  FROM rowlock_waiter WHERE ticket > :ticket::bigint ORDER BY ticket LIMIT :number::bigint)
SELECT ticket, name, attempt, 1 FROM page WHERE is_dead
UNION ALL (SELECT ticket, name, attempt, 0 FROM page ORDER BY ticket DESC LIMIT 1);

-- name: purge_tickets(name, attempt, ticket, retention) -> attempt
-- doing: sweeping
-- does: deletes the tickets of a page that are still dead
-- locks: FOR UPDATE SKIP LOCKED
-- clock: in the locking select
-- no row: nothing was deleted
-- batch:
DELETE FROM rowlock_waiter t
USING (SELECT w.ticket FROM (
    SELECT * FROM unnest(:name::text[], :attempt::text[], :ticket::bigint[], :retention::bigint[]) AS u (name, attempt,
      ticket, retention)) w,
  LATERAL (
    SELECT FROM rowlock_waiter r WHERE r.ticket = w.ticket AND r.attempt = w.attempt
      AND r.expires_at <= clock_timestamp() - w.retention * interval '1 microsecond'{relaxed}
    FOR UPDATE SKIP LOCKED) dead) w
WHERE t.ticket = w.ticket
RETURNING t.attempt;

-- ---- Jobs -----------------------------------------------------------------------------------------------------------
--
-- See docs/protocol.md#jobs. A job is locked under its own name.

-- name: close_runs(name, acquisition, token) -> anything
-- doing: recording a run
-- does: runs of the job whose lock another holder had, and that have no end, are lost from now on
-- locks: FOR KEY SHARE SKIP LOCKED on the lock's row, as confirm; the runs
-- clock: after the lock
-- no row: there is none, or the lock is not held
-- An earlier holder cannot record an end any more: end_run would have to find its acquisition in the lock's row. So it
-- does not matter whether it has died, or is paused. Sent twice, it finds nothing to do.
-- write:
WITH own AS MATERIALIZED (
  SELECT name, expires_at FROM rowlock_lock
  WHERE name = :name::text AND acquisition = :acquisition::text AND owner IS NOT NULL
    AND expires_at > clock_timestamp(){always durably}
  FOR KEY SHARE SKIP LOCKED)
UPDATE rowlock_job_run r SET finished_at = clock_timestamp(), result = 'lost' FROM own
WHERE own.expires_at > clock_timestamp() AND r.job = own.name AND r.finished_at IS NULL
  AND r.token <> :token::bigint;

-- name: begin_run(name, acquisition, token, begin, end, number, wait) -> anything
-- doing: recording a run
-- does: records a run that begins, as the next of its period
-- locks: FOR KEY SHARE SKIP LOCKED on the lock's row, as confirm
-- clock: after the lock
-- no row: find_runs shows why: a run has succeeded, this lock has begun one, `number` have begun, the last one ended less
--   than `wait` ago, or the lock is not held
-- Only the holder of the lock passes the condition, and no other can hold it before this is committed. So no other
-- client changes the runs of the job in between, and all runs of earlier holders are seen. Whether its reply is lost or
-- it is sent twice, one lock begins one run in a period; a statement that is late finds another acquisition. A run that
-- ended later than now was recorded before the clock was set back, and delays nothing.
-- write: it waits for the disk, and so does a run's end, even if the grant did not
WITH own AS MATERIALIZED (
  SELECT name, owner, expires_at FROM rowlock_lock
  WHERE name = :name::text AND acquisition = :acquisition::text AND owner IS NOT NULL
    AND expires_at > clock_timestamp(){always durably}
  FOR KEY SHARE SKIP LOCKED),
period AS MATERIALIZED (
  SELECT timestamptz 'epoch' + :begin::bigint * interval '1 microsecond' AS begins,
    timestamptz 'epoch' + :end::bigint * interval '1 microsecond' AS ends)
INSERT INTO rowlock_job_run (job, period_begin, attempt, period_end, owner, token, started_at)
SELECT own.name, p.begins, (SELECT coalesce(max(r.attempt), 0) + 1 FROM rowlock_job_run r
    WHERE r.job = own.name AND r.period_begin = p.begins), p.ends, own.owner, :token::bigint, clock_timestamp()
FROM own, period p
WHERE own.expires_at > clock_timestamp()
  AND NOT EXISTS (SELECT FROM rowlock_job_run r WHERE r.job = own.name AND r.period_begin = p.begins
    AND (r.succeeded = 1 OR r.token = :token::bigint OR r.attempt >= :number::bigint
      OR r.finished_at <= clock_timestamp()
        AND r.finished_at > clock_timestamp() - :wait::bigint * interval '1 microsecond'))
ON CONFLICT DO NOTHING;

-- name: end_run(name, acquisition, token, begin, result, exit_status, signal, output) -> anything
-- doing: recording a run
-- does: records the end of the run that this lock has begun in the period
-- locks: FOR KEY SHARE SKIP LOCKED on the lock's row, as confirm; the run
-- clock: after the lock
-- no row: find_runs shows why: an end is recorded, or the lock is not held
-- A holder that has lost the lock records nothing, even if it is not aware of the loss: the row has another acquisition,
-- no owner, or a lease that is over. Otherwise no other client can hold the lock before this is committed. Sent twice,
-- the second finds an end. Besides, a unique key permits one success in a period.
-- write:
WITH own AS MATERIALIZED (
  SELECT name, expires_at FROM rowlock_lock
  WHERE name = :name::text AND acquisition = :acquisition::text AND owner IS NOT NULL
    AND expires_at > clock_timestamp(){always durably}
  FOR KEY SHARE SKIP LOCKED)
UPDATE rowlock_job_run r SET finished_at = clock_timestamp(), result = :result::text,
  exit_status = :exit_status::bigint, signal_number = :signal::bigint, output = :output::text,
  succeeded = CASE WHEN :result::text = 'succeeded' THEN 1 END
FROM own
WHERE own.expires_at > clock_timestamp() AND r.job = own.name
  AND r.period_begin = timestamptz 'epoch' + :begin::bigint * interval '1 microsecond'
  AND r.token = :token::bigint AND r.finished_at IS NULL;

-- name: find_runs(name, begin) -> name, begin, end, attempt, owner, token, started_at, finished_at, result, exit_status, signal, output, clock
-- doing: looking for runs
-- does: the runs of a job in a period, the newest first
-- locks: none
-- clock: in the row's expression
-- no row: there is none
-- A run without an end is running if its lock is held, otherwise lost.
-- read:
SELECT r.job, us(r.period_begin), us(r.period_end), r.attempt::bigint, r.owner, r.token, us(r.started_at),
  us(r.finished_at), coalesce(r.result, CASE WHEN EXISTS (SELECT FROM rowlock_lock l
    WHERE l.name = r.job AND l.version = r.token AND l.owner IS NOT NULL AND l.expires_at > clock_timestamp())
    THEN 'running' ELSE 'lost' END), r.exit_status::bigint, r.signal_number::bigint, r.output, us(clock_timestamp())
FROM rowlock_job_run r
WHERE r.job = :name::text AND r.period_begin = timestamptz 'epoch' + :begin::bigint * interval '1 microsecond'
ORDER BY r.attempt DESC;

-- name: list_runs(prefix, prefix_end, number, each_result) -> name, begin, end, attempt, owner, token, started_at, finished_at, result, exit_status, signal, output
-- doing: looking for runs
-- does: the last runs of each job whose name begins so, or of each of its results, by job, the newest first
-- locks: none
-- clock: in the row's expression
-- no row: there is none
-- read:
SELECT r.job, us(r.period_begin), us(r.period_end), r.attempt::bigint, r.owner, r.token, us(r.started_at),
  us(r.finished_at), coalesce(r.result, CASE WHEN EXISTS (SELECT FROM rowlock_lock l
    WHERE l.name = r.job AND l.version = r.token AND l.owner IS NOT NULL AND l.expires_at > clock_timestamp())
    THEN 'running' ELSE 'lost' END), r.exit_status::bigint, r.signal_number::bigint, r.output
FROM (SELECT *, row_number() OVER (PARTITION BY job, CASE WHEN :each_result::bigint = 1 THEN result END
    ORDER BY period_begin DESC, attempt DESC) AS place
  FROM rowlock_job_run
  WHERE job >= :prefix::text AND (:prefix_end::text IS NULL OR job < :prefix_end::text)) r
WHERE r.place <= :number::bigint ORDER BY r.job, r.period_begin DESC, r.attempt DESC;

-- name: forget_runs(kept, retention, number) -> count
-- doing: sweeping
-- does: deletes runs of periods that ended that long ago, `number` at most, but not the last `kept` of a job
-- locks: FOR UPDATE SKIP LOCKED
-- clock: in WHERE
-- no row: none was deleted; count: 1 for each that was
-- write:
DELETE FROM rowlock_job_run d
USING (SELECT r.job, r.period_begin, r.attempt FROM rowlock_job_run r
  WHERE r.period_end <= clock_timestamp() - :retention::bigint * interval '1 microsecond'
    AND (SELECT n.attempt FROM rowlock_job_run n
      WHERE n.job = r.job AND (n.period_begin, n.attempt) >= (r.period_begin, r.attempt)
      ORDER BY n.period_begin, n.attempt LIMIT 1 OFFSET :kept::bigint) IS NOT NULL
  ORDER BY r.period_end LIMIT :number::bigint FOR UPDATE OF r SKIP LOCKED) old
WHERE d.job = old.job AND d.period_begin = old.period_begin AND d.attempt = old.attempt
RETURNING 1::bigint;

-- ---- Schema and settings --------------------------------------------------------------------------------------------
--
-- migrate runs the files that are missing in one transaction, which first takes an advisory lock of their schema. Of
-- many processes one does it, and the others find it done. Killed inside: the server rolls back when it sees the
-- connection end, and until then the next process waits. A file that changes a table needs it alone for a moment, and
-- PostgreSQL puts that request before all later ones, so renewals would wait behind it. Therefore lock_timeout is 50
-- ms, and the files run in a savepoint: after a timeout it is rolled back, which unlocks the tables, and is tried
-- again after 100 to 200 ms, until call_timeout. See docs/protocol.md#schema-and-migration.
--
-- The tables are in the first schema of search_path that has the lock table (the query is in
-- src/driver/postgresql/session_setup.cpp). The path is the one that the session began with, by server, database, role
-- and URL: behind PgBouncer another program may have left another. If the URL names a search_path, the session's own is
-- taken, since a pooler sets that after the start. The first session that finds the tables decides for all sessions of
-- the client. Without tables it is the first schema of the path, where migrate would make them; nothing is decided
-- then, and the next statement looks again.
--
-- migrate sets search_path to that schema, role and default_tablespace to the session's defaults, and
-- default_table_access_method to heap, on whose row locks rowlock relies. Functions and operators are those of
-- pg_catalog, which a path begins with unless it names pg_catalog later. A role that may create functions in a schema
-- of the path could offer one that fits an argument better. Let no other role create objects there (REVOKE CREATE ON
-- SCHEMA public FROM PUBLIC; since PostgreSQL 15 that is the default).

-- name: schema() -> version, serves_from, installation, applied_at, clock, checksum
-- doing: reading the schema's version
-- does: the schema files that were applied, the newest first; which database this is, and where in it the tables are
-- locks: none
-- clock: in the row's expression
-- no row: there is no schema
-- read: a copy of a database has the same installation id, but another name or other tables
SELECT version, serves_from,
  installation || '/' || encode(convert_to(current_database(), 'UTF8'), 'hex') || '/' || tableoid::text,
  us(applied_at), us(clock_timestamp()), checksum
FROM rowlock_migration ORDER BY version DESC;

-- name: probe() -> name
-- doing: checking for permission to write
-- does: the table whose rows may be hidden from this role, if there is one. Fails if locks could not be taken
-- locks: none
-- clock: not read
-- no row: always
-- Rows that are hidden from a role are no error, and a lock on such a row could be neither seen nor released.
-- write: privileges are checked even if nothing is written. A policy that lets the role see and write everything
--   does no harm.
WITH made AS (INSERT INTO rowlock_lock (name, version) SELECT '', 0 WHERE false),
  changed AS (UPDATE rowlock_lock SET version = version WHERE false),
  waiting AS (INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at, note)
    SELECT '', '', '', '', now(), now(), '' WHERE false),
  staying AS (UPDATE rowlock_waiter SET expires_at = expires_at WHERE false),
  leaving AS (DELETE FROM rowlock_waiter WHERE false),
  sharing AS (DELETE FROM rowlock_share WHERE false),
  holding AS (DELETE FROM rowlock_edge WHERE false),
  beginning AS (INSERT INTO rowlock_job_run SELECT * FROM rowlock_job_run WHERE false),
  ending AS (UPDATE rowlock_job_run SET token = token WHERE false),
  forgetting AS (DELETE FROM rowlock_job_run WHERE false),
  removing AS (DELETE FROM rowlock_lock WHERE false)
SELECT c.relname::text FROM pg_catalog.pg_class c
WHERE c.relnamespace = (SELECT h.relnamespace FROM pg_catalog.pg_class h
    WHERE h.oid = (SELECT tableoid FROM rowlock_migration LIMIT 1))
  AND c.relname IN ('rowlock_' || 'lock', 'rowlock_' || 'waiter', 'rowlock_' || 'share', 'rowlock_' || 'edge',
    'rowlock_' || 'job_run')
  AND row_security_active(c.oid) AND (
    NOT EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid AND p.polpermissive AND p.polcmd = '*'
      AND pg_get_expr(p.polqual, p.polrelid) = 'true'
      AND coalesce(pg_get_expr(p.polwithcheck, p.polrelid), 'true') = 'true'
      AND EXISTS (SELECT FROM unnest(p.polroles) r WHERE r = 0 OR pg_has_role(r, 'USAGE')))
    OR EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid AND NOT p.polpermissive))
ORDER BY c.relname LIMIT 1;

-- name: settings() -> name, value
-- doing: reading the settings
-- does: the server's settings, and those of this session
-- locks: none
-- clock: not read
-- no row: never
-- Needs no privilege. For people: no decision depends on it. src/core/diagnosis.cpp says what is good and what is not.
-- read:
SELECT name, setting FROM pg_catalog.pg_settings
  WHERE name IN ('fsync', 'full_page_writes', 'synchronous_standby_names')
UNION ALL SELECT 'server', 'PostgreSQL ' || current_setting('server_version')
UNION ALL SELECT 'user', current_user::text
UNION ALL SELECT 'database', current_database()::text
UNION ALL SELECT 'ssl_version', coalesce(version, '') FROM pg_catalog.pg_stat_ssl WHERE pid = pg_backend_pid()
UNION ALL SELECT 'ssl_cipher', cipher FROM pg_catalog.pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl
UNION ALL SELECT 'gss', encrypted::text FROM pg_catalog.pg_stat_gssapi WHERE pid = pg_backend_pid()
UNION ALL SELECT 'standbys', count(*)::text FROM pg_catalog.pg_stat_replication
UNION ALL SELECT 'may_end_sessions', pg_has_role('pg_signal_backend', 'USAGE')::text;

-- name: applying(version, checksum) -> anything
-- doing: migrating
-- does: notes the checksum of a schema file
-- locks: the row
-- clock: not read
-- no row: the checksum is there already
-- write:
UPDATE rowlock_migration SET checksum = :checksum::text WHERE version = :version::integer AND checksum IS NULL;

-- ---- The guard over failovers ----------------------------------------------------------------------------------------
--
-- See docs/protocol.md#the-guard. A server's incarnation is its system identifier and its timeline, which a promotion
-- changes. The condition {guarded} compares the timeline alone: another system identifier needs another session, and a
-- client reads incarnation at the beginning of each.

-- name: see_guard() -> term, incarnation, quarantine, left, since, relaxed
-- doing: reading the guard
-- does: its row. incarnation is NULL if it is off; left: until the end of a quarantine
-- locks: none
-- clock: in the row's expression
-- no row: the row was deleted: as if the guard were off
-- read:
SELECT term, incarnation, quarantine, us(grants_from - clock_timestamp()), us(since), relaxed_from IS NOT NULL
FROM rowlock_guard;

-- name: see_witness() -> term
-- doing: reading the guard
-- does: the term in its row, which was written with the guard's row
-- locks: none
-- clock: not read
-- no row: since then the server has crashed or was promoted, or the guard was never relaxed
-- read:
SELECT term FROM rowlock_witness;

-- name: incarnation() -> incarnation
-- doing: reading the guard
-- does: the incarnation of this server. NULL: it is in recovery, and writes nothing
-- locks: none
-- clock: not read
-- no row: never
-- read:
SELECT CASE WHEN NOT pg_is_in_recovery() THEN
  (SELECT system_identifier FROM pg_control_system())::text || '/' ||
    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END;

-- name: set_guard(term, incarnation, quarantine, left, number, relaxed) -> term
-- doing: changing the guard
-- does: replaces the row, if it has the term that was seen, and gives it the term `number`
-- locks: the row
-- clock: in the row's expression
-- no row: another client has changed it
-- write: grants begin after :left. NULL: after a quarantine if a lease that is longer than it is out, otherwise at once.
--   It waits for the disk: nothing may be granted by a row that a crash takes back. The witness has the same term, so it
--   counts only with this row, and with the quarantine that it begins. Relaxed commits begin 20 s after the guard became
--   relaxed: a client that still believes that the guard is off does not look for the witness.
WITH changed AS (
  UPDATE rowlock_guard SET term = :number::bigint, incarnation = :incarnation::text, quarantine = :quarantine::bigint,
    since = clock_timestamp(),
    relaxed_from = CASE WHEN :relaxed::bigint = 1
      THEN coalesce(relaxed_from, clock_timestamp() + interval '20 seconds') END,
    grants_from = clock_timestamp() + interval '1 microsecond' * coalesce(:left::bigint, CASE WHEN EXISTS (
      SELECT FROM rowlock_lock WHERE owner IS NOT NULL
        AND expires_at > clock_timestamp() + :quarantine::bigint * interval '1 microsecond')
      THEN :quarantine::bigint ELSE 0 END)
  WHERE term = :term::bigint{always durably}
  RETURNING term, relaxed_from),
witnessed AS (
  INSERT INTO rowlock_witness (id, term) SELECT 1, term FROM changed WHERE relaxed_from IS NOT NULL
  ON CONFLICT (id) DO UPDATE SET term = excluded.term)
SELECT term FROM changed;

-- name: await_relaxed() -> anything
-- doing: changing the guard
-- does: waits for statements that may commit without waiting for the disk. Others wait until the transaction ends
-- locks: the table of the witness; waits at most lock_timeout
-- clock: not read
-- no row: always
-- Sent before set_guard, in its transaction, if that makes a relaxed guard another one. PostgreSQL locks a statement's
-- tables before it takes its snapshot. So a statement either has written its commit before set_guard, whose commit
-- waits for the disk with all that was written before, or it sees the new row.
-- write:
LOCK TABLE rowlock_witness IN EXCLUSIVE MODE;

-- name: serve_from(version, number) -> version
-- doing: changing the guard
-- does: programs that expect an older schema than `number` are refused from now on
-- locks: the row
-- clock: not read
-- no row: the schema has no such version
-- write:
UPDATE rowlock_migration SET serves_from = :number::integer WHERE version >= :version::integer{always durably}
RETURNING version;

-- ---- In the caller's transaction ------------------------------------------------------------------------------------
--
-- Its client_encoding may be any, so all text is UTF-8 in hexadecimal. In any other installation the row is not
-- touched. SAVEPOINT "rowlock: had" and the statement are one message, one round trip. libpqxx 6 would roll back the
-- whole transaction if a part of such a message fails: there the savepoint, with SHOW transaction_isolation, is sent
-- before. After a success the savepoint remains open: releasing it would be a third statement, and would free nothing.
--
-- An error is undone by ROLLBACK TO SAVEPOINT only if it can be no error of SAVEPOINT itself, as in a transaction that
-- has failed before. Otherwise the savepoint of an earlier call would be rolled back to, which would release its lock
-- and let the transaction commit. So after a cancelled statement (57014) the transaction has failed.
--
-- Planning would cost more than the rest. So from the second use of a session on, lock_in and confirm prepare their
-- statements there (PREPARE "rowlock: ...", at most three, named by a hash of the text). The client remembers what is
-- prepared by the session's number. If that is wrong (DISCARD ALL, a pooler, another client on the session), the
-- server answers 26000 or 42P05, the savepoint is rolled back, the statement is sent in another way, and no other is
-- prepared in that session. With transaction_pooling none is prepared.

-- name: enlisted.take_vacant(name, installation, note) -> version
-- This is tried only in a session that never had a level other than READ COMMITTED. SET TRANSACTION ISOLATION LEVEL
-- READ COMMITTED, after the savepoint, changes nothing there. At another level it fails (25001) before a snapshot is
-- taken.
-- write:
UPDATE rowlock_lock SET version = greatest(version + 1, us(clock_timestamp())), owner = NULL, thread = NULL,
  note = convert_from(decode(:note::text, 'hex'), 'UTF8'), expires_at = clock_timestamp()
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = convert_from(decode(:name::text, 'hex'), 'UTF8') AND owner IS NULL AND
  (SELECT installation || '/' || encode(convert_to(current_database(), 'UTF8'), 'hex') || '/' || m.tableoid::text
    FROM rowlock_migration m WHERE version = 1) = convert_from(decode(:installation::text, 'hex'), 'UTF8'){guarded}
      FOR UPDATE SKIP LOCKED)
RETURNING version;

-- name: enlisted.take(name, installation, note, released) -> is_here, version, is_vacant, isolation
-- After a refusal everything is as before: if the row was locked and only then found leased, the savepoint is rolled
-- back, which unlocks it.
--
-- Above READ COMMITTED, PostgreSQL locks no row that was changed since the snapshot, and reports that (40001). A row
-- that the only snapshot does not show as vacant can never be locked, and the attempt would take that snapshot. So
-- if touch finds the row vacant but locked, the client waits over its pool, for 2 s, and then in the database,
-- where a deadlock is found. (Not with transaction_pooling, where it is not known whether this very transaction has
-- the row locked.)
-- write: :released is the acquisition that the client has released, and cannot vacate over its pool because this very
--   transaction pins it
WITH home AS MATERIALIZED (SELECT coalesce(
  (SELECT installation || '/' || encode(convert_to(current_database(), 'UTF8'), 'hex') || '/' || m.tableoid::text
    FROM rowlock_migration m WHERE version = 1) = convert_from(decode(:installation::text, 'hex'), 'UTF8'),
      false) AS is_here),
taken AS (
  UPDATE rowlock_lock SET version = greatest(version + 1, us(clock_timestamp())), owner = NULL, thread = NULL,
    note = convert_from(decode(:note::text, 'hex'), 'UTF8'), expires_at = clock_timestamp()
  WHERE name = (SELECT name FROM rowlock_lock
    WHERE name = convert_from(decode(:name::text, 'hex'), 'UTF8')
      AND (owner IS NULL OR acquisition = convert_from(decode(:released::text, 'hex'), 'UTF8'))
      AND (SELECT is_here FROM home){guarded} FOR UPDATE SKIP LOCKED)
  RETURNING version)
SELECT (SELECT is_here::integer FROM home), (SELECT version FROM taken),
  (SELECT (owner IS NULL)::integer FROM rowlock_lock WHERE name = convert_from(decode(:name::text, 'hex'), 'UTF8')),
    current_setting('transaction_isolation');

-- name: enlisted.await(name, installation, note, released) -> is_here, version, is_vacant, isolation
-- With a lock_timeout of its own: deadlock_timeout and 2 s at most, half of statement_timeout if that is less.
-- After a refusal the savepoint restores it. After a success it is set as it was.
-- write: as take, but waits for a transaction that has the row locked
WITH home AS MATERIALIZED (SELECT coalesce(
  (SELECT installation || '/' || encode(convert_to(current_database(), 'UTF8'), 'hex') || '/' || m.tableoid::text
    FROM rowlock_migration m WHERE version = 1) = convert_from(decode(:installation::text, 'hex'), 'UTF8'),
      false) AS is_here),
taken AS (
  UPDATE rowlock_lock SET version = greatest(version + 1, us(clock_timestamp())), owner = NULL, thread = NULL,
    note = convert_from(decode(:note::text, 'hex'), 'UTF8'), expires_at = clock_timestamp()
  WHERE name = (SELECT name FROM rowlock_lock
    WHERE name = convert_from(decode(:name::text, 'hex'), 'UTF8')
      AND (owner IS NULL OR acquisition = convert_from(decode(:released::text, 'hex'), 'UTF8'))
      AND (SELECT is_here FROM home){guarded} FOR UPDATE)
  RETURNING version)
SELECT (SELECT is_here::integer FROM home), (SELECT version FROM taken),
  (SELECT (owner IS NULL)::integer FROM rowlock_lock WHERE name = convert_from(decode(:name::text, 'hex'), 'UTF8')),
    current_setting('transaction_isolation');

-- name: enlisted.pin(name, acquisition, installation) -> is_here, is_unexpired, isolation
-- This is confirm. An old snapshot shows the lease as it was before its renewals. Nevertheless FOR KEY SHARE locks the
-- row, since a renewal changes no key. If the snapshot shows a lease that is over, the row is pinned, and the pool is
-- asked whether it is alive.
-- read: the clock is read above the lock
SELECT coalesce(
  (SELECT installation || '/' || encode(convert_to(current_database(), 'UTF8'), 'hex') || '/' || m.tableoid::text
    FROM rowlock_migration m WHERE version = 1) = convert_from(decode(:installation::text, 'hex'), 'UTF8'),
      false)::integer, (SELECT (expires_at > clock_timestamp())::integer FROM (
      SELECT expires_at FROM rowlock_lock WHERE name = convert_from(decode(:name::text, 'hex'), 'UTF8')
        AND acquisition = convert_from(decode(:acquisition::text, 'hex'), 'UTF8') AND owner IS NOT NULL
      FOR KEY SHARE SKIP LOCKED) own), current_setting('transaction_isolation');

-- name: enlisted.installation(installation) -> is_here
-- read:
SELECT coalesce(
  (SELECT installation || '/' || encode(convert_to(current_database(), 'UTF8'), 'hex') || '/' || m.tableoid::text
    FROM rowlock_migration m WHERE version = 1) = convert_from(decode(:installation::text, 'hex'), 'UTF8'),
      false)::integer;

-- name: enlisted.set(name, installation, version) -> is_here, version
-- This is optimistically. It sends SAVEPOINT "rowlock: optimistically" and installation at its beginning, and RELEASE
-- SAVEPOINT and this before the commit.
-- write:
WITH home AS MATERIALIZED (SELECT coalesce(
  (SELECT installation || '/' || encode(convert_to(current_database(), 'UTF8'), 'hex') || '/' || m.tableoid::text
    FROM rowlock_migration m WHERE version = 1) = convert_from(decode(:installation::text, 'hex'), 'UTF8'),
      false) AS is_here),
changed AS (
  UPDATE rowlock_lock SET version = greatest(version + 1, us(clock_timestamp()))
  WHERE name = (SELECT name FROM rowlock_lock
    WHERE name = convert_from(decode(:name::text, 'hex'), 'UTF8') AND version = :version::bigint AND owner IS NULL
      AND (SELECT is_here FROM home){guarded} FOR UPDATE SKIP LOCKED)
  RETURNING version)
SELECT (SELECT is_here::integer FROM home), (SELECT version FROM changed);
