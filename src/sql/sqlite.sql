-- Every statement that rowlock runs in an SQLite file. The library is built with this text, and its page in docs/ is
-- written from it: src/sql/loader.hpp describes its form. docs/protocol.md has the laws, and shows why all is safe.
--
-- `rowlock_` stands for the table prefix, `:name` for an argument. A statement is sent as one line, without its
-- comments. Three functions are registered on the connection:
--
--   clock_us()                        The host's clock in microseconds. It is read once for each statement, while that
--                                     runs (it is not declared deterministic), and after a statement that writes took
--                                     the file's write lock.
--   tell(n, value)                    Its value, which becomes column n of the answer, after the key of the request, if
--                                     the statement changes a row. RETURNING would build a temporary table for each
--                                     statement.
--   is_dead(expires_at, liveness)     True if there is no lease and the client that holds the row is dead.
--
-- The sweeper deletes only rows whose version is at most the floor, the token of the share with the empty name. A new
-- row begins above the floor. The floor is read under the write lock.
--
-- A set that waits for all of its names has a ticket with room < -1 in each queue. For a second in every five seconds
-- it insists: the names are kept free for it. insists(x) is replaced: whether that of the ticket x does now.

-- ---- Acquiring -------------------------------------------------------------------------------------------------------

-- name: acquire(name, owner, thread, acquisition, lease, note) -> acquisition, version, left, permits
-- doing: acquiring
-- does: the owner holds the name for the lease, if it is free
-- rules: read_explains
-- locks: none for the read; the file's write lock for the write
-- clock: in both, in the row's expression
-- no row: inconclusive
-- The write decides again under the write lock. So it does not matter what the read has seen, nor which of them came
-- first. If the name came free between the write and the read, the attempt is inconclusive. `owner IS NULL OR
-- expires_at <= clock_us()` is not true of a row without a lease (NULL is unknown): for that is_dead decides. With
-- fifo, turn reads the queue in a statement of its own before.
-- read: if this runs first, a refused attempt takes no lock
SELECT :acquisition, NULL, iif(is_dead(expires_at, liveness), 0, expires_at - clock_us()), owner = '(shared)'
FROM rowlock_lock
WHERE name = :name
  AND (owner IS NOT NULL AND (expires_at > clock_us() OR expires_at IS NULL AND NOT is_dead(expires_at, liveness))
    OR EXISTS (SELECT 1 FROM rowlock_waiter q WHERE q.name = :name AND q.room < -1));
-- write: a missing row is inserted, a vacant or expired one taken over, unless a set waits
INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
VALUES (:name,
    tell(1, max(clock_us(), ifnull((SELECT token + 1 FROM rowlock_share WHERE name = '' AND acquisition = ''), 0))),
    :owner, :thread, :acquisition, clock_us(), clock_us() + tell(2, :lease), :note)
ON CONFLICT (name) DO UPDATE
SET version = tell(1, max(version + 1, clock_us())), owner = excluded.owner, thread = excluded.thread,
  acquisition = excluded.acquisition, acquired_at = excluded.acquired_at, expires_at = excluded.expires_at,
  note = excluded.note, liveness = NULL
WHERE (owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness))
  AND NOT EXISTS (SELECT 1 FROM rowlock_waiter q WHERE q.name = :name AND q.room < -1);

-- name: acquire_existing(name, owner, thread, acquisition, lease, note) -> acquisition, version, left, permits
-- doing: acquiring
-- does: acquires, if there is a row, which is free, and for which no client waits
-- none: it would save nothing

-- name: acquire_any(name, owner, thread, acquisition, lease, note) -> name, version, left
-- doing: acquiring
-- does: acquires the first name of a batch that is free. The rows must exist
-- rules: takes_one
-- locks: the file's write lock, for all
-- clock: as acquire
-- no row: none is free
-- It is sent for one name after the other, until one is granted.
-- write: as acquire

-- name: acquire_all(name, owner, thread, acquisition, lease, note, version) -> acquisition, version, left
-- doing: acquiring
-- does: acquires all names of a batch, or none. version: as it was seen, or 0 for any. The rows must exist
-- rules: takes_all
-- locks: the file's write lock, for all
-- clock: in WHERE and SET
-- no row: one is not free, or has no row: all is rolled back
-- It is sent for one name after the other, until one is refused.
-- write: version 0 is any, unless a set waits
UPDATE rowlock_lock
SET version = tell(1, max(version + 1, clock_us())), owner = :owner, thread = :thread, acquisition = :acquisition,
  acquired_at = clock_us(), expires_at = clock_us() + tell(2, :lease), note = :note, liveness = NULL
WHERE name = :name
  AND (version = :version
    OR :version = 0 AND NOT EXISTS (SELECT 1 FROM rowlock_waiter q WHERE q.name = :name AND q.room < -1))
  AND (owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness));

-- name: acquire_in_turn(name, owner, thread, acquisition, lease, note, ticket, turn, patience) -> acquisition, version, left, is_behind, has_ticket, has_left, looks_free, holding, held_as, waiting
-- doing: acquiring
-- does: acquires, and answers the place in the queue. Tickets after turn do not count; a granted ticket is deleted
-- none: turn and compare_and_set cost little without a round trip

-- name: compare_and_set(name, owner, thread, acquisition, lease, note, version) -> acquisition, version, left, permits
-- doing: acquiring
-- does: acquires, if the row has the version that was seen
-- locks: the file's write lock
-- clock: in WHERE and SET
-- no row: another client holds the name, or held it since inspect read the row: inconclusive
-- inspect, which has read the version, took no lock, and shows a row whose client is dead as vacant. Version and
-- freedom are tested again here.
-- write:
UPDATE rowlock_lock
SET version = tell(1, max(version + 1, clock_us())), owner = :owner, thread = :thread, acquisition = :acquisition,
  acquired_at = clock_us(), expires_at = clock_us() + tell(2, :lease), note = :note, liveness = NULL
WHERE name = :name AND (version = :version)
  AND (owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness));

-- name: hold(name) -> name, version, waiting
-- doing: acquiring
-- does: acquires in a transaction that remains open
-- none: SQLite has no row locks; hold_while_alive holds a row without a lease

