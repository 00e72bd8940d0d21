/*
 * The guard of a failover that lost commits: a primary dies, and a standby is promoted that lacks its last commits. What must
 * wait until the forgotten leases have ended?
 *
 * Bounds: one name, END ticks, a lease of LEASE, a quarantine of QUARANTINE, a grant by release of GRANT, FAILOVERS failovers.
 * All rows of the standby are as they were on the primary at some moment. Clocks of servers differ by at most 1. The first
 * client acquires twice and renews. The second acquires once; it may wait with a ticket, be granted the name by a release, and
 * adopt what it acquired after a lost reply. A statement is carried out at any time after it was sent, by whichever server is
 * the primary then; a release is repeated at any time. There is no margin: nothing here needs one. At END every quarantine is
 * over.
 *
 * variant LATE: the first client continues while a statement that it gave up is carried out; fewer ticks, 1 failover
 * variant TOKENS: law 3, tokens; fewer ticks, 1 failover
 * variant TERM: a client looks at the guard's row first, and replaces it by the term that it saw; fewer ticks, 1 failover
 * variant ADOPTED_IN_TIME: an adoption has no condition, but its deadline counts from the attempt; 1 failover
 * variant GRANTED_AT_ONCE: a release grants the name without the condition; exclusion needs the claim's alone; 1 failover
 * variant CLOCKS_AGREE CLAIMED_AT_ONCE ADOPTED_AT_ONCE LEFT_UNBOUNDED: found below only because clocks differ
 * mutant TAKEN_AT_ONCE: law 1, acquire has no condition
 * mutant CLAIMED_AT_ONCE: law 1, the claim of a grant has no condition
 * mutant ADOPTED_AT_ONCE: law 1, the adoption after a lost reply has no condition
 * mutant TOKENS GRANTED_AT_ONCE: law 3, a release grants the name without the condition
 * mutant ANY_INCARNATION: law 1, the condition does not compare the incarnation
 * mutant NO_QUARANTINE: law 1, the new incarnation is written without a quarantine
 * mutant LONG_LEASE: law 1, a lease is longer than the quarantine
 * mutant NAMED_BY_SERVER: law 1, a server that died and is promoted later has the incarnation that it had before
 * mutant LEFT_UNBOUNDED: law 5, a client believes in more than a lease, where a clock that is behind leaves more
 * mutant LATE_ANSWER: law 5, the answer to a renewal moves a deadline that has passed
 * mutant TERM CLOCK_OF_THE_LOOK: law 1, the quarantine counts from the look, perhaps at another server
 * mutant TERM REPLACED_AGAIN: law 8, the row is replaced blindly, so that a quarantine begins again
 */
#ifdef LONG_LEASE
#define LEASE 3
#else
#define LEASE 2
#endif
#define QUARANTINE 2
#define GRANT 1
#if defined(LATE)
#define END 3
#define FAILOVERS 1
#elif defined(TOKENS) || (defined(TERM) && !defined(CLOCK_OF_THE_LOOK))
#define END 4
#define FAILOVERS 1
#elif defined(ADOPTED_IN_TIME) || defined(GRANTED_AT_ONCE)
#define END 5
#define FAILOVERS 1
#else
#define END 5
#define FAILOVERS 2
#endif
#define PER_TICK 4 /* more than there are grants */

#define ID(c, n) (1 + 2 * (c) + (n))
#define ATTEMPTS_OF(c) (2 - (c))

mtype = { idle, asked, unknown, queued, held, /* a client */
          nothing, acquire, claim, renew      /* a request */ };

typedef client {
  mtype state = idle;
  byte tried;
  byte id;              /* the present acquisition */
  byte first_sent;      /* when the attempt was sent */
  byte sent;            /* when the request was sent */
  byte deadline;
  mtype request = nothing;
  mtype late = nothing; /* a request that it gave up */
  byte late_id;
  byte undone           /* released, or given up: the reconciler's */
}

typedef tables {
  byte owner, version, expires, ticket;
  byte incarnation, grants_from, term
}

client clients[2];
tables primary, standby, nothing_yet;

byte now, server, ahead; /* the clock of the primary is ahead by so much */
byte top;                /* the greatest token that was granted */
bit in_quarantine_once;  /* on this server */
bit is_behind;           /* The standby has all that it will have when it is promoted. */

#define C clients[c]
#ifdef LATE
#define MAY_BE_LATE (c == 0 && C.late == nothing && C.request != nothing)
#else
#define MAY_BE_LATE false
#endif
#define CLOCK (now + ahead)
#define BELIEVES(c) (clients[c].state == held && now < clients[c].deadline)
#define LEASED(who) (primary.owner == who && primary.expires > CLOCK)
#define IS_FREE (primary.owner == 0 || primary.expires <= CLOCK)
#define LATER(a, b) (a > b -> a : b)
#define SOONER(a, b) (a < b -> a : b)

