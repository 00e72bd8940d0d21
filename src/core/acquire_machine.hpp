#pragma once

#include <rowlock/error.hpp>

#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "core/lease.hpp"
#include "core/wait.hpp"

namespace rowlock::inline v1::core {

/// Decides what a call does that waits for a name: it is told what happened, and answers what to do next. It knows no
/// clock, no thread and no database.
///
///   outside --others wait here, it is held here, or the first attempt was refused--> queued
///   queued: take a ticket --> sleep --> look where it is --> first of all, with a ticket: try --> sleep ...
///   anywhere --the deadline, a stop--> give up
///
/// The order is: listen, have a ticket committed, have the row say that somebody waits, try, sleep. A release that
/// locks the row after that tells the waiter, and one before it is seen by the try. A waiter whose ticket is gone,
/// because it was stopped for long, takes another.
///
/// A waiter that takes what is handed over inside this client has patience: until that is over it needs no ticket,
/// unless it is the first and nobody here has the lock. Then it tries when it is told of a release, and takes a ticket
/// if that is refused.
class acquire_machine {
 public:
  enum class action : std::uint8_t { try_once, enter_queue, take_ticket, sleep, look, give_up };
  struct step {
    action what;
    base::instant until{};  ///< of sleep
  };
  /// In the queue of this process, and in that of the database.
  struct position {
    bool is_first = false;
    bool has_ticket = false;
    bool yields_to_other_clients = false;  ///< to other clients: it does not try without a ticket
    /// Until then a holder of this client may hand the lock over to it; min(): none will.
    base::instant held_here_until = base::instant::min();
  };
  enum class wakeup : std::uint8_t { hinted, out_of_time, stopped };

  /// With patience: for how long it may wait for a hand-over alone. Without: it takes none.
  acquire_machine(base::instant now, base::instant deadline, std::optional<duration> patience = {})
      : backoff_{now, deadline}, patient_until_{patience ? base::later(now, *patience) : base::instant::min()} {}

  base::instant deadline() const noexcept { return backoff_.deadline(); }
  /// Only an attempt that finds nobody waiting here, and no lock that may be handed over to it, may go before the
  /// queue.
  step begin(bool others_wait_here, bool is_held_here = false) noexcept;
  step after_first_try(base::instant now) const noexcept;

  step in_queue(base::instant now, const position& at) const noexcept;
  /// A ticket was taken, or could not be.
  step after_ticket(const position& at) const noexcept;
  step after_sleep(base::instant now, wakeup by) noexcept;
  step after_look(base::instant now, const position& at) noexcept;

  void was_refused(const retry_backoff::refusal& why, base::instant now, double jitter) {
    is_notified_ = false;
    unleased_ = why.left || why.is_free ? 0 : unleased_ + 1;
    if (!why.is_free) free_since_.reset();
    if (why.is_free && !free_since_) free_since_ = now;
    backoff_.was_refused(why, now, jitter);
  }
  /// Whether the name is held without a lease, as by a transaction: a refusal alone may be about a row that somebody
  /// changes just then.
  bool is_behind_transaction() const noexcept { return unleased_ >= 3; }
  /// Whether all refusals of the last second found the name free, and others before it: they do not take it.
  bool was_left_free(base::instant now) const noexcept {
    return free_since_ && base::later(*free_since_, longest_grant) <= now;
  }
  /// Rethrows what waiting does not mend.
  void failed(const error& e, bool is_stopped, bool holds_by_transaction, base::instant now, double jitter);

  /// After it has given up: throws if no attempt was ever answered. Not if the caller gave less time than a call may
  /// take and only a connection was missing, or, in a database whose calls are cut at the deadline, an answer.
  void throw_if_never_answered(duration call_timeout, bool cuts_calls) const;

 private:
  bool takes_handovers() const noexcept { return patient_until_ != base::instant::min(); }
  /// To when it may sleep and leave the database alone; min(): not at all.
  base::instant sleeps_here_until(const position& at) const noexcept;

  retry_backoff backoff_;
  const base::instant patient_until_;
  int unleased_ = 0;                         // refusals, the last ones
  std::optional<base::instant> free_since_;  // as far as refusals tell
  bool is_first_ = false;
  bool is_notified_ = false;  // that it may be worth while, and has not tried since
};

}  // namespace rowlock::inline v1::core