-- name: hold_while_alive(name, owner, thread, acquisition, lease, note, liveness) -> acquisition, version, left, permits
-- doing: acquiring
-- does: acquires without a lease: while the client's liveness file is locked
-- rules: read_explains
-- locks: as acquire
-- clock: as acquire
-- no row: inconclusive
-- This is for_update: an open transaction would keep all others from writing. So the row has no lease, and a lock of
-- the operating system on a file shows that the holder is alive, even while it is paused. See
-- docs/protocol.md#locks-held-by-transactions for servers.
--
-- Exclusion: the file was locked before it got its name, and the row names it from the moment it is held. So no client
-- sees a row of a living client whose file is free. A client that cannot be tested counts as alive: its file is
-- missing, may not be read, is no regular file, or its name has another form. Taking a living holder for dead would
-- break law 1.
--
-- The files are empty, in the folder FILE-rowlock beside the database file (symbolic links to that are followed), one
-- for each client that has ever taken such a lock. The name is the table prefix and 32 random hexadecimal digits,
-- which no other client ever uses. A file is made under another name (.new-...), locked (F_OFD_SETLK), then renamed.
-- Before every attempt the client tests whether its file still has a name, and makes it anew under the same name if
-- not. A test (F_OFD_GETLK, on a descriptor of its own) asks first for a lock, then whether the file still has a name:
-- so a file that was made anew in between is not taken for a free one. Locks of the process (F_SETLK) would be lost
-- with any descriptor of the file, and could not be tested inside the process. A database in memory has no such files.
--
-- Permissions: folder (0777) and files (0666) are made with the process's umask. Users that share the database must be
-- able to write to the folder and to read each other's files. Otherwise their dead holders count as alive.
--
-- Kept: every third of transaction_limit the client sends renew, which changes nothing of a row without a lease, and
-- inspect, which shows whether the row is still its own. That finds a row that was vacated or deleted by hand.
--
-- Killed: the operating system drops the file's lock (after a core dump), and the next statement that meets the row
-- takes it over. No waiter is notified: they try every 5 to 250 ms.
--
-- If the folder is removed by hand, rows of that time are held and released as before. But if their client ends
-- without a release, the name stays taken, until an empty file of the name in `liveness` is made by hand. So it is in
-- a copy of the database elsewhere. No copies of such files may be put in their place, as by restoring a backup over a
-- living database: a copy is not locked, and its client counts as dead.
-- read: as acquire, without the sets
SELECT :acquisition, NULL, iif(is_dead(expires_at, liveness), 0, expires_at - clock_us()), owner = '(shared)'
FROM rowlock_lock
WHERE name = :name
  AND (owner IS NOT NULL AND (expires_at > clock_us() OR expires_at IS NULL AND NOT is_dead(expires_at, liveness)));
-- write: the row has no lease, and names the file that shows whether its holder is alive
INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note, liveness)
VALUES (:name,
    tell(1, max(clock_us(), ifnull((SELECT token + 1 FROM rowlock_share WHERE name = '' AND acquisition = ''), 0))),
    :owner, :thread, :acquisition, clock_us(), tell(2, NULL), :note, :liveness)
ON CONFLICT (name) DO UPDATE
SET version = tell(1, max(version + 1, clock_us())), owner = excluded.owner, thread = excluded.thread,
  acquisition = excluded.acquisition, acquired_at = excluded.acquired_at, expires_at = NULL, note = excluded.note,
  liveness = excluded.liveness
WHERE owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness);

-- name: names_liveness(liveness) -> anything
-- doing: tidying up after dead clients
-- does: answers whether a row names that liveness file
-- locks: none
-- clock: not read
-- no row: no row names the file
-- read:
SELECT 1 FROM rowlock_lock WHERE liveness = :liveness LIMIT 1;

-- name: vacate_dead(liveness) -> anything
-- doing: tidying up after dead clients
-- does: frees the rows that name it
-- locks: the file's write lock
-- clock: in SET
-- no row: no row names the file, or its client lives
-- A client that has made a file vacates, when it closes, all rows of each file that is free, then removes that file.
-- It removes its own when no row names it any more (names_liveness). So a row never outlives its file: that client
-- takes no locks any more, and a dead client takes none. Killed in between: the rows are vacant, and the next
-- client removes the file. A client whose rows are not vacated leaves its file, unlocked.
-- write:
UPDATE rowlock_lock
SET owner = NULL, thread = NULL, note = NULL, liveness = NULL, version = max(version + 1, clock_us()),
  expires_at = clock_us()
WHERE liveness = :liveness AND owner IS NOT NULL AND is_dead(expires_at, liveness);

-- name: make(name) -> anything
-- doing: acquiring
-- does: makes a vacant row, if there is none
-- locks: the file's write lock
-- clock: in the row's expression
-- no row: there is a row, so nothing needs to be done
-- A row that is left behind is vacant, and does no harm.
-- write:
INSERT INTO rowlock_lock (name, version, expires_at)
VALUES (:name,
    max(clock_us(), ifnull((SELECT token + 1 FROM rowlock_share WHERE name = '' AND acquisition = ''), 0)), clock_us())
ON CONFLICT (name) DO NOTHING;

-- name: vacate_expired(name) -> anything
-- doing: acquiring
-- does: frees the row, if its lease has ended and no session has it locked
-- none: a write of SQLite waits for no row

-- ---- Holding and releasing -------------------------------------------------------------------------------------------

-- name: renew(name, acquisition, lease) -> acquisition, left
-- doing: renewing
-- does: the lease ends that long from now, but not earlier than before
-- locks: the file's write lock
-- clock: in WHERE and SET
-- no row: it is not this acquisition's any more, or expired; inspect shows why
-- The lock is lost if no row was changed, whatever inspect shows. NULL > clock_us() is not true: a
-- row without a lease is never changed.
-- write:
UPDATE rowlock_lock SET expires_at = clock_us() + tell(1, max(expires_at - clock_us(), :lease))
WHERE name = :name AND acquisition = :acquisition AND owner IS NOT NULL AND expires_at > clock_us();

-- name: extend(name, acquisition, lease) -> acquisition, left
-- doing: extending
-- does: the lease ends that long from now, even if it ended later before
-- locks: the file's write lock
-- clock: in WHERE and SET
-- no row: as renew
-- write:
UPDATE rowlock_lock SET expires_at = clock_us() + tell(1, :lease)
WHERE name = :name AND acquisition = :acquisition AND owner IS NOT NULL AND expires_at > clock_us();

-- name: reserve(name, acquisition, lease, number) -> acquisition, left, version, others_wait
-- doing: handing over
-- does: renews, and raises the version by that number at least, for tokens of holders in one process
-- locks: the file's write lock
-- clock: in WHERE and SET
-- no row: it is not ours, or expired: the lock is released
-- There is one writer at a time, so the queue is that of the moment.
-- write: renews, and raises the version by that number of tokens
UPDATE rowlock_lock
SET expires_at = clock_us() + tell(1, max(expires_at - clock_us(), :lease)),
  version = tell(2, max(version + :number, clock_us())) + 0 * tell(3,
    EXISTS (SELECT 1 FROM rowlock_waiter w
      WHERE w.name = :name AND w.owner <> rowlock_lock.owner AND w.expires_at > clock_us() AND w.lease IS NOT 0))
