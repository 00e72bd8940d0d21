/*
 * Grant by release, whose commit does not wait for the disk (docs/protocol.md, Grant by release): what may a crash of the
 * server undo?
 *
 * Bounds: one name, END ticks, a lease of LEASE, a grant of GRANT. A has the name and releases it to B, whose ticket is the
 * first; the reply may be lost, and the reconciler repeats the release at any time. B claims the name once. C acquires the
 * free name. The server crashes once, which may undo B's ticket too. Requests are answered at once or not at all.
 *
 * mutant BELIEVES_THE_NOTICE: law 5, B relies on the grant that it has heard of, before it has claimed it
 * mutant CLAIMS_BLINDLY: law 4, B claims the row, whichever client holds the name by then
 * mutant CLAIM_NOT_DURABLE: law 1, the claim does not wait for the disk
 */
#define LEASE 4
#define GRANT 2
#define END 7

mtype = { none, A, B, C };

/* The row, and its state on the disk. */
mtype owner = A, owner_on_disk = A;
byte expires = LEASE, expires_on_disk = LEASE;

byte now;
byte deadline_of_B, deadline_of_C;
bit claimed, crashed, told;

inline check() { assert(!(now < deadline_of_B && now < deadline_of_C)) }

inline write_to_disk() {
  owner_on_disk = owner;
  expires_on_disk = expires
}

/* A has marked its lock as released before. */
proctype holder() {
  bit reply_lost;
end:
  atomic {
    owner == A && expires > now ->
      owner = B;
      expires = (now + GRANT < expires -> now + GRANT : expires);
      told = 1;
      if
      :: reply_lost = 1
      :: true
      fi
  };
  do
  :: atomic { reply_lost && owner == A -> owner = none; expires = now }
  :: atomic { now == END -> break }
  od
}

proctype waiter() {
  do
#ifdef BELIEVES_THE_NOTICE
  :: atomic { told -> told = 0; deadline_of_B = now + GRANT; check() }
#endif
#ifdef CLAIMS_BLINDLY
  :: atomic { told && !claimed && expires > now ->
#else
  :: atomic { !claimed && owner == B && expires > now ->
#endif
      claimed = 1;
      owner = B;
      expires = now + LEASE;
      deadline_of_B = expires;
#ifndef CLAIM_NOT_DURABLE
      write_to_disk();
#endif
      check()
    }
  :: atomic { now == END -> break }
  od
}

proctype taker() {
end:
  atomic { owner == none || expires <= now ->
    owner = C;
    expires = now + LEASE;
    deadline_of_C = expires;
    write_to_disk();
    check()
  }
}

init {
  atomic { run holder(); run waiter(); run taker() };
  do
  :: atomic { now < END -> now++; check() }
  :: atomic { owner_on_disk != owner || expires_on_disk != expires -> write_to_disk() }
  :: atomic { !crashed -> crashed = 1; owner = owner_on_disk; expires = expires_on_disk }
  :: now == END -> break
  od
}
