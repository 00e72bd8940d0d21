/*
 * Fencing tokens, across the strategies, rollback and sweeping (docs/protocol.md: The strategies, Locks held by transactions,
 * Sweeping).
 *
 * Bounds: one name, one client of each strategy, which has the name twice at most. The clock goes on with each look at it, and
 * by itself, to END. Rows are kept for RETENTION; a statement takes CALL at most. A lease ends at any moment. Whether a client
 * believes in its lease is in lease.pml; here a holder is who the row says.
 *
 * mutant TOKEN_KEPT: law 3, a takeover keeps the token
 * mutant BEGINS_AT_ONE: law 3, a row that is made anew does not begin with the clock
 * mutant CLOCK_BEFORE_LOCK: law 3, the clock is read before the row is locked
 * mutant SWEPT_EARLY: law 3, a row is not kept for longer than a statement may take
 * mutant SWEEPS_LEASED: law 9, the sweeper deletes a row whose lease runs
 * mutant SWEEPS_LOCKED: law 9, the sweeper does not skip a row that is locked
 * mutant TAKES_LOCKED: law 1, an acquire does not skip a row that is locked
 * mutant VERSION_ALONE: law 11, version_cas does not ask on the locked row whether it is free
 */
#define CALL 2
#ifdef SWEPT_EARLY
#define RETENTION 0
#else
#define RETENTION 3
#endif
#define END 9
#define NOBODY 255
#define ROUNDS 2

bit exists, expired;
byte owner = NOBODY, version, ended_at, locked_by = NOBODY;

byte now = 1, top, holder = NOBODY;

#define IS_FREE (owner == NOBODY || expired)
#ifdef TAKES_LOCKED
#define IS_LOCKED false
#else
#define IS_LOCKED (locked_by != NOBODY)
#endif
#define LATER(a, b) (a > b -> a : b)

inline grant(me, token) {
  assert(holder == NOBODY);
  assert(token > top);
  holder = me;
  top = token
}

inline read_clock(at) {
  now++;
  at = now
}

inline take(me) {
  read_clock(at);
#ifndef TOKEN_KEPT
  version = LATER(version + 1, at);
#endif
  owner = me;
  expired = 0;
  at = 0;
  grant(me, version)
}

inline insert(me) {
  exists = 1;
#ifdef BEGINS_AT_ONE
  version = 1;
#else
  version = at;
#endif
  owner = me;
  expired = 0;
  grant(me, version)
}

inline release(me) {
  if
  :: exists && owner == me && locked_by == NOBODY ->
    read_clock(at);
    owner = NOBODY;
    expired = 0;
    version = LATER(version + 1, at);
    ended_at = at;
    at = 0;
    if
    :: holder == me -> holder = NOBODY
    :: else
    fi
  :: else
  fi
}

proctype unique_index(byte me) {
  byte at, round;
  do
  :: atomic { round < ROUNDS && exists && IS_FREE && !IS_LOCKED && now < END -> round++; take(me) }
  /* It has seen no row. */
  :: atomic { round < ROUNDS && !exists && now < END -> round++; read_clock(at) };
    atomic {
      if
      :: !exists && now <= at + CALL -> insert(me)
      :: true
      fi;
      at = 0
    }
  /* A renewal tests the row in time, and is committed later. */
  :: atomic { exists && owner == me && !expired && locked_by == NOBODY -> locked_by = me };
    atomic {
      if
      :: owner == me -> expired = 0; holder = me
      :: else
      fi;
      locked_by = NOBODY
    }
  :: atomic { exists && owner == me && locked_by == NOBODY && now < END -> release(me) }
  :: now >= END -> break
  od
}

proctype version_cas(byte me) {
  byte at, round, seen;
  do
  :: atomic { round < ROUNDS && exists && IS_FREE && now < END -> round++; seen = version };
    atomic {
      if
#ifdef VERSION_ALONE
      :: exists && !IS_LOCKED && version == seen -> take(me)
#else
      :: exists && !IS_LOCKED && version == seen && IS_FREE -> take(me)
#endif
      :: else
      fi;
      seen = 0
    }
  :: atomic { exists && owner == me && locked_by == NOBODY && now < END -> release(me) }
  :: now >= END -> break
  od
}

proctype for_update(byte me) {
  byte at, round, token;
  do
#ifdef CLOCK_BEFORE_LOCK
  :: atomic { round < ROUNDS && now < END -> round++; read_clock(at) };
    if
    :: atomic { exists && IS_FREE && !IS_LOCKED ->
#else
  :: round < ROUNDS && now < END ->
    round++;
    if
    :: atomic { exists && IS_FREE && !IS_LOCKED && now < END -> read_clock(at);
#endif
        locked_by = me;
        token = LATER(version + 1, at);
        at = 0;
        grant(me, token)
      };
      /* Committed, or rolled back: then the row is as it was. */
      atomic {
        if
        :: exists -> version = token
        :: true
        fi;
        token = 0;
        holder = NOBODY;
        locked_by = NOBODY
      }
    :: atomic { !exists && now < END -> exists = 1; now++; version = now; owner = NOBODY; ended_at = now }
    :: now >= END
    fi
  :: now >= END -> break
  od
}

proctype sweeper() {
end:
  do
  :: atomic { exists &&
#ifndef SWEEPS_LOCKED
      locked_by == NOBODY &&
#endif
#ifndef SWEEPS_LEASED
      IS_FREE &&
#endif
      version + RETENTION < now && ended_at + RETENTION < now ->
      exists = 0;
      owner = NOBODY;
      expired = 0;
      version = 0;
      ended_at = 0
    }
  od
}

proctype clock() {
end:
  do
  :: atomic { exists && owner != NOBODY && !expired ->
      expired = 1;
      ended_at = now;
      if
      :: holder == owner -> holder = NOBODY
      :: else
      fi
    }
  od
}

init {
  atomic { run unique_index(0); run version_cas(1); run for_update(2); run sweeper(); run clock() };
  do
  :: now < END -> now++
  :: now >= END -> break
  od
}