WHERE name = :name AND acquisition = :acquisition AND owner IS NOT NULL AND expires_at > clock_us();

-- name: release(name, acquisition) -> acquisition, notified, waiting
-- doing: releasing
-- does: frees the name, or grants it to the first waiter in turn. notified is NULL: no client is notified
-- locks: the file's write lock
-- clock: in SET
-- no row: there is nothing to release
-- A transaction that pins the row has the whole file locked. The release waits for it, within the limit of its call;
-- then the reconciler repeats it.
-- write:
UPDATE rowlock_lock
SET owner = NULL, thread = NULL, note = NULL, liveness = NULL, version = max(version + 1, clock_us()),
  expires_at = clock_us()
WHERE name = :name AND acquisition = :acquisition AND owner IS NOT NULL;

-- name: release_alone(name, acquisition) -> acquisition, notified, waiting
-- doing: releasing
-- does: releases, if no client waits
-- locks: the file's write lock
-- clock: in SET
-- no row: a waiter may be granted the name: grant follows, or release
-- write:
UPDATE rowlock_lock
SET owner = NULL, thread = NULL, note = NULL, liveness = NULL, version = max(version + 1, clock_us()),
  expires_at = clock_us()
WHERE name = :name AND acquisition = :acquisition AND owner IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM rowlock_waiter WHERE name = :name AND lease > 0);

-- name: first_in_turn(name) -> owner, ticket, attempt, lease
-- doing: releasing
-- does: the first ticket without a grant
-- locks: none
-- clock: in the row's expression
-- no row: no ticket may be granted the name
-- read: a set counts only while it insists
SELECT q.owner, q.ticket, q.attempt, q.lease FROM rowlock_waiter q
WHERE q.name = :name AND q.expires_at > clock_us() AND q.lease IS NOT 0
  AND (q.room IS NOT -2 OR insists(q))
ORDER BY q.ticket LIMIT 1;

-- name: grant(name, acquisition, ticket, attempt) -> acquisition
-- doing: releasing
-- does: grants the lease to that ticket, which gets no second grant
-- locks: the file's write lock, for both statements
-- clock: in WHERE and SET
-- no row: release follows
-- Both statements are one transaction, so a ticket is used up if and only if it was granted the name.
-- write: the lease does not end later than before
UPDATE rowlock_lock AS l
SET owner = q.owner, thread = q.thread, note = q.note, acquisition = q.attempt,
  version = max(l.version + 1, clock_us()), acquired_at = clock_us(),
  expires_at = min(l.expires_at, clock_us() + min(q.lease, 1000000))
FROM rowlock_waiter q
WHERE l.name = :name AND l.acquisition = :acquisition AND l.owner IS NOT NULL AND l.expires_at > clock_us() + 300000
  AND q.ticket = :ticket AND q.attempt = :attempt AND q.lease > 0 AND q.expires_at > clock_us();
-- then: this ticket gets no second grant
UPDATE rowlock_waiter SET lease = 0 WHERE ticket = :ticket;

-- name: defer_release(name, acquisition, lease) -> acquisition, notified
-- doing: releasing
-- does: releases later: the lease ends that long after the grant
-- locks: the file's write lock
-- clock: in WHERE
-- no row: the lease has ended, or it is not ours; inspect shows which
-- A lease that has ended counts as released. See docs/protocol.md#holding-time-at_least-and-hold_limit.
-- write: :lease is the time since the grant
UPDATE rowlock_lock SET expires_at = acquired_at + :lease, thread = '(released)'
WHERE name = :name AND acquisition = :acquisition AND owner IS NOT NULL AND expires_at > clock_us();

-- name: free(name, version) -> name
-- doing: freeing
-- does: frees the row of that version, whichever client holds it, also after a crash
-- locks: the file's write lock
-- clock: in SET
-- no row: the row has another version
-- A holder without a lease finds its row vacant within a third of transaction_limit. A holder that is dead by its file
-- needs no freeing: inspect shows no holder. There is no session to end.
-- write: whichever client is the owner: the version identifies the state of the row that was looked at
UPDATE rowlock_lock
SET owner = NULL, thread = NULL, note = NULL, liveness = NULL, version = max(version + 1, clock_us()),
  expires_at = clock_us()
WHERE name = :name AND version = :version AND owner IS NOT NULL;

-- ---- Sharing ---------------------------------------------------------------------------------------------------------
--
-- The two statements of a verb are one transaction, which has the write lock from its beginning. So no counter is
-- needed: the permits in use are those of the shares that have not ended.

-- name: share(name, owner, thread, acquisition, lease, note, permits, room, version) -> acquisition, version, left, permits
-- doing: acquiring
-- does: shares the name, if it is free, or shared with at most `room` permits. version 0: if no client waits
-- locks: the file's write lock, for both statements
-- clock: in WHERE and SET
-- no row: turn shows why
-- write: the permits of holders whose lease has ended do not count; version 0: no ticket may wait
UPDATE rowlock_lock
SET version = tell(1, max(version + 1, clock_us())) + 0 * tell(2, :lease), owner = '(shared)', thread = NULL,
  note = NULL, liveness = NULL,
  acquisition = iif((owner IS '(shared)' AND expires_at > clock_us()), acquisition, 'shared:' || :acquisition),
  acquired_at = iif((owner IS '(shared)' AND expires_at > clock_us()), acquired_at, clock_us()),
  expires_at = iif((owner IS '(shared)' AND expires_at > clock_us()), max(expires_at, clock_us() + :lease),
    clock_us() + :lease)
WHERE name = :name
  AND (owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness)
    OR (owner IS '(shared)' AND expires_at > clock_us())
    AND (SELECT coalesce(sum(permits), 0) FROM rowlock_share s
      WHERE s.name = :name AND s.since = rowlock_lock.acquisition AND s.expires_at > clock_us()) <= :room)
  AND iif(:version = 0,
    NOT EXISTS (SELECT 1 FROM rowlock_waiter WHERE name = :name AND expires_at > clock_us() AND lease IS NOT 0),
    version = :version OR (owner IS '(shared)' AND expires_at > clock_us()));
-- then:
INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
SELECT :name, :acquisition, acquisition, :permits, version, :owner, :thread, clock_us(),
  min(expires_at, clock_us() + :lease), :note
FROM rowlock_lock WHERE name = :name;

