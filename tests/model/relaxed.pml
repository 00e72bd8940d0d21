/*
 * A relaxed guard: a grant does not wait for the disk, so a crash of the server takes back the last commits. What shows that
 * there was a crash, which commits may be relaxed, and what must a change of the guard wait for?
 *
 * Bounds: one name, END ticks, leases and a quarantine of LEASE, CHANGES changes of the guard, CRASHES crashes. Each client
 * acquires twice and renews, and releases at any time. A statement reads the guard and the name's row, which it locks, and
 * commits at any time after that; a commit that waits for the disk takes all earlier ones with it, and the server may write
 * at any time. A client that believes that the guard is off looks again after LOOK ticks. The server's clock is that of the
 * clients: guard.pml has other clocks, failovers and lost replies. There is no margin: nothing here needs one.
 *
 * mutant NO_WITNESS: law 1, a statement does not test that the witness is there
 * mutant ANY_WITNESS: law 1, the witness has no term, and is written before the quarantine begins
 * mutant RELAXED_AT_ONCE: law 1, commits are relaxed while there are clients that do not look for the witness
 * mutant RELAXED_BY_BELIEF: law 1, a client decides by what it last saw of the guard whether its commits are relaxed
 * mutant TIGHTENED_AT_ONCE: law 1, a guard that is not relaxed any more does not wait for statements that found it relaxed
 * mutant CRASH_UNSEEN: law 1, a guard that is not relaxed any more begins no quarantine for a crash that no client has seen
 * mutant OFF_IN_QUARANTINE: law 1, the guard is switched off in a quarantine
 * mutant CHANGED_SOFTLY: law 1, a change of the guard does not wait for the disk
 * mutant NO_QUARANTINE: law 1, the witness is written again without a quarantine
 */
#define LEASE 2
#define QUARANTINE 2
#define LOOK 1
#define END 4
#define CHANGES 2
#define CRASHES 1

#define ID(c, n) (1 + 2 * (c) + (n))

mtype = { off, strict, relaxed, idle, acquire, renew, held };

typedef client {
  mtype state = idle;
  mtype statement = idle; /* under way: it has read, and has the row's lock */
  byte tried;
  byte id;
  byte sent;
  byte deadline;
  byte looked;
  mtype seen = off;       /* the guard, as it last looked */
  bit is_soft             /* The statement does not wait for the disk. */
}

typedef tables {
  byte owner, expires;
  mtype mode = off;
  byte term, relaxed_from, grants_from
}

client clients[2];
tables memory, disk;
byte now, witness; /* 0: it is not there */
byte locked;       /* the statement that has the row's lock; 0: none */
byte changes, crashes;

#define C clients[c]
#define BELIEVES(c) (clients[c].state == held && now < clients[c].deadline)
#define IS_FREE (memory.owner == 0 || memory.expires <= now)
#define SOFT(c) (clients[c].statement != idle && clients[c].is_soft)

#ifdef ANY_WITNESS
#define IS_WITNESSED (witness != 0)
#else
#define IS_WITNESSED (witness == memory.term)
#endif
#ifdef NO_WITNESS
#define MAY_GRANT (now >= memory.grants_from)
#else
#define MAY_GRANT (now >= memory.grants_from && (memory.mode != relaxed || IS_WITNESSED))
#endif

/* By a client that believes that there is a guard; others send statements without any of this. */
#ifdef RELAXED_BY_BELIEF
#define IS_SOFT(c) (clients[c].seen == relaxed)
#else
#define IS_SOFT(c) (clients[c].seen != off && memory.mode == relaxed && now >= memory.relaxed_from && IS_WITNESSED)
#endif

/* A client that changes the guard has begun a quarantine first where that was due, in the same session. */
#ifdef CRASH_UNSEEN
#define HAS_FOLLOWED true
#else
#define HAS_FOLLOWED IS_WITNESSED
#endif
#ifdef TIGHTENED_AT_ONCE
#define MAY_TIGHTEN true
#else
#define MAY_TIGHTEN (!SOFT(0) && !SOFT(1))
#endif

inline check() { assert(!(BELIEVES(0) && BELIEVES(1))) }

inline write(to, from) {
  to.owner = from.owner;
  to.expires = from.expires;
  to.mode = from.mode;
  to.term = from.term;
  to.relaxed_from = from.relaxed_from;
  to.grants_from = from.grants_from
}

inline begin(what) {
  C.statement = what;
  C.sent = now;
  C.is_soft = IS_SOFT(c);
  locked = c + 1
}

inline let_go() {
  C.state = idle;
  C.deadline = 0;
  C.id = 0
}

#define KNOWS(c) (clients[c].seen != off || now - clients[c].looked < LOOK)

