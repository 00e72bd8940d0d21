/*
 * Sharing a name (docs/protocol.md): the row counts the permits that are given out, and looks leased while it is shared.
 *
 * Bounds: one name, 2 clients, 2 acquisitions each, alone or shared, END ticks, a lease of LEASE, PERMITS permits, 1 each. A
 * client shares, has it alone, renews, converts one into the other once, releases, or does nothing more. A release whose
 * reply was lost is repeated at any time. Statements are carried out at once: what is sent late is the repeated release, by
 * which a client has also left its share behind.
 *
 * variant READERS: with a permit for each client
 * mutant NO_SINCE: law 1, a share of an earlier time is taken off the present count
 * mutant SHARES_LEASED: law 1, a share is granted while another client holds the name exclusively
 * mutant BEYOND_PERMITS: law 1, a share is granted though all permits are given out
 * mutant ROW_NOT_RAISED: law 1, renewing a share does not raise the end of the row
 * mutant UPGRADES_BESIDE READERS: law 1, a share is upgraded beside others
 * mutant COUNTS_SHARES: law 11, the shares in an older snapshot are counted, not the row
 * mutant REAPS_LIVING: law 4, a share whose lease runs is taken off
 * mutant RELEASED_TWICE: law 6, a repeated release of a share takes its permit off again
 * mutant TOKEN_KEPT: law 3, a share gets no token of its own
 */
#define LEASE 2
#define END 5
#ifdef READERS
#define PERMITS 2
#else
#define PERMITS 1
#endif
#define CLIENTS 2
#define ATTEMPTS 2
#define IDS 5

mtype = { idle, looked, alone, shared };

/* The row. `since` is the acquisition with which sharing began. */
mtype row = idle;
byte acquisition, since, sharers, expires, version;

/* The shares, by acquisition. */
byte share_since[IDS], share_end[IDS];

mtype belief[CLIENTS] = idle;
byte deadline[CLIENTS];
byte now, top;

#define LEASED (row != idle && expires > now)
#define SHARED (row == shared && expires > now)
#define BELIEVES(c, how) (belief[c] == how && now < deadline[c])

inline check() {
  assert(!BELIEVES(0, alone) || !(BELIEVES(1, alone) || BELIEVES(1, shared)));
  assert(!BELIEVES(1, alone) || !BELIEVES(0, shared));
  assert(BELIEVES(0, shared) + BELIEVES(1, shared) <= PERMITS);
}

inline next_token() {
#ifndef TOKEN_KEPT
  version++;
#endif
  assert(version > top);
  top = version
}

inline take_off(id) {
  sharers--;
  share_since[id] = 0;
  share_end[id] = 0;
  if
  :: sharers == 0 -> row = idle; expires = now; version++
  :: else
  fi
}

#ifdef NO_SINCE
#define COUNTS(id) (share_since[id] != 0)
#else
#define COUNTS(id) (share_since[id] != 0 && share_since[id] == since)
#endif

inline release_share(id) {
  if
#ifdef RELEASED_TWICE
  :: row == shared && since != 0 && sharers > 0 -> take_off(id)
#else
  :: row == shared && COUNTS(id) && sharers > 0 -> take_off(id)
#endif
  :: else
  fi
}

inline release_alone(id) {
  if
  :: row == alone && acquisition == id -> row = idle; expires = now; version++
  :: else
  fi
}

#ifdef REAPS_LIVING
#define IS_DEAD(id) true
#else
#define IS_DEAD(id) (share_end[id] <= now)
#endif

inline reap(id) {
  if
  :: row == shared && COUNTS(id) && IS_DEAD(id) && sharers > 0 -> take_off(id)
  :: else
  fi
}

#ifdef BEYOND_PERMITS
#define HAS_ROOM true
#elif defined(COUNTS_SHARES)
#define HAS_ROOM (seen < PERMITS)
#else
#define HAS_ROOM (sharers < PERMITS)
#endif