-- name: renew_share(name, acquisition, lease) -> acquisition, left
-- doing: renewing
-- does: the lease of the share ends that long from now, but not earlier than before
-- locks: the file's write lock, for all of a batch
-- clock: in WHERE and SET
-- no row: the share is lost, unless it is among sharers
-- write:
UPDATE rowlock_share SET expires_at = clock_us() + tell(1, max(expires_at - clock_us(), :lease))
WHERE name = :name AND acquisition = :acquisition AND expires_at > clock_us()
  AND since = (SELECT acquisition FROM rowlock_lock WHERE name = :name AND owner = '(shared)');
-- then: the row's end is raised; the clock is not before that of the renewal
UPDATE rowlock_lock SET expires_at = clock_us() + :lease
WHERE name = :name AND owner = '(shared)' AND expires_at < clock_us() + :lease;

-- name: extend_share(name, acquisition, lease) -> acquisition, left
-- doing: extending
-- does: the lease of the share ends that long from now, even if it ended later before
-- locks: the file's write lock, for all of a batch
-- clock: in WHERE and SET
-- no row: as renew_share
-- write:
UPDATE rowlock_share SET expires_at = clock_us() + tell(1, :lease)
WHERE name = :name AND acquisition = :acquisition AND expires_at > clock_us()
  AND since = (SELECT acquisition FROM rowlock_lock WHERE name = :name AND owner = '(shared)');
-- then: the row gets the end of the last of its shares, and is vacated if there is none
UPDATE rowlock_lock
SET owner = iif((SELECT max(s.expires_at) FROM rowlock_share s
      WHERE s.name = :name AND s.since = rowlock_lock.acquisition) > clock_us(), owner, NULL),
  version = iif((SELECT max(s.expires_at) FROM rowlock_share s
      WHERE s.name = :name AND s.since = rowlock_lock.acquisition) > clock_us(), version, max(version + 1, clock_us())),
  expires_at = iif((SELECT max(s.expires_at) FROM rowlock_share s
      WHERE s.name = :name AND s.since = rowlock_lock.acquisition) > clock_us(),
    (SELECT max(s.expires_at) FROM rowlock_share s WHERE s.name = :name AND s.since = rowlock_lock.acquisition),
    clock_us())
WHERE name = :name AND owner = '(shared)';

-- name: release_share(name, acquisition, expired) -> acquisition, notified, waiting
-- doing: releasing
-- does: ends the share. expired is 1: only if its lease has ended
-- locks: the file's write lock, for all of a batch
-- clock: in WHERE and SET
-- no row: the share is not ours
-- write:
DELETE FROM rowlock_share
WHERE name = :name AND acquisition = :acquisition AND (:expired = 0 OR expires_at <= clock_us())
  AND since = (SELECT acquisition FROM rowlock_lock WHERE name = :name AND owner = '(shared)');
-- then: as extend_share

-- name: upgrade_share(name, acquisition, owner, thread, note) -> acquisition, version, left
-- doing: upgrading
-- does: the holder holds the name exclusively, if no other shares it
-- locks: the file's write lock, for both statements
-- clock: in WHERE and SET
-- no row: others share it, or the share is not ours
-- write: the expiry does not change
UPDATE rowlock_lock
SET version = tell(1, max(version + 1, clock_us())), owner = :owner, thread = :thread, acquisition = :acquisition,
  acquired_at = clock_us(), note = :note,
  expires_at = clock_us() + tell(2,
    (SELECT s.expires_at FROM rowlock_share s WHERE s.name = :name AND s.acquisition = :acquisition) - clock_us())
WHERE name = :name AND owner = '(shared)'
  AND (SELECT count(*) FROM rowlock_share s
    WHERE s.name = :name AND s.since = rowlock_lock.acquisition AND s.expires_at > clock_us()) = 1
  AND EXISTS (SELECT 1 FROM rowlock_share s
    WHERE s.name = :name AND s.acquisition = :acquisition AND s.since = rowlock_lock.acquisition
    AND s.expires_at > clock_us());
-- then:
DELETE FROM rowlock_share WHERE name = :name AND acquisition = :acquisition;

-- name: downgrade(name, acquisition, owner, thread, note, attempt, permits) -> acquisition, version, left
-- doing: downgrading
-- does: the holder shares the name from now on
-- locks: the file's write lock, for both statements
-- clock: in WHERE and SET
-- no row: the lock is not ours any more
-- write:
UPDATE rowlock_lock
SET version = tell(1, max(version + 1, clock_us())) + 0 * tell(2, expires_at - clock_us()), owner = '(shared)',
  thread = NULL, note = NULL, acquisition = 'shared:' || :attempt
WHERE name = :name AND acquisition = :acquisition AND owner IS NOT NULL AND expires_at > clock_us();
-- then:
INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
SELECT :name, :acquisition, acquisition, :permits, version, :owner, :thread, clock_us(), expires_at, :note
FROM rowlock_lock WHERE name = :name;

-- name: purge_shares(name) -> anything
-- doing: sweeping
-- does: deletes shares that have ended and do not count any more
-- locks: the file's write lock
-- clock: in WHERE
-- no row: always
-- write: those that belong to an earlier sharing of the name, which is over
DELETE FROM rowlock_share
WHERE name = :name AND expires_at <= clock_us()
  AND NOT EXISTS (SELECT 1 FROM rowlock_lock l
    WHERE l.name = :name AND l.owner = '(shared)' AND l.acquisition = rowlock_share.since);

-- name: find_dead_shares(name, number, retention) -> name
-- doing: sweeping
-- does: finds such shares, of the next names
-- locks: none
-- clock: in the row's expression
-- no row: there are none
-- read:
SELECT DISTINCT name FROM rowlock_share WHERE name > :name AND expires_at <= clock_us() - :retention
ORDER BY name LIMIT :number;

-- name: sharers(name, expired) -> name, version, owner, thread, acquisition, age, left, note, without_lease, permits
-- doing: listing locks
-- does: the shares of the name that have not ended; expired is 1: those that have
-- locks: none
-- clock: in the row's expression
-- no row: there are none
-- read:
SELECT s.name, s.token, s.owner, s.thread, s.acquisition, clock_us() - s.acquired_at, s.expires_at - clock_us(), s.note,
  0, s.permits
FROM rowlock_share s JOIN rowlock_lock l ON l.name = s.name AND l.owner = '(shared)' AND l.acquisition = s.since
WHERE s.name = :name AND (s.expires_at > clock_us()) = (:expired = 0) ORDER BY s.token;