inline commit() {
  if
  :: C.statement == acquire -> memory.owner = C.id
  :: else
  fi;
  memory.expires = C.sent + LEASE;
  if
  :: C.is_soft
  :: else -> write(disk, memory)
  fi;
  /* An answer that came too late to be relied on without another look is given up: that is the reconciler's. */
  if
  :: KNOWS(c) -> C.deadline = C.sent + LEASE; C.state = held
  :: else -> let_go()
  fi;
  C.statement = idle;
  C.is_soft = 0;
  C.sent = 0;
  locked = 0;
  check()
}

proctype act(byte c) {
  do
  :: atomic { C.statement == idle && (C.seen != memory.mode || !KNOWS(c)) ->
      C.seen = memory.mode;
      C.looked = (C.seen == off -> now : 0)
    }
  :: atomic { C.state == idle && C.statement == idle && C.tried < 2 && KNOWS(c) && locked == 0 && IS_FREE &&
              (C.seen == off || MAY_GRANT) ->
      C.id = ID(c, C.tried);
      C.tried++;
      begin(acquire)
    }
  :: atomic { BELIEVES(c) && C.statement == idle && KNOWS(c) && locked == 0 && memory.owner == C.id && memory.expires > now ->
      begin(renew)
    }
  /* The answer to a renewal that comes too late moves no deadline. */
  :: atomic { C.statement == acquire || (C.statement == renew && now < C.deadline) -> commit() }
  :: atomic { C.statement == renew && now >= C.deadline ->
      C.statement = idle;
      C.is_soft = 0;
      C.sent = 0;
      locked = 0;
      let_go()
    }
  :: atomic { C.state == held && C.statement == idle && now >= C.deadline -> let_go() }
  /* A release, which may be lost in a crash. */
  :: atomic { BELIEVES(c) && C.statement == idle && locked == 0 && memory.owner == C.id ->
      memory.owner = 0;
      memory.expires = 0;
      let_go()
    }
  od unless now == END
}

inline written() {
#ifdef CHANGED_SOFTLY
  skip
#else
  write(disk, memory)
#endif
}

/* An operator. */
proctype change() {
  do
  :: atomic { changes < CHANGES && memory.mode != relaxed ->
      changes++;
      memory.term++;
      memory.mode = relaxed;
      witness = memory.term;
#ifdef RELAXED_AT_ONCE
      memory.relaxed_from = now;
#else
      memory.relaxed_from = now + LOOK;
#endif
      written()
    }
  :: atomic { changes < CHANGES && memory.mode == relaxed && MAY_TIGHTEN && HAS_FOLLOWED ->
      changes++;
      memory.term++;
      memory.relaxed_from = 0;
      if
      :: memory.mode = strict
#ifdef OFF_IN_QUARANTINE
      :: memory.mode = off
#else
      :: now >= memory.grants_from -> memory.mode = off
#endif
      fi;
      written()
    }
  od unless now == END
}

/* A client that looks finds no witness. */
proctype find() {
  do
#ifdef ANY_WITNESS
  :: atomic { memory.mode == relaxed && witness == 0 -> witness = 1 }
  :: atomic { memory.mode == relaxed && witness == 1 && memory.term != 0 && memory.grants_from < now + QUARANTINE ->
      memory.grants_from = now + QUARANTINE;
      write(disk, memory)
    }
#else
  :: atomic { memory.mode == relaxed && witness != memory.term ->
      memory.term++;
      witness = memory.term;
#ifndef NO_QUARANTINE
      memory.grants_from = now + QUARANTINE;
#endif
      written()
    }
#endif
  od unless now == END
}

inline abort(c) {
  if
  :: clients[c].statement == acquire -> clients[c].statement = idle; clients[c].id = 0
  :: clients[c].statement == renew -> clients[c].statement = idle
  :: else
  fi;
  clients[c].is_soft = 0;
  clients[c].sent = 0
}

/* What is over is over for good: fewer states. */
inline end(rows) {
  if
  :: rows.expires <= now -> rows.owner = 0; rows.expires = 0
  :: else
  fi;
  if
  :: rows.relaxed_from <= now -> rows.relaxed_from = 0
  :: else
  fi;
  if
  :: rows.grants_from <= now -> rows.grants_from = 0
  :: else
  fi
}

inline tick() {
  now++;
  end(memory);
  end(disk)
}

init {
  atomic { run act(0); run act(1); run change(); run find() };
  do
  :: atomic { now < END -> tick() }
  :: atomic { now < END -> write(disk, memory) }
  :: atomic { now < END && crashes < CRASHES ->
      crashes++;
      write(memory, disk);
      witness = 0;
      locked = 0;
      abort(0);
      abort(1)
    }
  :: atomic { now == END -> break }
  od
}
