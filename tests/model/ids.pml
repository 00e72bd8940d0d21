/*
 * The ids of a call (docs/protocol.md, Unknown outcomes, Grant by release): its attempts, its ticket, what a release grants to
 * that, lost replies, statements that come late, and the acquisition by which the holder renews and confirms. As it is, an id is
 * that of one attempt, or of one ticket. The variants show what else would be safe, and their mutants at which price.
 *
 * Bounds: one name. A call of ATTEMPTS attempts and TICKETS tickets, whose handle is released, lost, or kept by a client that is
 * paused; another client that has the name at first, and ROUNDS times more, and whose release may grant it to the ticket; one
 * freeing by force. One statement at a time whose reply was lost comes late, at any time, or never. There is no clock: a lease
 * may end whenever its client does not believe in it. Renewals and confirm may be carried out as long as there is a handle: they
 * may have been sent before a pause.
 *
 * variant NUMBERED: the ids of a call begin alike. It relies on what the row has of any of them, if that is renewed, and gives
 * all of them to the reconciler when it is over, and none before
 * variant ONE_ID TOKEN: attempts and ticket have one id, also while an attempt may come late; renewals and confirm name the
 * token, too
 * variant ONE_ID NOT_ADOPTED: attempts and ticket have one id. After a lost reply it is undone, and the call goes on with
 * another one, and another ticket. A grant by an attempt uses up the ticket in the same step
 * mutant GRANTED_TWICE: law 10, a ticket by which its waiter had the name may be granted it again
 * mutant SETTLED_EARLY: law 6, the reconciler forgets an id of which a statement may come yet
 * mutant ROW_FIRST: law 6, the reconciler looks at the row, and then deletes the ticket
 * mutant NUMBERED GRANTED_TWICE: as above
 * mutant NUMBERED CLAIMS_UNWANTED: law 1, the call relies on an acquisition that the reconciler is about to release
 * mutant NUMBERED FORGOTTEN: law 6, that one id was released settles the others
 * mutant ONE_ID: law 10, one id is enough where ids are adopted: the row may have it by a release, and the attempt comes later
 * mutant ONE_ID TOKEN RENEWED_BY_ID: a holder whose lock was freed by force, and since held by another, is not notified
 * mutant ONE_ID TOKEN CONFIRMED_BY_ID: law 10, confirm does not name the token
 * mutant ONE_ID TOKEN REUSED: law 1, another attempt by an id that the reconciler has
 * mutant ONE_ID TOKEN FORGOTTEN: law 6, that it was released settles an id of which an attempt may come yet
 * mutant ONE_ID NOT_ADOPTED IN_DOUBT: law 10, another attempt by the same id, though the first may come late
 * mutant ONE_ID NOT_ADOPTED TICKET_LEFT: law 10, the ticket may be granted the name that its waiter had by an attempt
 * mutant ONE_ID NOT_ADOPTED GRANTED_TWICE: as above
 */
#define ATTEMPTS 2
#define TICKETS 1
#define ROUNDS 1
#define IDS 5

mtype = { nobody, caller, other,                                   /* the holder of the name */
          ready, asked, claiming, unknown, queueing, held, over,   /* the call */
          nothing, acquire, enqueue, release };                    /* a statement that may come late */

/* The row, and the tickets of the call, by their ids. */
mtype owner = other;
bit expired;
byte row_id, version = 1;
byte last_of_other; /* the greatest token of the other client */
bit ticket[IDS], used[IDS];

/* The call. */
mtype state = ready;
byte ids, id, ticket_id;
byte attempts, tickets;
bit carried_out, is_granted, is_ours;
byte answered, seen; /* a token, and an id */

/* Its handle, which a paused client keeps. */
byte handle, token;
bit believes, forced;

mtype late = nothing;
byte late_id;

bit undone[IDS], call_undone;

#define IS_FREE (owner == nobody || expired)
#define HAS(i) (owner == caller && !expired && row_id == i)
#ifdef CLAIMS_UNWANTED
#define IS_OF_CALL (owner == caller && !expired)
#else
#define IS_OF_CALL (owner == caller && !expired && !undone[row_id])
#endif

#ifdef TOKEN
#define IN_DOUBT
#define TICKET_LEFT
#define GRANTED_TWICE
#endif

#if defined(TOKEN) && !defined(RENEWED_BY_ID)
#define IS_RENEWED (HAS(handle) && version == token)
#else
#define IS_RENEWED HAS(handle)
#endif
#if defined(TOKEN) && !defined(CONFIRMED_BY_ID)
#define IS_CONFIRMED (HAS(handle) && version == token)
#else
#define IS_CONFIRMED HAS(handle)
#endif

#ifdef NUMBERED
#define KNOWS(i) (state != over || undone[i] || call_undone)
#else
#define KNOWS(i) (handle == i || undone[i] || (state != over && (id == i || ticket_id == i)))
#endif