-- ---- Waiting in turn -------------------------------------------------------------------------------------------------
--
-- No server notifies. PRAGMA data_version shows commits of other processes. While a call waits, a thread reads it on
-- its own connection, every 1 ms at first, every 3 ms when none of the names waited for has changed hands for a
-- second. After each change it looks at the queues of all these names (turn), and wakes the waiters whose turn has
-- come and whose name looks free. It takes its first reading, then wakes the first waiter of every name, so that a
-- change before that reading is not missed. The end of a process that holds a name by for_update is no commit: the
-- first waiter behind such a row tries every 5 to 250 ms.

-- name: enqueue(name, owner, thread, attempt, life, note, lease, room) -> attempt, ticket
-- doing: waiting in turn
-- does: a ticket at the end of the queue. lease: the lease that a release may grant to it, or NULL
-- locks: the file's write lock
-- clock: in the row's expression
-- no row: never
-- write:
INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at, note, lease, room)
VALUES (:name, :owner, :thread, :attempt, clock_us(), clock_us() + :life, :note, :lease, :room)
RETURNING attempt, ticket;

-- name: refresh_ticket(name, attempt, ticket, life) -> attempt, may_go, waiting
-- doing: waiting in turn
-- does: prolongs the ticket. may_go: whether its turn has come, if that is asked
-- locks: the file's write lock
-- clock: in SET
-- no row: the ticket was deleted
-- write:
UPDATE rowlock_waiter SET expires_at = clock_us() + :life WHERE ticket = :ticket AND attempt = :attempt;

-- name: leave(name, attempt, ticket) -> attempt, notified
-- doing: waiting in turn
-- does: deletes the ticket, and notifies the next waiter of another client
-- locks: none for the read; the file's write lock for the write
-- clock: not read
-- no row: never
-- read:
SELECT :attempt WHERE NOT EXISTS (SELECT 1 FROM rowlock_waiter WHERE ticket = :ticket AND attempt = :attempt);
-- write:
DELETE FROM rowlock_waiter WHERE ticket = :ticket AND attempt = :attempt;

-- name: withdraw(name, attempt) -> anything
-- doing: waiting in turn
-- does: deletes a ticket whose number is not known
-- locks: the file's write lock
-- clock: not read
-- no row: there is no such ticket
-- write:
DELETE FROM rowlock_waiter WHERE name = :name AND attempt = :attempt;

-- name: mark_waiting(name) -> name
-- doing: waiting in turn
-- does: notes in the row that a client waits
-- none: release looks at the queue itself

-- name: clear_waiting(name) -> name
-- doing: notifying the next waiter
-- does: notes in the row that no client waits, since there is no ticket
-- none: as mark_waiting

-- name: first_waiter(name, attempt) -> owner, notified, is_behind
-- doing: notifying the next waiter
-- does: the first ticket of another client, if the name looks free
-- none: as mark_waiting

-- name: turn(name, turn, room, patience) -> name, is_behind, has_ticket, looks_free, left, version, holding, waiting
-- doing: waiting in turn
-- does: for a waiter: the state of its queue and of the name
-- locks: none
-- clock: in the row's expression
-- no row: never
-- read: a ticket to which a release has granted the name does not count: if its waiter does not claim it, others pass,
--   and if it claims too late, it takes another
SELECT :name,
  EXISTS (SELECT 1 FROM rowlock_waiter q
    WHERE q.name = :name AND q.ticket < :turn AND q.expires_at > clock_us() AND q.lease IS NOT 0
    AND CASE WHEN :patience = 0 THEN 1
      WHEN q.room = -2 OR (q.room < -1 AND :patience > 0) THEN insists(q)
      WHEN :patience < 0 THEN 1
      ELSE :room >= 0 AND q.enqueued_at <= clock_us() - :patience END
    AND (q.room IS NOT 9223372036854775807 OR :room <> 9223372036854775807)),
  EXISTS (SELECT 1 FROM rowlock_waiter WHERE ticket = :turn AND (lease IS NOT 0 OR attempt = acquisition)),
  coalesce(owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness)
    OR owner = '(shared)' AND (SELECT coalesce(sum(permits), 0) FROM rowlock_share s
      WHERE s.name = :name AND s.since = acquisition AND s.expires_at > clock_us()) <= :room, 0),
  expires_at - clock_us(), version, iif(owner IS NULL, NULL, acquisition)
FROM (SELECT 1) LEFT JOIN rowlock_lock ON name = :name;

-- name: waiters(prefix, prefix_end) -> name, ticket, owner, thread, age, note
-- doing: listing waiters
-- does: the live tickets of names with that prefix
-- locks: none
-- clock: in the row's expression
-- no row: no client waits
-- read: without an end of the prefix: a blob is above every text
SELECT name, ticket, owner, thread, clock_us() - enqueued_at, note FROM rowlock_waiter
WHERE name >= :prefix AND name < coalesce(:prefix_end, x'') AND expires_at > clock_us() AND lease IS NOT 0
ORDER BY name, ticket;

-- name: ring(owner) -> anything
-- doing: waiting in turn
-- does: notifies the own client, which shows that notifications arrive
-- none: SQLite cannot notify

-- name: notify_waiters(name, number) -> name, notified
-- doing: notifying the next waiter
-- does: notifies the first waiter of each name of a page that looks free
-- none: SQLite cannot notify

-- ---- Deadlocks -------------------------------------------------------------------------------------------------------

-- name: declare_held(ticket, name, acquisition) -> anything
-- doing: looking for deadlocks
-- does: notes that the waiter holds that name. acquisition is empty: its transaction holds it
-- locks: the file's write lock
-- clock: not read
-- no row: never
-- write:
INSERT OR REPLACE INTO rowlock_edge (ticket, name, acquisition) VALUES (:ticket, :name, :acquisition);

-- name: forget_held(ticket) -> anything
-- doing: looking for deadlocks
-- does: deletes these notes
-- locks: the file's write lock
-- clock: not read
-- no row: nothing was declared
-- write:
DELETE FROM rowlock_edge WHERE ticket = :ticket;

-- name: waiting_holders() -> name, ticket, owner, thread, held_name
-- doing: looking for deadlocks
-- does: each waiter with the names that it holds
-- locks: none
-- clock: in the row's expression
-- no row: there are none
-- read: a waiter that shares the name by now does not wait any more, although its ticket is not deleted yet
SELECT q.name, q.ticket, q.owner, q.thread, e.name
FROM rowlock_edge e
JOIN rowlock_waiter q ON q.ticket = e.ticket AND q.expires_at > clock_us()
JOIN rowlock_lock l ON l.name = e.name AND l.owner IS NOT NULL
  AND (l.expires_at > clock_us() OR l.expires_at IS NULL AND NOT is_dead(l.expires_at, l.liveness))
