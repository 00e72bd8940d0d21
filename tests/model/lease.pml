/*
 * The life of a lease by unique_index (docs/protocol.md): acquire, renew, expire, take over, release, freeing by force, and
 * replies that are lost.
 *
 * Bounds: one name, END ticks, a lease of LEASE, 2 clients. The first acquires twice, renews at will, loses replies, and its
 * clock falls behind the database's once, by MARGIN. A statement that it gave up is carried out CALL ticks later at most, or
 * never; it has one such statement, and one acquisition in its reconciler. The second acquires once. With FORCE one lease is
 * freed by force, with one tick less. A client that is paused takes no step; the clock goes on.
 *
 * variant FORCE: an operator frees a lease by force
 * mutant NO_MARGIN: law 5, the local deadline has no margin
 * mutant FROM_THE_ANSWER: law 5, the local deadline counts from the answer
 * mutant LATE_ANSWER: law 5, an answer moves a deadline that has passed
 * mutant TAKES_LEASED: law 1, acquire takes a row whose lease runs
 * mutant CLIENT_CLOCK: law 2, the client's clock decides expiry
 * mutant TOKEN_KEPT: law 3, a takeover keeps the token
 * mutant RELEASES_ANY: law 4, release does not name the acquisition
 * mutant RENEWS_ANY: law 4, renew does not name the acquisition
 * mutant RENEWS_VACANT: law 4, renew brings back a row that was released
 * mutant ASKS_AGAIN: law 6, an unknown outcome is retried with another acquisition, and the first one forgotten
 * mutant SETTLED_EARLY: law 6, "not ours" settles an acquisition that may still appear
 * mutant ADOPTED_AND_UNDONE: law 6, an adopted acquisition remains in the reconciler
 * mutant FREES_ANY FORCE: freeing by force frees another lease than the one that was looked at
 */
#define LEASE 3
#define MARGIN 1
#define CALL 1
#ifdef FORCE
#define END 5
#else
#define END 6
#endif
#define CLIENTS 2
#define ATTEMPTS 2
#define ATTEMPTS_OF(c) (2 - (c))

#define ID(c, n) (1 + (c) * ATTEMPTS + (n))

mtype = { idle, asked, unknown, held, /* a client */
          nothing, acquire, renew     /* a request */ };

typedef client {
  mtype state = idle;
  byte tried;             /* attempts so far */
  byte id;                /* the present acquisition */
  byte sent;              /* by its clock, when the last request was sent */
  byte deadline;          /* by its clock */
  bit slipped;
  mtype request = nothing;
  bit carried_out;
  byte left;              /* the answer, once it is carried out: 0 is a refusal */
  mtype late = nothing;   /* a request that it gave up */
  byte late_id, late_until;
  byte undone, undone_until; /* in the reconciler */
  bit may_appear
}

client clients[CLIENTS];
byte now;

/* The row. The acquisition stays when it is vacated. */
bit owned;
byte acquisition, version, expires;

byte top;                 /* the greatest token that was granted */
byte looked, looked_version, forced;

#define C clients[c]
#define LOCAL (now - C.slipped)
#define LEASED (owned && expires > now)
#define BELIEVES(c) (clients[c].state == held && now - clients[c].slipped < clients[c].deadline)
#define KNOWS(c) \
  ((clients[c].state != idle && clients[c].id == acquisition) || clients[c].undone == acquisition || \
   (clients[c].late == acquire && clients[c].late_id == acquisition))

inline check() {
  assert(!BELIEVES(0) || forced == clients[0].id || (LEASED && acquisition == clients[0].id));
  assert(!BELIEVES(1) || forced == clients[1].id || (LEASED && acquisition == clients[1].id));
  /* Each lease that runs is relied on by its client, or its client will release it. */
  assert(!LEASED || KNOWS(0) || KNOWS(1))
}

#ifdef NO_MARGIN
#define BELIEVED(from, left) (from) + (left)
#else
#define BELIEVED(from, left) (from) + (left) - MARGIN
#endif

#ifdef FROM_THE_ANSWER
#define FROM LOCAL
#else
#define FROM C.sent
#endif

#ifdef CLIENT_CLOCK
#define HOLDERS_CLOCK (now > 1 -> now - 2 : 0)
#else
#define HOLDERS_CLOCK now
#endif

#ifdef TAKES_LEASED
#define IS_FREE true
#else
#define IS_FREE (!LEASED)
#endif

inline execute_acquire(who, answer) {
  if
  :: IS_FREE ->
    owned = 1;
    acquisition = who;
#ifndef TOKEN_KEPT
    version++;
#endif
    assert(version > top);
    top = version;
    expires = HOLDERS_CLOCK + LEASE;
    answer = LEASE
  :: else -> answer = 0
  fi
}

inline execute_renew(who, answer) {
  if
#if defined(RENEWS_ANY)
  :: LEASED ->
#elif defined(RENEWS_VACANT)
  :: acquisition == who && expires + 1 > now ->
    owned = 1;
#else
  :: LEASED && acquisition == who ->
#endif
    assert(acquisition == who);
    if
    :: now + LEASE > expires -> expires = now + LEASE
    :: else
    fi;
    answer = expires - now
  :: else -> answer = 0
  fi
}

inline execute_release(who) {
  if
#ifdef RELEASES_ANY
  :: owned ->
#else
  :: owned && acquisition == who ->
#endif
    owned = 0;
    expires = now;
    version++
  :: else
  fi
}

