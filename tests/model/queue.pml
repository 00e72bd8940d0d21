/*
 * Waiting in turn, by fifo, with grant by release, as on PostgreSQL (docs/protocol.md, Waiting in turn).
 *
 * Bounds: one name, CLIENTS clients of one thread that each want it once, and of which some may give up. There is no clock: a lease may end whenever its
 * client does not believe in it, as law 5 has it, and a client may stop believing at any time. An attempt and a release see
 * the queue by a snapshot that may be older than their lock of the row. Tickets are numbered in the order of their commits.
 * Without HINTS_LOST notices arrive, no client dies, and a waiter does nothing until it has one: so no notice is ever missing
 * where the protocol says that none is. With it, any may be lost, one client dies, and a waiter looks by itself whether its
 * turn has come. A client that can go on never does not end, which spin reports as an invalid end state.
 *
 * variant HINTS_LOST: notices are lost, and one client dies
 * mutant BELIEVES_THE_NOTICE HINTS_LOST: law 5, a grant by release is believed in without a look at the row
 * mutant GRANTS_ANY HINTS_LOST: law 4, a release does not name the acquisition
 * mutant MARKED_BEFORE: law 7, the row is marked before the ticket is committed
 * mutant NOT_MARKED: law 7, a waiter does not mark the row
 * mutant MARK_OF_BEFORE: law 7, a waiter believes in the mark that its attempt before the ticket found
 * mutant MARK_IGNORED: law 7, a release looks at no ticket though the row is marked
 * mutant TOLD_NOBODY: law 7, a release that found no waiter to notify does not look again
 * mutant CLEARED_FOR_GOOD: law 7, a client that takes the mark off does not look once more
 * mutant SLEEPS_FIRST: law 7, a waiter sleeps without an attempt after its ticket
 * mutant LEFT_SILENTLY: law 8, a waiter that leaves keeps its grant, and notifies no client
 * mutant NEVER_LOOKS HINTS_LOST: law 7, a waiter continues only when it is notified
 * mutant TICKETS_LAST HINTS_LOST: law 8, the ticket of a dead waiter never expires
 * mutant ROW_CHANGED: fifo, an attempt is granted though the row has changed since the queue was seen
 * mutant QUEUE_IGNORED: fifo, an attempt does not look at the queue
 */
#define CLIENTS 3
#define NOBODY 255

mtype = { begun, unqueued, unmarked, ready, looking, asleep, held, releasing, untold, clearing, cleared, leaving, done };

/* The row: whose acquisition it has, by the number of the client. */
byte owner = NOBODY, version;
bit expired, waiting;

byte last_ticket, ticket[CLIENTS]; /* 0: none */
byte queued_at[CLIENTS];           /* which version the row had then */
byte notice[CLIENTS];              /* 1: look. 2: look, the name was granted to you */
bit dead[CLIENTS];
byte believer = NOBODY, mortal = NOBODY, finished;

#define IS_FREE (owner == NOBODY || expired)
#define COMES_BEFORE(i, mine) (ticket[i] != 0 && ticket[i] < mine && owner != i)
#define IS_BEHIND(mine) (COMES_BEFORE(0, mine) || COMES_BEFORE(1, mine) || COMES_BEFORE(2, mine))

/* A snapshot of the queue: one bit for each ticket. */
#define SNAPSHOT ((ticket[0] != 0) | ((ticket[1] != 0) << 1) | ((ticket[2] != 0) << 2))
#define IN(i, snapshot) (ticket[i] != 0 && ((snapshot >> i) & 1))
#define NONE_BEFORE(i, k, snapshot) (i == k || !IN(k, snapshot) || ticket[k] > ticket[i])
#define FIRST(i, snapshot) (IN(i, snapshot) && NONE_BEFORE(i, 0, snapshot) && NONE_BEFORE(i, 1, snapshot) && \
  NONE_BEFORE(i, 2, snapshot))