WHERE (l.acquisition = e.acquisition
    OR EXISTS (SELECT 1 FROM rowlock_share s
      WHERE s.name = e.name AND s.acquisition = e.acquisition AND s.since = l.acquisition
        AND s.expires_at > clock_us()))
  AND NOT EXISTS (SELECT 1 FROM rowlock_share s
    WHERE s.name = q.name AND s.owner = q.owner AND s.thread = q.thread AND s.acquired_at > q.enqueued_at)
ORDER BY q.ticket, e.name;

-- name: purge_held() -> anything
-- doing: sweeping
-- does: deletes the notes of deleted tickets
-- locks: the file's write lock
-- clock: not read
-- no row: always
-- write:
DELETE FROM rowlock_edge WHERE ticket NOT IN (SELECT ticket FROM rowlock_waiter);

-- ---- Inspecting ------------------------------------------------------------------------------------------------------

-- name: inspect(name) -> name, version, owner, thread, acquisition, age, left, note, without_lease, waiting
-- doing: listing locks
-- does: the row
-- locks: none
-- clock: in the row's expression
-- no row: there is no row
-- read: a row whose client is dead has no owner
SELECT name, version, iif(is_dead(expires_at, liveness), NULL, owner), thread, acquisition, clock_us() - acquired_at,
  expires_at - clock_us(), note, expires_at IS NULL,
  EXISTS (SELECT 1 FROM rowlock_waiter q WHERE q.name = :name AND q.room < -1)
FROM rowlock_lock WHERE name = :name;

-- name: list(prefix, prefix_end) -> name, version, owner, thread, acquisition, age, left, note, without_lease, permits
-- doing: listing locks
-- does: the rows of names with that prefix
-- locks: none
-- clock: in the row's expression
-- no row: no name is held
-- read: without an end of the prefix: a blob is above every text
SELECT name, version, owner, thread, acquisition, clock_us() - acquired_at, expires_at - clock_us(), note,
  expires_at IS NULL,
  CASE owner WHEN '(shared)' THEN (SELECT CAST(min(total(max(s.permits, 0)), 9e18) AS INTEGER) FROM rowlock_share s
    WHERE s.name = l.name AND s.since = l.acquisition AND s.expires_at > clock_us()) END
FROM rowlock_lock l
WHERE name >= :prefix AND name < coalesce(:prefix_end, x'') AND owner IS NOT NULL
  AND (expires_at > clock_us() OR expires_at IS NULL AND NOT is_dead(expires_at, liveness))
ORDER BY name;

-- name: touch(name) -> name, version, owner, thread, acquisition, age, left, note, without_lease, is_unlocked
-- doing: acquiring
-- does: the row, and whether it is vacant and no session has it locked
-- none: SQLite has no row locks

-- name: find_held(prefix, prefix_end) -> name, version, owner, session, acquisition, age, left, note, without_lease, transaction
-- doing: listing locks
-- does: the rows of names with that prefix, as open transactions have changed them
-- none: a transaction of SQLite is not visible

-- name: find_pinning(name) -> name, version, owner, session, acquisition, age, left, note, without_lease, transaction
-- doing: listing locks
-- does: the transactions that keep the row locked; first those that do not change it
-- none: a transaction of SQLite is not visible

-- name: pinned_by(name, sign) -> anything
-- doing: acquiring
-- does: answers whether the transaction of that sign keeps the row as it is
-- none: SQLite has no row locks

-- name: end_session(name, session) -> anything
-- doing: ending another session
-- does: ends that session of the server, if it keeps the row locked
-- none: SQLite has no sessions of a server

-- name: count() -> names, waiters, longest_wait
-- doing: counting
-- does: how many locks and waiters there are
-- locks: none
-- clock: in the row's expression
-- no row: never
-- The figures of `database_stats()` are this and list, on one connection but in two statements, and so perhaps of two
-- moments.
-- read:
SELECT (SELECT count(*) FROM rowlock_lock), count(*), clock_us() - min(enqueued_at) FROM rowlock_waiter
WHERE expires_at > clock_us() AND lease IS NOT 0;

-- ---- Sweeping --------------------------------------------------------------------------------------------------------
--
-- A page is deleted in one transaction. See docs/protocol.md#sweeping.

-- name: find_unused(name, number, retention) -> name, is_over, version
-- doing: sweeping
-- does: a page of names: all whose row may be deleted, and the last one
-- locks: none
-- clock: in the row's expression
-- no row: the end of the table
-- read: the version is as old as the last change of ownership; nothing records when a holder without a lease has died
WITH page AS MATERIALIZED (SELECT name, version,
    (expires_at <= clock_us() - :retention OR is_dead(expires_at, liveness)) AND version <= clock_us() - :retention
    AS is_unused
    FROM rowlock_lock WHERE name > :name ORDER BY name LIMIT :number)
SELECT name, 1, version FROM page WHERE is_unused
UNION ALL SELECT max(name), 0, 0 FROM page HAVING count(*) > 0;

-- name: raise_floor(version) -> anything
-- doing: sweeping
-- does: rows that are made from now on begin above that version
-- locks: the file's write lock
-- clock: not read
-- no row: it is as high already
-- write: in a transaction of its own, before the deletion; raising it in vain does no harm
INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at)
VALUES ('', '', '', 0, :version, '', '', 0, 0)
ON CONFLICT (name, acquisition) DO UPDATE SET token = excluded.token WHERE token < excluded.token;

-- name: sweep(name, retention) -> name
-- doing: sweeping
-- does: deletes the row, if no client has held the name for so long. Its version is at most the floor
-- locks: the file's write lock
-- clock: in WHERE
-- no row: it is used, or its version is above the floor
-- write:
DELETE FROM rowlock_lock
WHERE name = :name AND (expires_at <= clock_us() - :retention OR is_dead(expires_at, liveness))
  AND version <= clock_us() - :retention
  AND version <= (SELECT token FROM rowlock_share WHERE name = '' AND acquisition = '');

-- name: find_dead(ticket, number, retention) -> ticket, name, attempt, is_over
-- doing: sweeping
-- does: a page of tickets: all that may be deleted, and the last one
-- locks: none
-- clock: in the row's expression
-- no row: the end of the table
-- read:
WITH page AS MATERIALIZED (SELECT ticket, name, attempt, expires_at <= clock_us() - :retention AS is_dead
    FROM rowlock_waiter WHERE ticket > :ticket ORDER BY ticket LIMIT :number)
SELECT ticket, name, attempt, 1 FROM page WHERE is_dead
UNION ALL SELECT max(ticket), name, attempt, 0 FROM page HAVING count(*) > 0;