#ifdef NAMED_BY_SERVER
#define INCARNATION (server == 2 -> 0 : server)
#else
#define INCARNATION server
#endif
#define IS_OVER (CLOCK >= primary.grants_from || now == END)
#ifdef ANY_INCARNATION
#define MAY_GRANT IS_OVER
#else
#define MAY_GRANT (primary.incarnation == INCARNATION && IS_OVER)
#endif
#ifdef TAKEN_AT_ONCE
#define MAY_TAKE true
#else
#define MAY_TAKE MAY_GRANT
#endif
#ifdef GRANTED_AT_ONCE
#define MAY_GIVE true
#else
#define MAY_GIVE MAY_GRANT
#endif
#ifdef CLAIMED_AT_ONCE
#define MAY_CLAIM true
#else
#define MAY_CLAIM MAY_GRANT
#endif
#if defined(ADOPTED_AT_ONCE) || defined(ADOPTED_IN_TIME)
#define MAY_ADOPT true
#else
#define MAY_ADOPT MAY_GRANT
#endif

#ifdef LEFT_UNBOUNDED
#define BELIEVED(from, left) (from) + (left)
#else
#define BELIEVED(from, left) (from) + SOONER(left, LEASE)
#endif

inline check() { assert(!(BELIEVES(0) && BELIEVES(1))) }

inline grant(who) {
  primary.owner = who;
#ifdef TOKENS
  primary.version = LATER(primary.version + 1, CLOCK * PER_TICK);
  assert(primary.version > top);
  top = primary.version
#endif
}

inline execute_acquire(who) {
  if
  :: IS_FREE && MAY_TAKE -> grant(who); primary.expires = CLOCK + LEASE; left = LEASE
  :: else -> left = 0
  fi
}

inline execute_renew(who, condition) {
  if
  :: LEASED(who) && condition ->
    primary.expires = LATER(primary.expires, CLOCK + LEASE);
    left = primary.expires - CLOCK
  :: else -> left = 0
  fi
}

/* A ticket that was granted the name is used. */
inline execute_release(who) {
  if
  :: LEASED(who) && primary.ticket != 0 && MAY_GIVE ->
    grant(primary.ticket);
    primary.expires = SOONER(primary.expires, CLOCK + GRANT);
    primary.ticket = 0
  :: else ->
    primary.owner = 0;
    primary.expires = 0
  fi
}

inline send(what) {
  C.request = what;
  C.sent = now
}

inline end_request() {
  C.request = nothing;
  C.sent = 0
}

inline forget() {
  end_request();
  C.state = idle;
  C.id = 0;
  C.first_sent = 0;
  C.deadline = 0
}

inline undo() {
  C.undone = C.id;
  forget()
}

/* The answer of an attempt or of a claim; of a renewal, if it is not too late. */
inline rely_on(from) {
  C.deadline = BELIEVED(from, left);
  C.state = held;
  C.first_sent = 0;
  end_request();
  left = 0;
  check()
}

/* What it has sent may be carried out yet. */
inline give_up() {
  if
  :: MAY_BE_LATE -> C.late = C.request; C.late_id = C.id
  :: true
  fi;
  end_request()
}