inline send(what) {
  C.request = what;
  C.sent = LOCAL;
  C.carried_out = 0;
  C.left = 0
}

/* A client that gives up does not know whether its request was carried out, or will be. */
inline give_up() {
  if
  :: !C.carried_out && C.late == nothing ->
    C.late = C.request;
    C.late_id = C.id;
    C.late_until = now + CALL
  :: true
  fi;
  C.request = nothing;
  C.carried_out = 0;
  C.left = 0
}

inline forget() {
  C.state = idle;
  C.id = 0;
  C.sent = 0;
  C.deadline = 0;
  C.request = nothing;
  C.carried_out = 0;
  C.left = 0
}

/* Lost, or released: the reconciler has it until its row is free anyway. */
inline undo(appears) {
  C.undone = C.id;
  C.undone_until = now + LEASE + CALL;
  C.may_appear = appears;
  forget()
}

proctype act(byte c) {
  do
  :: atomic { C.state == idle && C.tried < ATTEMPTS_OF(c) && now < END ->
      C.id = ID(c, C.tried);
      C.tried++;
      C.state = asked;
      send(acquire)
    }

  /* The database. */
  :: atomic { C.request != nothing && !C.carried_out ->
      if
      :: C.request == acquire -> execute_acquire(C.id, C.left)
      :: else -> execute_renew(C.id, C.left)
      fi;
      C.carried_out = 1;
      check()
    }
  :: atomic { C.late != nothing && now <= C.late_until ->
      byte ignored;
      if
      :: C.late == acquire -> execute_acquire(C.late_id, ignored)
      :: else -> execute_renew(C.late_id, ignored)
      fi;
      ignored = 0;
      C.late = nothing;
      C.late_id = 0;
      C.late_until = 0;
      check()
    }
  :: atomic { C.late != nothing && now >= C.late_until ->
      C.late = nothing;
      C.late_id = 0;
      C.late_until = 0;
      check()
    }

  /* Answers. */
  :: atomic { C.state == asked && C.carried_out && C.left == 0 -> forget(); check() }
  :: atomic { C.state == asked && C.carried_out && C.left > 0 && C.undone == 0 ->
      C.deadline = BELIEVED(FROM, C.left);
      if
      :: LOCAL < C.deadline -> C.state = held
      :: else -> undo(0)
      fi;
      C.request = nothing;
      C.carried_out = 0;
      C.left = 0;
      check()
    }
  :: atomic { c == 0 && C.state == asked -> give_up(); C.state = unknown; check() }
  :: atomic { C.state == held && C.request == renew && C.carried_out && C.undone == 0 ->
      if
#ifdef LATE_ANSWER
      :: C.left > 0 ->
        C.deadline = LOCAL + C.left - MARGIN;
#else
      :: C.left > 0 && LOCAL < C.deadline ->
        C.deadline = BELIEVED(FROM, C.left);
#endif
        C.request = nothing;
        C.carried_out = 0;
        C.left = 0
      :: else -> undo(0)
      fi;
      check()
    }
  :: atomic { C.state == held && C.request == renew -> give_up(); check() }

  /* A look at the row resolves an unknown outcome. */
  :: atomic { C.state == unknown && C.undone == 0 ->
#ifdef ASKS_AGAIN
      forget();
#else
      if
      :: LEASED && acquisition == C.id && LOCAL < BELIEVED(C.sent, expires - now) ->
        C.deadline = BELIEVED(C.sent, expires - now);
        C.state = held;
#ifdef ADOPTED_AND_UNDONE
        C.undone = C.id;
        C.undone_until = now + LEASE + CALL;
#endif
      :: else -> undo(1)
      fi;
#endif
      check()
    }

  :: atomic { C.state == held && c == 0 && C.request == nothing && LOCAL < C.deadline && now < END -> send(renew) }

  /* Released, or lost by its deadline. A renewal may be under way. */
  :: atomic { C.state == held && C.undone == 0 ->
      if
      :: C.request != nothing -> give_up()
      :: else
      fi;
      undo(0);
      check()
    }

  /* The reconciler. Its reply may be lost, and then it repeats the release. */
  :: atomic { C.undone != 0 ->
      bit is_ours = owned && acquisition == C.undone;
      execute_release(C.undone);
      if
#ifdef SETTLED_EARLY
      :: true ->
#else
      :: is_ours || !C.may_appear ->
#endif
        C.undone = 0;
        C.undone_until = 0;
        C.may_appear = 0
      :: is_ours
      :: else
      fi;
      is_ours = 0;
      check()
    }
  :: atomic { C.undone != 0 && now > C.undone_until -> C.undone = 0; C.undone_until = 0; C.may_appear = 0; check() }

  :: atomic { c == 0 && !C.slipped && now > 0 -> C.slipped = 1; check() }
  :: atomic { now == END && C.state == idle && C.undone == 0 && C.late == nothing -> break }
  od
}

/* An operator frees the lease that was seen. */
proctype free_by_force() {
end:
  atomic { LEASED -> looked = acquisition; looked_version = version };
  atomic {
    if
#ifdef FREES_ANY
    :: owned ->
#else
    :: owned && version == looked_version ->
#endif
      forced = looked;
      owned = 0;
      version++;
      expires = now
    :: else
    fi;
    looked_version = 0;
    check()
  }
}

init {
  atomic {
    run act(0);
    run act(1);
#ifdef FORCE
    run free_by_force();
#endif
  };
  do
  :: atomic { now < END -> now++; check() }
  :: now == END -> break
  od
}