inline check() {
  assert(!believes || forced || HAS(handle));
  /* Each lease of the caller's is relied on, or will be released. */
  assert(owner != caller || expired || KNOWS(row_id))
}

inline fresh(what) {
  ids++;
  assert(ids < IDS);
  what = ids
}

inline give_to(who, what) {
  owner = who;
  row_id = what;
  expired = 0;
  version++
}

inline execute_acquire(what) {
  if
  :: IS_FREE ->
    give_to(caller, what);
#if defined(ONE_ID) && !defined(TICKET_LEFT)
    used[what] = 1
#endif
  :: else
  fi
}

/* To the only ticket, or to none. */
inline vacate() {
  owner = nobody;
  expired = 0;
  version++
}
#ifdef GRANTED_TWICE
#define MAY_BE_GRANTED(i) (ticket[i])
#else
#define MAY_BE_GRANTED(i) (ticket[i] && !used[i])
#endif
inline grant(what) {
  give_to(caller, what);
  used[what] = 1
}
inline execute_release() {
  if
  :: MAY_BE_GRANTED(1) && row_id != 1 && !expired -> grant(1)
  :: MAY_BE_GRANTED(2) && row_id != 2 && !expired -> grant(2)
  :: MAY_BE_GRANTED(3) && row_id != 3 && !expired -> grant(3)
  :: MAY_BE_GRANTED(4) && row_id != 4 && !expired -> grant(4)
  :: vacate()
  fi
}

/* The reply is lost. The statement was carried out before, or comes late, or never. */
inline lose(what, its) {
  if
  :: !carried_out && late == nothing -> late = what; late_id = its
  :: true
  fi
}

inline end_of_request() {
  carried_out = 0;
  is_granted = 0;
  is_ours = 0;
  answered = 0;
  seen = 0
}

inline undo(what) { undone[what] = 1 }

/* The call continues, but not by this id. */
inline give_up_id(what) {
  undo(what);
#ifdef ONE_ID
#ifndef REUSED
  ticket_id = 0;
  id = 0
#endif
#else
  if
  :: ticket_id == what -> ticket_id = 0
  :: else
  fi;
  id = 0
#endif
}

inline begin_to_hold(by, with) {
  handle = by;
  token = with;
  believes = 1;
  state = held;
  end_of_request()
}

inline end_call() {
  state = over;
#ifdef NUMBERED
  call_undone = 1;
#else
  if
  :: ticket_id != 0 -> undo(ticket_id)
  :: else
  fi;
  if
  :: id != 0 -> undo(id)
  :: else
  fi;
#endif
  ticket_id = 0;
  id = 0;
  end_of_request()
}

proctype call() {
  do
  :: atomic { state == ready && attempts < ATTEMPTS ->
      attempts++;
#ifdef ONE_ID
      if
      :: id == 0 -> fresh(id)
      :: else
      fi;
#else
      fresh(id);
#endif
      state = asked
    }
  :: atomic { state == asked && !carried_out ->
      carried_out = 1;
      if
      :: IS_FREE -> execute_acquire(id); is_granted = 1; answered = version
#if defined(ONE_ID)
      :: HAS(id) -> is_ours = 1; answered = version
#elif defined(NUMBERED)
      :: IS_OF_CALL -> is_ours = 1; answered = version; seen = row_id
#else
      :: ticket_id != 0 && HAS(ticket_id) -> is_ours = 1; answered = version
#endif
      :: else
      fi;
      check()
    }
  :: atomic { state == asked && carried_out && is_granted ->
      if
      :: HAS(id) || forced -> begin_to_hold(id, answered)
      /* Too late to rely on. */
      :: true -> give_up_id(id); end_of_request(); state = ready
      fi;
      check()
    }
  :: atomic { state == asked && carried_out && is_ours -> state = claiming }
  :: atomic { state == asked && carried_out && !is_granted && !is_ours ->
#ifndef ONE_ID
      id = 0;
#endif
      end_of_request();
      state = ready
    }
  :: atomic { state == asked -> lose(acquire, id); end_of_request(); state = unknown; check() }

  /* A renewal of a grant by a release; the answer may be lost. */
  :: atomic { state == claiming ->
      if
#if defined(ONE_ID)
      :: HAS(id) && version == answered -> begin_to_hold(id, answered)
#elif defined(NUMBERED)
      :: HAS(seen) && version == answered -> begin_to_hold(seen, answered)
#else
      :: HAS(ticket_id) && version == answered -> begin_to_hold(ticket_id, answered)
#endif
      :: true -> end_of_request(); state = ready
      fi;
#ifndef ONE_ID
      id = 0;
#endif
      check()
    }

  /* A look at the row, and a renewal. */
  :: atomic { state == unknown ->
      if
#ifndef NOT_ADOPTED
      :: HAS(id) -> begin_to_hold(id, version)
#endif
#if defined(IN_DOUBT)
      :: !HAS(id) -> state = ready
#elif defined(NUMBERED)
      :: !HAS(id) -> id = 0; state = ready
#else
      :: else -> give_up_id(id); state = ready
#endif
      fi;
      check()
    }

  :: atomic { state == ready && ticket_id == 0 && tickets < TICKETS ->
      tickets++;
#ifdef ONE_ID
      if
      :: id == 0 -> fresh(id)
      :: else
      fi;
      ticket_id = id;
#else
      fresh(ticket_id);
#endif
      state = queueing
    }
  :: atomic { state == queueing && !carried_out -> ticket[ticket_id] = 1; carried_out = 1 }
  :: atomic { state == queueing && carried_out -> end_of_request(); state = ready }
  :: atomic { state == queueing ->
      lose(enqueue, ticket_id);
      give_up_id(ticket_id);
      end_of_request();
      state = ready;
      check()
    }

  :: atomic { state == ready -> end_call(); check() }

  /* A ticket whose call has acquired the name by an attempt. */
  :: atomic { state == held && ticket_id != 0 && ticket_id != handle -> undo(ticket_id); ticket_id = 0; check() }
  :: atomic { state == held && ticket_id != 0 && ticket_id == handle -> ticket[ticket_id] = 0; ticket_id = 0; check() }

  /* The handle. */
  :: atomic { believes && IS_RENEWED -> assert(last_of_other < token) }
  :: atomic { believes && !IS_RENEWED -> believes = 0 }
  :: atomic { believes -> believes = 0 }
  :: atomic { handle != 0 && IS_CONFIRMED -> assert(last_of_other < token) }
  :: atomic { state == held ->
      believes = 0;
#ifndef NUMBERED
      undo(handle);
#endif
      handle = 0;
      token = 0;
      end_call();
      check()
    }
  :: state == over && late == nothing && !call_undone && !undone[1] && !undone[2] && !undone[3] && !undone[4] -> break
  od
}