inline find_first(snapshot) {
  if
  :: FIRST(0, snapshot) -> first = 0
  :: FIRST(1, snapshot) -> first = 1
  :: FIRST(2, snapshot) -> first = 2
  :: else -> first = NOBODY
  fi
}

inline notify(i, what) {
  if
  :: notice[i] < what -> notice[i] = what
  :: else
#ifdef HINTS_LOST
  :: true
#endif
  fi
}

inline tell_first() {
  find_first(SNAPSHOT);
  if
  :: first != NOBODY && IS_FREE -> notify(first, 1)
  :: else
  fi;
  first = 0
}

inline believe(me) {
  assert(believer == NOBODY);
  believer = me;
  ticket[me] = 0;
  queued_at[me] = 0;
  notice[me] = 0;
  state = held
}

/* No waiter is passed that had an earlier ticket when the row last changed. */
#define PASSES(i, me) (ticket[i] != 0 && !dead[i] && owner != i && queued_at[i] < version && \
  (ticket[me] == 0 || ticket[i] < ticket[me]))

/* A ticket to which the name was granted in vain goes. */
inline take(me) {
  assert(!PASSES(0, me) && !PASSES(1, me) && !PASSES(2, me));
  if
  :: owner != NOBODY -> ticket[owner] = 0
  :: else
  fi;
  owner = me;
  expired = 0;
  version++;
  believe(me)
}

inline vacate() {
  owner = NOBODY;
  expired = 0;
  version++
}

inline forget() {
  snapshot = 0;
  seen = 0;
  is_behind = 0;
  first = 0;
  found_mark = 0
}

#ifdef ROW_CHANGED
#define IS_UNCHANGED true
#else
#define IS_UNCHANGED (version == seen)
#endif
#ifdef QUEUE_IGNORED
#define HAS_ITS_TURN true
#else
#define HAS_ITS_TURN (!is_behind)
#endif
#ifdef GRANTS_ANY
#define RELEASES (owner != NOBODY)
#else
#define RELEASES (owner == me)
#endif
/* Whether the attempt found the row marked; its snapshot is younger than the ticket. */
#if defined(NOT_MARKED) || defined(MARKED_BEFORE)
#define FOUND_MARK true
#elif defined(MARK_OF_BEFORE)
#define FOUND_MARK (found_mark || found_before)
#else
#define FOUND_MARK found_mark
#endif
#ifdef MARK_IGNORED
#define IS_MARKED false
#else
#define IS_MARKED waiting
#endif