-- name: purge_tickets(name, attempt, ticket, retention) -> attempt
-- doing: sweeping
-- does: deletes the tickets of a page that are still dead
-- locks: the file's write lock
-- clock: in WHERE
-- no row: the ticket was deleted, or is alive
-- write:
DELETE FROM rowlock_waiter
WHERE ticket = :ticket AND attempt = :attempt AND expires_at <= clock_us() - :retention;

-- ---- Jobs ------------------------------------------------------------------------------------------------------------
--
-- See docs/protocol.md#jobs. A job is locked under its own name.

-- name: close_runs(name, acquisition, token) -> anything
-- doing: recording a run
-- does: runs of the job whose lock another holder had, and that have no end, are lost from now on
-- locks: the file's write lock
-- clock: in the row's expression
-- no row: there is none, or the lock is not held
-- An earlier holder cannot record an end any more: end_run would have to find its acquisition in the lock's row. So it
-- does not matter whether it has died, or is paused. Sent twice, it finds nothing to do.
-- write:
UPDATE rowlock_job_run SET finished_at = clock_us(), result = 'lost'
WHERE job = :name AND finished_at IS NULL AND token <> :token
  AND EXISTS (SELECT 1 FROM rowlock_lock
    WHERE name = :name AND acquisition = :acquisition AND owner IS NOT NULL AND expires_at > clock_us());

-- name: begin_run(name, acquisition, token, begin, end, number, wait) -> anything
-- doing: recording a run
-- does: records a run that begins, as the next of its period
-- locks: the file's write lock
-- clock: in the row's expression
-- no row: find_runs shows why: a run has succeeded, this lock has begun one, `number` have begun, the last one ended less
--   than `wait` ago, or the lock is not held
-- Only the holder of the lock passes the condition, and no other can hold it before this is committed. So no other
-- client changes the runs of the job in between, and all runs of earlier holders are seen. Whether its reply is lost or
-- it is sent twice, one lock begins one run in a period; a statement that is late finds another acquisition. A run that
-- ended later than now was recorded before the clock was set back, and delays nothing.
-- write:
INSERT INTO rowlock_job_run (job, period_begin, attempt, period_end, owner, token, started_at)
SELECT l.name, :begin, (SELECT ifnull(max(r.attempt), 0) + 1 FROM rowlock_job_run r
    WHERE r.job = :name AND r.period_begin = :begin), :end, l.owner, :token, clock_us()
FROM rowlock_lock l
WHERE l.name = :name AND l.acquisition = :acquisition AND l.owner IS NOT NULL AND l.expires_at > clock_us()
  AND NOT EXISTS (SELECT 1 FROM rowlock_job_run r WHERE r.job = :name AND r.period_begin = :begin
    AND (r.succeeded = 1 OR r.token = :token OR r.attempt >= :number
      OR r.finished_at <= clock_us() AND r.finished_at > clock_us() - :wait));

-- name: end_run(name, acquisition, token, begin, result, exit_status, signal, output) -> anything
-- doing: recording a run
-- does: records the end of the run that this lock has begun in the period
-- locks: the file's write lock; the run
-- clock: in the row's expression
-- no row: find_runs shows why: an end is recorded, or the lock is not held
-- A holder that has lost the lock records nothing, even if it is not aware of the loss: the row has another acquisition,
-- no owner, or a lease that is over. Otherwise no other client can hold the lock before this is committed. Sent twice,
-- the second finds an end. Besides, a unique key permits one success in a period.
-- write:
UPDATE rowlock_job_run
SET finished_at = clock_us(), result = :result, exit_status = :exit_status, signal_number = :signal, output = :output,
  succeeded = iif(:result = 'succeeded', 1, NULL)
WHERE job = :name AND period_begin = :begin AND token = :token AND finished_at IS NULL
  AND EXISTS (SELECT 1 FROM rowlock_lock
    WHERE name = :name AND acquisition = :acquisition AND owner IS NOT NULL AND expires_at > clock_us());

-- name: find_runs(name, begin) -> name, begin, end, attempt, owner, token, started_at, finished_at, result, exit_status, signal, output, clock
-- doing: looking for runs
-- does: the runs of a job in a period, the newest first
-- locks: none
-- clock: in the row's expression
-- no row: there is none
-- A run without an end is running if its lock is held, otherwise lost.
-- read:
SELECT r.job, r.period_begin, r.period_end, r.attempt, r.owner, r.token, r.started_at, r.finished_at,
  ifnull(r.result, iif(EXISTS (SELECT 1 FROM rowlock_lock l
    WHERE l.name = r.job AND l.version = r.token AND l.owner IS NOT NULL AND l.expires_at > clock_us()),
    'running', 'lost')), r.exit_status, r.signal_number, r.output, clock_us()
FROM rowlock_job_run r WHERE r.job = :name AND r.period_begin = :begin ORDER BY r.attempt DESC;

-- name: list_runs(prefix, prefix_end, number, each_result) -> name, begin, end, attempt, owner, token, started_at, finished_at, result, exit_status, signal, output
-- doing: looking for runs
-- does: the last runs of each job whose name begins so, or of each of its results, by job, the newest first
-- locks: none
-- clock: in the row's expression
-- no row: there is none
-- read:
SELECT r.job, r.period_begin, r.period_end, r.attempt, r.owner, r.token, r.started_at, r.finished_at,
  ifnull(r.result, iif(EXISTS (SELECT 1 FROM rowlock_lock l
    WHERE l.name = r.job AND l.version = r.token AND l.owner IS NOT NULL AND l.expires_at > clock_us()),
    'running', 'lost')), r.exit_status, r.signal_number, r.output
FROM (SELECT *, row_number() OVER (PARTITION BY job, iif(:each_result = 1, result, NULL)
    ORDER BY period_begin DESC, attempt DESC) AS place
  FROM rowlock_job_run WHERE job >= :prefix AND (:prefix_end IS NULL OR job < :prefix_end)) r
WHERE r.place <= :number ORDER BY r.job, r.period_begin DESC, r.attempt DESC;

-- name: forget_runs(kept, retention, number) -> count
-- doing: sweeping
-- does: deletes runs of periods that ended that long ago, `number` at most, but not the last `kept` of a job
-- locks: the file's write lock
-- clock: in WHERE
-- no row: none was deleted; count: 1 for each that was
-- write:
DELETE FROM rowlock_job_run WHERE rowid IN (SELECT r.rowid FROM rowlock_job_run r
  WHERE r.period_end <= clock_us() - :retention
    AND (SELECT n.attempt FROM rowlock_job_run n
      WHERE n.job = r.job AND (n.period_begin, n.attempt) >= (r.period_begin, r.attempt)
      ORDER BY n.period_begin, n.attempt LIMIT 1 OFFSET :kept) IS NOT NULL
  ORDER BY r.period_end LIMIT :number)
