/*
 * Fencing tokens, across the strategies, rollback and sweeping (docs/protocol.md: The strategies, Locks held by transactions,
 * Sweeping).
 *
 * Bounds: one name, one client of each strategy, which has the name twice at most. The clock goes on with each look at it, and
 * by itself, to END. Rows are kept for RETENTION; a statement takes CALL at most. A lease ends at any moment. Whether a client
 * believes in its lease is in lease.pml; here the row names the holder.
 *
 * variant SET_BACK: the clock of the database is set back once. Transactions are not rolled back then, since that may give a
 * token twice (docs/guarantees.md).
 * mutant TOKEN_KEPT: law 3, a takeover keeps the token
 * mutant BEGINS_AT_ONE: law 3, a row that is made anew does not begin with the clock
 * mutant CLOCK_BEFORE_LOCK: law 3, the clock is read before the row is locked
 * mutant SWEPT_EARLY: law 3, a row is not kept for longer than a statement may take
 * mutant SET_BACK NO_FLOOR: law 3, a row that is made anew begins with the clock, whatever was swept
 * mutant SET_BACK FLOOR_LATE: law 3, the floor is raised after the deletion
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

/* The greatest version that was swept; by how much the clock was set back. */
byte floor, back;

byte now = 1, top, holder = NOBODY;

#define IS_FREE (owner == NOBODY || expired)
#ifdef TAKES_LOCKED
#define IS_LOCKED false
#else
#define IS_LOCKED (locked_by != NOBODY)
#endif
#define LATER(a, b) (a > b -> a : b)
#define CLOCK(at) (at > back -> at - back : 0)
#ifdef NO_FLOOR
#define FIRST(at) CLOCK(at)
#else
#define FIRST(at) LATER(floor + 1, CLOCK(at))
#endif

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
  version = LATER(version + 1, CLOCK(at));
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
  version = first;
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
    version = LATER(version + 1, CLOCK(at));
    ended_at = CLOCK(at);
    at = 0;
    if
    :: holder == me -> holder = NOBODY
    :: else
    fi
  :: else
  fi
}

proctype unique_index(byte me) {
  byte at, round, first;
  do
  :: atomic { round < ROUNDS && exists && IS_FREE && !IS_LOCKED && now < END -> round++; take(me) }
  /* By one snapshot it has seen no row, and the floor. */
  :: atomic { round < ROUNDS && !exists && now < END -> round++; read_clock(at); first = FIRST(at) };
    atomic {
      if
      :: !exists && now <= at + CALL -> insert(me)
      :: true
      fi;
      first = 0;
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
        token = LATER(version + 1, CLOCK(at));
        at = 0;
        grant(me, token)
      };
      /* Committed, or rolled back: then the row is as it was. */
      atomic {
        if
        :: exists -> version = token
#ifdef SET_BACK
        :: !exists
#else
        :: true
#endif
        fi;
        token = 0;
        holder = NOBODY;
        locked_by = NOBODY
      }
    :: atomic { !exists && now < END -> exists = 1; now++; version = FIRST(now); owner = NOBODY; ended_at = CLOCK(now) }
    :: now >= END
    fi
  :: now >= END -> break
  od
}

proctype sweeper() {
  byte swept;
end:
  do
#ifndef FLOOR_LATE
  :: atomic { exists && floor < version -> floor = version }
#endif
  :: atomic { exists &&
#ifndef FLOOR_LATE
      version <= floor &&
#endif
#ifndef SWEEPS_LOCKED
      locked_by == NOBODY &&
#endif
#ifndef SWEEPS_LEASED
      IS_FREE &&
#endif
      version + RETENTION < CLOCK(now) && ended_at + RETENTION < CLOCK(now) ->
      exists = 0;
      swept = version;
      owner = NOBODY;
      expired = 0;
      version = 0;
      ended_at = 0
    };
#ifdef FLOOR_LATE
    floor = LATER(floor, swept);
#endif
    swept = 0
  od
}

proctype clock() {
end:
  do
  :: atomic { exists && owner != NOBODY && !expired ->
      expired = 1;
      ended_at = CLOCK(now);
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
#ifdef SET_BACK
  :: back == 0 && now > 5 -> back = 5
#endif
  :: now >= END -> break
  od
}