proctype act(byte me) {
  mtype state = begun;
  byte snapshot, seen, first;
  bit is_behind, may_leave, found_mark;
#ifdef MARK_OF_BEFORE
  bit found_before;
#endif

  if
  :: may_leave = 1
  :: true
  fi;
  do
  /* An attempt. Without a ticket every other one comes before. */
  :: atomic { state == begun || state == ready ->
      notice[me] = 0;
      seen = version;
      found_mark = waiting;
#ifdef MARK_OF_BEFORE
      found_before = found_before | (state == begun && waiting);
#endif
      is_behind = IS_BEHIND((state == begun -> NOBODY : ticket[me]));
      state = (state == ready && ticket[me] == 0 -> unqueued : looking)
    }
  :: atomic { state == looking ->
      if
      :: owner == me && !expired -> believe(me)
      :: IS_FREE && IS_UNCHANGED && HAS_ITS_TURN -> take(me)
      :: IS_FREE && !IS_UNCHANGED -> state = (ticket[me] == 0 -> begun : ready)
      :: else -> state = (ticket[me] == 0 -> unqueued : (FOUND_MARK -> asleep : unmarked))
      fi;
      forget()
    }
#ifdef MARKED_BEFORE
  :: atomic { state == unqueued -> waiting = 1; state = unmarked }
#endif
#ifdef MARKED_BEFORE
  :: atomic { state == unmarked ->
#else
  :: atomic { state == unqueued ->
#endif
      last_ticket++;
      ticket[me] = last_ticket;
      queued_at[me] = version;
      state = ready
    }
#ifndef MARKED_BEFORE
  :: atomic { state == unmarked ->
      waiting = 1;
#ifdef SLEEPS_FIRST
      state = asleep
#else
      state = ready
#endif
    }
#endif
#ifdef BELIEVES_THE_NOTICE
  :: atomic { state == asleep && notice[me] == 2 -> believe(me) }
#endif
  :: atomic { state == asleep && notice[me] -> state = ready }
#if defined(HINTS_LOST) && !defined(NEVER_LOOKS)
  :: atomic { state == asleep && (ticket[me] == 0 || (owner == me && !expired) || (IS_FREE && !IS_BEHIND(ticket[me]))) ->
      state = ready
    }
#endif

  /* Release: the queue as it was before the row was locked. */
  :: atomic { state == held ->
      if
      :: believer == me -> believer = NOBODY
      :: else
      fi;
      snapshot = SNAPSHOT;
      state = releasing
    }
  :: atomic { state == releasing ->
      find_first(snapshot);
      if
      :: RELEASES && IS_MARKED && first != NOBODY && !expired ->
        owner = first;
        version++;
        notify(first, 2);
        state = done
      :: RELEASES && IS_MARKED && (first == NOBODY || expired) ->
        vacate();
#ifdef TOLD_NOBODY
        state = done
#else
        state = untold
#endif
      :: RELEASES && !IS_MARKED -> vacate(); state = done
      :: else -> state = done
      fi;
      finished = finished + (state == done);
      forget()
    }
  :: atomic { state == untold ->
      snapshot = SNAPSHOT;
      tell_first();
      state = (snapshot == 0 && waiting -> clearing : done);
      finished = finished + (state == done)
    }
  /* Taking the mark off, by the same snapshot. */
  :: atomic { state == clearing ->
      waiting = 0;
      state = cleared;
#ifdef CLEARED_FOR_GOOD
      state = done;
      finished++;
#endif
    }
  :: atomic { state == cleared ->
      if
      :: SNAPSHOT != 0 -> waiting = 1; tell_first()
      :: else
      fi;
      state = done;
      finished++
    }

  /* Giving up. First the ticket goes, then the row says whether the name was granted to it. */
  :: atomic { state == asleep && may_leave ->
      ticket[me] = 0;
      queued_at[me] = 0;
      state = leaving;
#ifdef LEFT_SILENTLY
      state = done;
      finished++;
#endif
    }
  :: atomic { state == leaving ->
      tell_first();
      if
      :: owner == me -> state = held
      :: else -> state = done; finished++
      fi
    }
  :: atomic { state == done && notice[me] && !dead[me] ->
      notice[me] = 0;
#ifndef LEFT_SILENTLY
      tell_first()
#endif
    }

#ifdef HINTS_LOST
  :: atomic { state != done && me == mortal ->
      dead[me] = 1;
      if
      :: believer == me -> believer = NOBODY
      :: else
      fi;
      forget();
      state = done;
      finished++
    }
  /* It is paused for too long. */
  :: atomic { state == held && believer == me -> believer = NOBODY }
#endif
  :: state == done && finished == CLIENTS -> break
  od
}

#ifdef HINTS_LOST
proctype clock() {
end:
  do
  :: atomic { owner != NOBODY && owner != believer && !expired -> expired = 1 }
#ifndef TICKETS_LAST
  :: atomic { dead[0] && ticket[0] != 0 -> ticket[0] = 0 }
  :: atomic { dead[1] && ticket[1] != 0 -> ticket[1] = 0 }
  :: atomic { dead[2] && ticket[2] != 0 -> ticket[2] = 0 }
#endif
  od
}
#endif

init {
  atomic {
#ifdef HINTS_LOST
    if
    :: mortal = 0
    :: mortal = 1
    :: mortal = 2
    fi;
#endif
    run act(0);
    run act(1);
    run act(2);
#ifdef HINTS_LOST
    run clock();
#endif
  }
}