#ifdef SETTLED_EARLY
#define MAY_COME(i) false
#else
#define MAY_COME(i) ((late == acquire || late == enqueue) && (late_id == i || i == CALL))
#endif

#ifdef FORGOTTEN
#define IS_SETTLED (is_released || (is_gone && !may_come))
#else
#define IS_SETTLED (is_gone && !may_come)
#endif

#define CALL 9 /* all ids of the call */
#define IS_ITS(i) (owner == caller && (row_id == i || i == CALL))

inline delete_tickets() {
  if
  :: i == CALL -> ticket[1] = 0; ticket[2] = 0; ticket[3] = 0; ticket[4] = 0
  :: else -> ticket[i] = 0
  fi
}

/* It deletes the ticket, and then releases the row's acquisition. Late statements make it repeat this. */
proctype reconciler() {
  byte i;
  bit may_come, is_released, is_gone;
end:
  atomic {
    if
    :: undone[1] -> i = 1
    :: undone[2] -> i = 2
    :: undone[3] -> i = 3
    :: undone[4] -> i = 4
    :: call_undone -> i = CALL
    fi;
    may_come = MAY_COME(i);
#ifndef ROW_FIRST
    delete_tickets()
#endif
  };
  atomic {
    if
    :: IS_ITS(i) ->
      if
      :: true -> execute_release(); is_released = 1; is_gone = 1
      /* The reply is lost. */
      :: true -> execute_release()
      :: late == nothing -> late = release; late_id = i
      fi
    :: else -> is_gone = 1
    fi;
    check()
  };
  atomic {
#ifdef ROW_FIRST
    delete_tickets();
#endif
    if
    :: IS_SETTLED && i == CALL -> call_undone = 0
    :: IS_SETTLED && i != CALL -> undone[i] = 0
    :: else
    fi;
    i = 0;
    may_come = 0;
    is_released = 0;
    is_gone = 0;
    check()
  };
  goto end
}

/* Statements that come late, or never. */
proctype network() {
end:
  do
  :: atomic { late != nothing ->
      if
      :: late == acquire -> execute_acquire(late_id)
      :: late == enqueue -> ticket[late_id] = 1
      :: late == release ->
        if
        :: IS_ITS(late_id) -> execute_release()
        :: else
        fi
      :: true
      fi;
      late = nothing;
      late_id = 0;
      check()
    }
  od
}

proctype other_client() {
  byte round;
end:
  do
  :: atomic { round < ROUNDS && IS_FREE ->
      round++;
      assert(!believes || forced);
      give_to(other, 0);
      last_of_other = version;
      check()
    }
  :: atomic { owner == other -> execute_release(); check() }
  od
}

proctype clock() {
end:
  do
  :: atomic { owner != nobody && !expired && !(believes && HAS(handle)) -> expired = 1 }
  od
}

proctype free_by_force() {
end:
  atomic { owner != nobody && !expired -> forced = 1; vacate(); check() }
}

init {
  atomic { run call(); run reconciler(); run network(); run other_client(); run clock(); run free_by_force() }
}