#ifdef SHARES_LEASED
#define MAY_BEGIN (!LEASED || row == alone)
#else
#define MAY_BEGIN (!LEASED)
#endif

#define ALIVE(id) (share_since[id] != 0 && share_end[id] > now)

inline begin_sharing(id) {
  row = shared;
  since = id;
  acquisition = 0;
  sharers = 1;
  next_token();
  share_since[id] = since
}

proctype act(byte c) {
  byte tried, id, undone, seen;
  bit converted;
  do
  :: atomic { belief[c] == idle && tried < ATTEMPTS && now < END ->
      id = 1 + c * ATTEMPTS + tried;
      tried++;
#ifdef COUNTS_SHARES
      seen = ALIVE(1) + ALIVE(2) + ALIVE(3) + ALIVE(4);
#endif
      belief[c] = looked;
      check()
    }
  /* A client that a shared row refuses takes off the shares that have ended. */
  :: atomic { belief[c] == looked ->
      if
      :: MAY_BEGIN -> begin_sharing(id); expires = now + LEASE; belief[c] = shared
      :: SHARED && HAS_ROOM ->
        sharers++;
        next_token();
        expires = (expires > now + LEASE -> expires : now + LEASE);
        share_since[id] = since;
        belief[c] = shared
      :: !LEASED ->
        row = alone;
        acquisition = id;
        since = 0;
        sharers = 0;
        expires = now + LEASE;
        next_token();
        belief[c] = alone
      :: LEASED -> reap(1); reap(2); reap(3); reap(4); belief[c] = idle; id = 0
      fi;
      if
      :: belief[c] == shared -> share_end[id] = now + LEASE; deadline[c] = now + LEASE
      :: belief[c] == alone -> deadline[c] = now + LEASE
      :: else
      fi;
      seen = 0;
      check()
    }
  :: atomic { belief[c] == shared && deadline[c] != now + LEASE && now < deadline[c] ->
      if
      :: row == shared && share_since[id] == since && share_end[id] > now ->
        share_end[id] = now + LEASE;
#ifndef ROW_NOT_RAISED
        expires = (expires > now + LEASE -> expires : now + LEASE);
#endif
        deadline[c] = now + LEASE
      :: else -> belief[c] = idle; deadline[c] = 0
      fi;
      check()
    }
  :: atomic { belief[c] == shared && now < deadline[c] && !converted ->
      converted = 1;
      if
#ifdef UPGRADES_BESIDE
      :: row == shared && share_since[id] == since && share_end[id] > now ->
#else
      :: row == shared && share_since[id] == since && share_end[id] > now && sharers == 1 ->
#endif
        row = alone;
        acquisition = id;
        since = 0;
        sharers = 0;
        expires = share_end[id];
        next_token();
        share_since[id] = 0;
        share_end[id] = 0;
        belief[c] = alone
      :: else
      fi;
      check()
    }
  :: atomic { belief[c] == alone && now < deadline[c] && !converted ->
      converted = 1;
      if
      :: row == alone && acquisition == id && expires > now ->
        begin_sharing(id);
        share_end[id] = expires;
        belief[c] = shared
      :: else
      fi;
      check()
    }
  /* Released, or lost. The reply may be lost, or the release come late, or never. */
  :: atomic { (belief[c] == shared || belief[c] == alone) && undone == 0 ->
      belief[c] = idle;
      deadline[c] = 0;
      if
      :: true -> release_share(id); release_alone(id)
      :: true -> release_share(id); release_alone(id); undone = id
      :: undone = id
      fi;
      id = 0;
      check()
    }
  :: atomic { undone != 0 -> release_share(undone); release_alone(undone); undone = 0; check() }
  :: atomic { now == END && belief[c] == idle -> break }
  od
}

init {
  atomic { run act(0); run act(1) };
  do
  :: atomic { now < END -> now++; check() }
  :: now == END -> break
  od
}
