/*
 * Transactions of the caller that change what a lock protects, a counter: confirm, lock_in and optimistically, beside each other
 * (docs/protocol.md, In the caller's transaction). No update may be lost.
 *
 * Bounds: one name, 2 holders of a lease that confirm, 1 lock_in by a snapshot that is taken when its transaction begins, 1
 * optimistically; the last two try again once. There is no clock: a lease ends at any moment, which is all that a transaction
 * could know of it. Any step may come late, and any transaction may be rolled back.
 *
 * mutant NO_PIN: law 10, confirm does not lock the row
 * mutant CONFIRMS_ANY: law 10, confirm does not name the acquisition
 * mutant UNCONFIRMED: law 10, a holder commits without confirm
 * mutant TAKES_LEASED: law 1, lock_in takes a row whose lease runs
 * mutant TAKES_EXPIRED: law 10, lock_in takes an expired row, which its late holder may have confirmed
 * mutant OLD_SNAPSHOT: law 1, lock_in does not ask whether the row has changed since its snapshot
 * mutant READ_BEFORE: law 1, optimistically reads the version after its data
 * mutant COMPARES_NOTHING: law 1, optimistically does not compare the version
 */
#define NOBODY 255

/* The row, as it is committed, and whose transaction keeps it locked. */
byte owner = NOBODY, version, pinned = NOBODY;
bit expired;

byte counter;

#define IS_VACANT (owner == NOBODY)
#define IS_LOCKED (pinned != NOBODY)

inline commit(read) {
  assert(counter == read);
  counter++;
  pinned = NOBODY
}

#ifdef CONFIRMS_ANY
#define IS_MINE (!IS_VACANT)
#else
#define IS_MINE (owner == me)
#endif

proctype lease(byte me) {
  byte read;
  bit is_confirmed;
end:
  atomic { (IS_VACANT || expired) && !IS_LOCKED -> owner = me; expired = 0; version++ };
  read = counter;
  atomic {
    if
    :: IS_MINE && !expired && !IS_LOCKED ->
      is_confirmed = 1;
#ifndef NO_PIN
      pinned = me
#endif
#ifdef UNCONFIRMED
    :: !IS_LOCKED -> is_confirmed = 1
#endif
    :: true
    fi
  };
  atomic {
    if
    :: is_confirmed -> commit(read)
    :: true ->
      if
      :: pinned == me -> pinned = NOBODY
      :: else
      fi
    fi;
    read = 0;
    is_confirmed = 0
  };
  /* A crash leaves the lease to the clock. */
  if
  :: atomic { owner == me && !IS_LOCKED -> owner = NOBODY; expired = 0; version++ }
  :: true
  fi
}

proctype lock_in(byte me) {
  byte read, seen, tried;
  do
  :: tried < 2 ->
    atomic { tried++; read = counter; seen = version };
    /* Over the pool. */
    atomic {
      if
#ifndef TAKES_EXPIRED
      :: expired && !IS_LOCKED -> owner = NOBODY; expired = 0; version++
#endif
      :: true
      fi
    };
    atomic {
      if
#if defined(TAKES_LEASED)
      :: !IS_LOCKED && version == seen ->
#elif defined(TAKES_EXPIRED)
      :: (IS_VACANT || expired) && !IS_LOCKED && version == seen ->
#elif defined(OLD_SNAPSHOT)
      :: IS_VACANT && !IS_LOCKED ->
#else
      :: IS_VACANT && !IS_LOCKED && version == seen ->
#endif
        pinned = me
      :: else
      fi
    };
    atomic {
      if
      :: pinned == me -> commit(read); version++
      :: pinned == me -> pinned = NOBODY
      :: else
      fi;
      read = 0;
      seen = 0
    }
  :: break
  od
}

proctype optimistically(byte me) {
  byte read, seen, tried;
  do
  :: tried < 2 ->
    tried++;
#ifdef READ_BEFORE
    read = counter;
#endif
    if
    :: atomic { IS_VACANT && !IS_LOCKED -> seen = version }
    :: true -> seen = NOBODY
    fi;
#ifndef READ_BEFORE
    read = counter;
#endif
    atomic {
      if
#ifdef COMPARES_NOTHING
      :: IS_VACANT && !IS_LOCKED && seen != NOBODY ->
#else
      :: IS_VACANT && !IS_LOCKED && version == seen ->
#endif
        pinned = me
      :: else
      fi
    };
    atomic {
      if
      :: pinned == me -> commit(read); version++
      :: pinned == me -> pinned = NOBODY
      :: else
      fi;
      read = 0;
      seen = 0
    }
  :: break
  od
}

proctype clock() {
end:
  do
  :: atomic { !IS_VACANT && !expired -> expired = 1 }
  od
}

init { atomic { run lease(0); run lease(1); run lock_in(2); run optimistically(3); run clock() } }
