#pragma once

#include <rowlock/error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "core/lease.hpp"
#include "core/wait.hpp"

namespace rowlock::inline v1::core {

/// Decides the next step of a call that waits for a name: its functions are called with what happened, and answer what
/// to do. It uses no clock, no thread and no database.
///
///   outside --others wait here, it is held here, or the first attempt was refused--> queued
///   queued: take a ticket --> sleep --> look where it is --> first of all, with a ticket: try --> sleep ...
///   anywhere --the deadline, a stop--> give up
///
/// The order is: listen, have a ticket committed, have the row say that a client waits, try, sleep. A release that
/// locks the row after that notifies the waiter, and the try sees one before it. If the ticket of a waiter was deleted,
/// because its process was stopped for long, it takes another.
///
/// A lock that other clients hold for less time than a ticket takes is worth a few attempts before it, as a mutex spins
/// before its thread sleeps. They are like the first: the row refuses all of them alike while another client waits. The
/// first of the queue in this process makes them, so that the others wait behind it for a hand-over.
///
/// A waiter that accepts a hand-over inside this client has patience: until that is over it needs no ticket, unless it
/// is the first and no thread of this client holds the lock. Then it tries when it is notified of a release, and takes
/// a ticket if that is refused.
class acquire_machine {
 public:
  enum class action : std::uint8_t { try_once, enter_queue, take_ticket, sleep, look, give_up };
  struct step {
    action what;
    base::instant until{};  ///< for sleep
  };
  /// In the queue of this process, and in that of the database.
  struct position {
    bool is_first = false;
    bool has_ticket = false;
    bool yields_to_other_clients = false;  ///< it does not try without a ticket
    /// Until then a holder of this client may hand the lock over to the waiter; min(): none will.
    base::instant held_here_until = base::instant::min();
  };
  enum class wakeup : std::uint8_t { hinted, out_of_time, stopped };

  /// `handover_patience`: for how long it may wait for a hand-over alone. nullopt: it accepts no hand-over.
  acquire_machine(base::instant now, base::instant deadline, std::optional<duration> handover_patience = {})
      : backoff_{now, deadline},
        handover_patience_until_{handover_patience ? base::later(now, *handover_patience) : base::instant::min()} {}

  base::instant deadline() const noexcept { return backoff_.deadline(); }
  /// An attempt may pass the queue only if no thread of this client waits, and no holder may hand the lock over to it.
  step begin(bool others_wait_here, bool is_held_here = false) noexcept;
  step after_first_try(base::instant now) const noexcept;
  /// From now on it makes such attempts.
  void try_briefly() noexcept { tries_briefly_ = true; }
  /// Whether it has made any, and whether it needed no ticket all the same.
  bool has_tried_briefly() const noexcept { return brief_tries_ > 0; }
  bool needed_no_ticket() const noexcept { return !had_ticket_; }

  step in_queue(base::instant now, const position& at) noexcept;
  /// A ticket was taken, or could not be taken.
  step after_ticket(const position& at) noexcept;
  step after_sleep(base::instant now, wakeup by) noexcept;
  step after_look(base::instant now, const position& at) noexcept;

  void was_refused(const retry_backoff::refusal& why, base::instant now, double jitter) {
    is_notified_ = false;
    set_next_brief_try(why.left && !why.is_free && !why.is_behind && !why.is_shared, now);
    unleased_ = why.left || why.is_free ? 0 : unleased_ + 1;
    if (!why.is_free) free_since_.reset();
    if (why.is_free && !free_since_) free_since_ = now;
    backoff_.was_refused(why, now, jitter);
  }
  /// Whether the name is held without a lease, as by a transaction. A single refusal may only mean that another
  /// statement is changing the row.
  bool is_behind_transaction() const noexcept { return unleased_ >= 3; }
  /// Whether the name was free at all refusals of the last second because of other waiters: they do not take it.
  bool was_left_free(base::instant now) const noexcept {
    return free_since_ && base::later(*free_since_, longest_grant) <= now;
  }
  /// Rethrows an error that waiting cannot repair.
  void failed(const error& e, bool is_stopped, bool holds_by_transaction, base::instant now, double jitter);

  /// After it has given up: throws if no attempt was ever answered. Does not throw if the caller gave less time than a
  /// call may take and only a connection was missing, or an answer from a database whose calls are cut at the deadline.
  void throw_if_never_answered(duration call_timeout, bool cuts_calls) const;

 private:
  bool takes_handovers() const noexcept { return handover_patience_until_ != base::instant::min(); }
  /// Until when it may sleep without asking the database; min(): not at all.
  base::instant sleeps_here_until(const position& at) const noexcept;
  step sleep_with(const position& at) const noexcept;
  void set_next_brief_try(bool is_held_by_lease, base::instant now) noexcept;

  retry_backoff backoff_;
  const base::instant handover_patience_until_;
  bool tries_briefly_ = false;
  bool had_ticket_ = false;
  std::size_t brief_tries_ = 0;
  duration first_try_{};
  std::optional<base::instant> next_brief_try_;  // none: it is not worth one, or there were enough
  int unleased_ = 0;                             // the latest refusals in a row
  std::optional<base::instant> free_since_;      // as far as refusals show
  bool is_first_ = false;
  bool is_notified_ = false;  // of a possible success, and has not tried since
};

}  // namespace rowlock::inline v1::core
