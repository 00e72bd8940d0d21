/*
 * Handing over inside a client (docs/protocol.md): threads pass a lease between them in memory, with tokens from a block that
 * the row has reserved.
 *
 * Bounds: one name, a client with 2 threads that want it TRIES times each, another client that wants it once, END ticks, a
 * lease of LEASE, blocks of BLOCK tokens. The reply to a reservation may be lost, a waiter may give up, one holder confirms in a
 * transaction. Between any two steps the client may be paused. A release that was lost is repeated at any time.
 *
 * mutant BEYOND_BLOCK: law 3, a token is given that was not reserved
 * mutant RESERVED_BLINDLY: law 4, a reservation names no acquisition, and brings back a lease that has ended
 * mutant DEADLINE_ANEW: law 5, the deadline counts from the hand-over
 * mutant GIVEN_BEFORE: law 1, the next holder has the lock before the former one has released it
 * mutant LOST_AND_HANDED: law 6, the lock is handed over though the reply to the reservation was lost
 * mutant CONFIRMED_AND_HANDED: law 10, a lock that was confirmed in a transaction is handed over
 * mutant GIVEN_TO_NOBODY: law 8, the lock is given to a waiter that has left meanwhile
 * mutant FOR_EVER: law 8, a tenure continues although another client waits
 */
#define LEASE 3
#define BLOCK 2
#define END 5
#define TRIES 3
#define OTHER 9 /* the other client's acquisition */
#define NONE 2

/* The row. */
bit owned;
byte acquisition, version, expires;

/* The tenure. */
byte tenure, deadline, tokens, next, successor = NONE, tenures;
bit others_wait, is_confirmed, between, asks;

byte now, top, passed, undone;
byte tried[2];
bit waits[2], holds[2], has_ticket, other_holds;
byte pinned_by; /* a token */

#define LEASED (owned && expires > now)

inline check() {
  assert(!(holds[0] && holds[1]));
  assert(!((holds[0] || holds[1]) && now < deadline) || (LEASED && acquisition == tenure));
  assert(!(other_holds && now < expires && acquisition == OTHER) || !((holds[0] || holds[1]) && now < deadline));
  assert(passed <= 2 * BLOCK)
}

inline give(token) {
  assert(token > top);
  top = token
}

inline end_tenure(to_undo) {
  undone = to_undo;
  tenure = 0;
  deadline = 0;
  tokens = 0;
  next = 0;
  successor = NONE;
  others_wait = 0;
  is_confirmed = 0;
  between = 0;
  asks = 0
}

inline hand_over(to) {
  assert(waits[to]);
  waits[to] = 0;
  holds[to] = 1;
  between = 0;
  successor = NONE;
  give(next);
  next++;
  tokens = (tokens > 0 -> tokens - 1 : 0);
  passed = passed + has_ticket;
#ifdef DEADLINE_ANEW
  deadline = now + LEASE;
#endif
}

#ifdef RESERVED_BLINDLY
#define MAY_RESERVE true
#else
#define MAY_RESERVE (LEASED && acquisition == tenure && pinned_by == 0)
#endif
#ifdef CONFIRMED_AND_HANDED
#define MAY_HAND_OVER true
#else
#define MAY_HAND_OVER (!is_confirmed)
#endif
#ifdef FOR_EVER
#define MUST_END false
#else
#define MUST_END (tokens == 0 && others_wait)
#endif
#ifdef BEYOND_BLOCK
#define MUST_RESERVE (next == 0)
#else
#define MUST_RESERVE (tokens == 0)
#endif

proctype act(byte me) {
  do
  :: atomic { !waits[me] && !holds[me] && tried[me] < TRIES && now < END -> tried[me]++; waits[me] = 1 }
  :: atomic { waits[me] -> waits[me] = 0 }
  :: atomic { waits[me] && tenure == 0 && undone == 0 && !LEASED && pinned_by == 0 ->
      tenures++;
      tenure = tenures;
      owned = 1;
      acquisition = tenure;
      version++;
      expires = now + LEASE;
      deadline = expires;
      waits[me] = 0;
      holds[me] = 1;
      give(version);
      check()
    }
  :: atomic { holds[me] && now < deadline && pinned_by == 0 && LEASED && acquisition == tenure && !is_confirmed ->
      pinned_by = top;
      is_confirmed = 1
    }
  :: atomic { holds[me] ->
#ifndef GIVEN_BEFORE
      holds[me] = 0;
#endif
      if
      :: now < deadline && waits[1 - me] && MAY_HAND_OVER && !MUST_END -> between = 1; successor = 1 - me
      :: else -> holds[me] = 0; end_tenure(tenure)
      fi;
      check()
    }
  :: atomic { between && successor == 1 - me && !asks && MUST_RESERVE -> asks = 1 }
  :: atomic { between && successor == 1 - me && asks ->
      asks = 0;
      if
      :: MAY_RESERVE ->
        owned = 1;
        version = version + BLOCK;
        expires = (expires > now + LEASE -> expires : now + LEASE);
        if
        :: true ->
          next = version - BLOCK + 1;
          tokens = BLOCK;
          deadline = now + LEASE;
          others_wait = has_ticket
#ifdef LOST_AND_HANDED
        :: true -> next = top + 1; tokens = BLOCK; deadline = now + LEASE
#else
        :: true -> end_tenure(tenure)
#endif
        fi
#ifdef LOST_AND_HANDED
      :: true -> next = top + 1; tokens = BLOCK; deadline = now + LEASE
#endif
      :: else -> end_tenure(tenure)
      fi;
      check()
    }
  :: atomic { between && successor == 1 - me && !MUST_RESERVE ->
      if
#ifdef GIVEN_TO_NOBODY
      :: now < deadline -> hand_over(1 - me)
#else
      :: now < deadline && waits[1 - me] -> hand_over(1 - me)
#endif
      :: else -> end_tenure(tenure)
      fi;
#ifdef GIVEN_BEFORE
      check();
      holds[me] = 0;
#endif
      check()
    }
  :: atomic { now == END && !waits[me] && !holds[me] && !(between && successor == 1 - me) -> break }
  od
}

proctype other() {
  has_ticket = 1;
end:
  atomic { !LEASED && pinned_by == 0 ->
    owned = 1;
    acquisition = OTHER;
    version++;
    expires = now + LEASE;
    give(version);
    other_holds = 1;
    has_ticket = 0;
    passed = 0;
    check()
  };
  atomic { other_holds ->
    other_holds = 0;
    if
    :: owned && acquisition == OTHER -> owned = 0; version++
    :: else
    fi;
    check()
  }
}

init {
  atomic { run act(0); run act(1); run other() };
  do
  :: atomic { now < END -> now++; check() }
  :: atomic { pinned_by != 0 -> assert(pinned_by == top); pinned_by = 0 }
  :: atomic { undone != 0 && pinned_by == 0 ->
      if
      :: owned && acquisition == undone -> owned = 0; version++
      :: else
      fi;
      undone = 0;
      check()
    }
  :: now == END && pinned_by == 0 && undone == 0 -> break
  od
}