/* A request is carried out at any time after it was sent, and answered at once or not at all. */
proctype act(byte c) {
  byte left;
  do
  :: atomic { C.state == idle && C.tried < ATTEMPTS_OF(c) ->
      C.id = ID(c, C.tried);
      C.tried++;
      C.state = asked;
      C.first_sent = now;
      send(acquire)
    }
  :: atomic { C.request == acquire ->
      execute_acquire(C.id);
      if
      :: left > 0 && now < BELIEVED(C.sent, left) -> rely_on(C.sent)
      :: left > 0 && now >= BELIEVED(C.sent, left) -> undo()
      :: left == 0 -> forget()
      :: left == 0 && c == 1 -> end_request(); C.first_sent = 0; C.state = queued; primary.ticket = C.id
      :: left > 0 && c == 1 -> end_request(); C.state = unknown
      :: left > 0 && c == 0 -> undo()
      fi;
      left = 0
    }
  :: atomic { c == 1 && C.request == acquire -> give_up(); C.state = unknown }
  :: atomic { c == 0 && C.request == acquire -> give_up(); undo() }

  /* Granted by a release, or by an attempt whose reply was lost. */
  :: atomic { (C.state == queued || C.state == unknown) && C.request == nothing && LEASED(C.id) -> send(claim) }
  :: atomic { C.request == claim ->
      if
      :: C.state == queued -> execute_renew(C.id, MAY_CLAIM)
      :: C.state == unknown -> execute_renew(C.id, MAY_ADOPT)
      fi;
#ifdef ADOPTED_IN_TIME
      if
      :: C.state == unknown -> C.sent = C.first_sent
      :: else
      fi;
#endif
      if
      :: left > 0 && now < BELIEVED(C.sent, left) -> rely_on(C.sent)
      :: true -> end_request()
      fi;
      left = 0
    }
  :: atomic { C.state == queued || C.state == unknown -> undo() }

  :: atomic { c == 0 && C.state == held && C.request == nothing && now < C.deadline -> send(renew) }
  :: atomic { C.state == held && C.request == renew ->
      execute_renew(C.id, true);
      if
#ifdef LATE_ANSWER
      :: left > 0 -> rely_on(C.sent)
#else
      :: left > 0 && now < C.deadline -> rely_on(C.sent)
#endif
      :: left == 0 || now >= C.deadline -> undo()
      :: true -> end_request()
      fi;
      left = 0
    }
  /* Released, or lost. */
  :: atomic { C.state == held -> give_up(); undo() }

  :: atomic { C.late != nothing ->
      if
      :: C.late == acquire -> execute_acquire(C.late_id)
      :: C.late == renew -> execute_renew(C.late_id, true)
      :: true
      fi;
      left = 0;
      C.late = nothing;
      C.late_id = 0
    }
  :: atomic { C.undone != 0 && primary.owner == C.undone -> execute_release(C.undone) }
  od unless now == END
}

inline begin_quarantine(from) {
  assert(!in_quarantine_once);
  in_quarantine_once = 1;
  primary.incarnation = INCARNATION;
#ifndef NO_QUARANTINE
  primary.grants_from = from + QUARANTINE
#endif
}

/* A client finds another incarnation than the server's. */
#ifdef TERM
proctype find() {
  byte seen, greatest, clock;
  bit is_other;
  do
  :: atomic { primary.incarnation != INCARNATION && !is_other ->
      is_other = 1;
      seen = primary.term;
      greatest = LATER(greatest, seen);
      clock = CLOCK
    }
#ifdef REPLACED_AGAIN
  :: atomic { is_other ->
#else
  :: atomic { is_other && primary.term == seen ->
#endif
      greatest = greatest + 1;
      primary.term = greatest;
#ifdef CLOCK_OF_THE_LOOK
      begin_quarantine(clock);
#else
      begin_quarantine(CLOCK);
#endif
      is_other = 0;
      seen = 0;
      clock = 0
    }
  :: atomic { is_other && primary.term != seen -> is_other = 0; seen = 0; clock = 0 }
  :: atomic { now == END && MAY_GRANT -> break }
  od
}
#else
proctype find() {
  do
  :: atomic { primary.incarnation != INCARNATION -> begin_quarantine(CLOCK) }
  :: atomic { now == END && MAY_GRANT -> break }
  od
}
#endif

inline copy(to, from) {
  to.owner = from.owner;
  to.version = from.version;
  to.expires = from.expires;
  to.ticket = from.ticket;
  to.incarnation = from.incarnation;
  to.grants_from = from.grants_from;
  to.term = from.term
}

/* No clock is behind 'now', so a lease that has ended by it has ended for good: fewer states. */
inline end_lease(rows) {
  if
  :: rows.expires <= now -> rows.owner = 0; rows.expires = 0
  :: else
  fi;
  if
  :: rows.grants_from <= now -> rows.grants_from = 0
  :: else
  fi
}

#define IS_GONE(who) (primary.owner != who && standby.owner != who && primary.ticket != who && standby.ticket != who)

inline end_client(c) {
  if
  :: clients[c].deadline <= now -> clients[c].deadline = 0
  :: else
  fi;
  if
  :: IS_GONE(clients[c].undone) && clients[c].undone != clients[c].late_id -> clients[c].undone = 0
  :: else
  fi
}

inline tick() {
  now++;
  end_lease(primary);
  end_lease(standby);
  end_client(0);
  end_client(1)
}

inline set_clock() {
  if
  :: ahead = 0
#ifndef CLOCKS_AGREE
  :: ahead = 1
#endif
  fi
}

init {
  atomic {
    set_clock();
    run act(0);
    run act(1);
    run find();
#ifdef TERM
    run find()
#endif
  };
  do
  :: atomic { now < END -> tick() }
  :: atomic { server < FAILOVERS && now < END && !is_behind -> is_behind = 1; copy(standby, primary) }
  :: atomic { is_behind && now < END ->
      copy(primary, standby);
      copy(standby, nothing_yet);
      is_behind = 0;
      server++;
      in_quarantine_once = 0;
      set_clock()
    }
  :: atomic { now == END -> break }
  od
}