RETURNING 1;

-- ---- Schema and settings ---------------------------------------------------------------------------------------------
--
-- migrate is one transaction: BEGIN IMMEDIATE, applied, the files that are missing, their checksums, COMMIT. Of many
-- processes one migrates, and the others find it done. Killed inside, it has changed nothing. See
-- docs/protocol.md#schema-and-migration.

-- name: schema() -> version, serves_from, installation, applied_at, clock, checksum
-- doing: reading the schema's version
-- does: the schema files that were applied, the newest first; which database this is, and where in it the tables are
-- locks: none
-- clock: in the row's expression
-- no row: there is no schema
-- read: a copy of a file has the same installation id, so the file itself is compared, too
SELECT version, serves_from, installation, applied_at, clock_us(), checksum FROM rowlock_migration ORDER BY version DESC;

-- name: probe() -> name
-- doing: checking for permission to write
-- does: the table whose rows may be hidden from this role, if there is one. Fails if locks could not be taken
-- locks: the file's write lock
-- clock: not read
-- no row: always
-- read: that the tables can be read
SELECT 1 FROM rowlock_waiter, rowlock_share, rowlock_edge, rowlock_job_run WHERE 0;
-- write: and written; nothing is changed
UPDATE rowlock_lock SET version = version WHERE 0;

-- name: settings() -> name, value
-- doing: reading the settings
-- does: the server's settings, and those of this session
-- locks: none
-- clock: not read
-- no row: never
-- For people: no decision depends on it. src/core/diagnosis.cpp says what is good and what is not.
-- read:
SELECT 'server', 'SQLite ' || sqlite_version()
UNION ALL SELECT 'journal_mode', journal_mode FROM pragma_journal_mode
UNION ALL SELECT 'database', file FROM pragma_database_list WHERE name = 'main';

-- name: applying(version, checksum) -> anything
-- doing: migrating
-- does: notes the checksum of a schema file
-- locks: the file's write lock
-- clock: not read
-- no row: the checksum is there already
-- write:
UPDATE rowlock_migration SET checksum = :checksum WHERE version = :version AND checksum IS NULL;

-- ---- The guard over failovers ----------------------------------------------------------------------------------------

-- name: see_guard() -> term, incarnation, quarantine, left, since, relaxed
-- doing: reading the guard
-- does: its row. incarnation is NULL if it is off; left: until the end of a quarantine
-- none: a file has one history of commits

-- name: see_witness() -> term
-- doing: reading the guard
-- does: the term in its row, which was written with the guard's row
-- none: as see_guard

-- name: incarnation() -> incarnation
-- doing: reading the guard
-- does: the incarnation of this server
-- none: as see_guard

-- name: set_guard(term, incarnation, quarantine, left, number, relaxed) -> term
-- doing: changing the guard
-- does: replaces the row, if it has the term that was seen, and gives it the term `number`
-- none: as see_guard

-- name: await_relaxed() -> anything
-- doing: changing the guard
-- does: waits for statements that may commit without waiting for the disk
-- none: as see_guard

-- name: serve_from(version, number) -> version
-- doing: changing the guard
-- does: programs that expect an older schema than `number` are refused from now on
-- none: as see_guard

-- ---- In the caller's transaction -------------------------------------------------------------------------------------
--
-- On the caller's connection, where the functions above do not exist: the program reads the clock once it has the
-- write lock. From then on no other connection can change the row, and what is read is the newest state of the file.
-- The tables are named with the schema under which the client's file is open there. No statement stays prepared:
-- sqlite3_close refuses a connection that has prepared statements.

-- name: enlisted.await() -> anything
-- A transaction that has read an older state of the file does not get the write lock (SQLITE_BUSY_SNAPSHOT). A
-- transaction that has read in another file first is refused. confirm takes the write lock because a transaction that
-- only reads may see an old state of the file, and because another client could take the name before it commits. No
-- transaction with the write lock waits for a name: no other client could release it, so the call answers at once.
-- write: takes the file's write lock and changes nothing
UPDATE rowlock_lock SET version = version WHERE 0;

-- name: enlisted.installation() -> installation
-- It is not asked again on a connection whose main file has the client's path and was seen to have its installation.
-- SQLite reports the end of that connection to a function that is registered there. An attached file is looked at each
-- time, and if the path is another, the file itself is compared. Each time the connection is asked whether its file
-- was moved (SQLITE_FCNTL_HAS_MOVED).
-- read:
SELECT installation FROM rowlock_migration WHERE version = 1;

-- name: enlisted.take_vacant(name, next_version, note, clock, below) -> anything
-- The version is the clock, which was read under the write lock and is greater than the row's. So the count of changed
-- rows is the verdict here: no other connection can have changed the row. Any other row is looked at (see).
-- write: takes the row if its version is below that. RETURNING would cost more than the rest.
UPDATE rowlock_lock SET version = :next_version, note = :note, expires_at = :clock
WHERE name = :name AND owner IS NULL AND version < :below;

-- name: enlisted.see(name) -> version, vacant, expires_at, liveness, acquisition
-- The program tests freedom, the liveness file and the clock. With a lease of its own client
-- (docs/protocol.md#lock_in), the row may also have that acquisition. lock_in waits for that lease before it takes the
-- write lock, having read nothing: if another client has a lease, or if the name was released less than 100 ms ago
-- and this client has found it taken before. The lease is renewed until the write lock is taken. If it has ended
-- nevertheless and another client holds the name, lock_in is busy: a transaction cannot give the write lock back.
-- read:
SELECT version, owner IS NULL, expires_at, liveness, acquisition FROM rowlock_lock WHERE name = :name;

-- name: enlisted.take(name) -> version, vacant, expires_at, liveness, acquisition
-- write: makes the row
INSERT INTO rowlock_lock (name, version, expires_at)
VALUES (:name, ifnull((SELECT token FROM rowlock_share WHERE name = '' AND acquisition = ''), 0), 0)
RETURNING version, owner IS NULL, expires_at, liveness, acquisition;

-- name: enlisted.change(name, version, note, clock) -> anything
-- write:
UPDATE rowlock_lock
SET version = :version, owner = NULL, thread = NULL, liveness = NULL, note = :note, expires_at = :clock
WHERE name = :name;

-- name: enlisted.pin(name, acquisition) -> is_ours, expires_at
-- read:
SELECT owner IS NOT NULL AND acquisition = :acquisition, expires_at FROM rowlock_lock WHERE name = :name;
