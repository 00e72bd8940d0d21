#pragma once

#include <rowlock/fencing_token.hpp>
#include <rowlock/lock_name.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/boot_clock.hpp"
#include "base/guarded.hpp"
#include "base/time.hpp"
#include "core/identity.hpp"
#include "core/sharing.hpp"
#include "engine/flow/flow.hpp"

namespace rowlock::inline v1::engine {

class lease_state;  // the queue only passes it on

/// A position in the database's queue of a name.
struct queue_ticket {
  std::string name;
  core::acquisition_id attempt;
  core::ticket_number number = core::ticket_number::none;              ///< none: not yet, or not any more
  std::int64_t max_other_permits = core::sharing{}.max_other_permits;  ///< of who shares the name
  bool is_displaced = false;  ///< it was deleted by another client, or by a claim whose answer was lost
};

/// The queue inside the process: of all threads of a client that wait for a name, the first speaks to the database.
/// They are in the order of their tickets; a waiter without one comes after all others.
///
///   of a waiter:  without a ticket --take--> with one --displace (the database has deleted it)--> without
///
/// While it waits, a waiter may offer to take the lock from a holder in this process. It is handed over, or not, under
/// the mutex by which the wait ends: so either it leaves the queue and wakes with the lock, or it was never offered it.
///
/// A waiter for all of several names may have to wait although it is the first here: the next after it is treated as
/// the first, too. These are the leaders.
///
/// A hint is remembered until its receiver listens again. A waiter listens first and tries then, so that it does not
/// miss a release between its try and its sleep. Nevertheless hints may be lost or wrong: callers bound their waits.
class local_wait_queue {
 public:
  /// A call waits for one name, or for one of several in whose queues it is, or for all of several.
  enum class purpose : std::uint8_t { one, any, all };

 private:
  struct contents;
  struct slot {
    std::shared_ptr<waker> by;  // of the call
    purpose wants = purpose::one;
    bool is_hinted = false;
    const std::shared_ptr<lease_state>* offer = nullptr;  // taken if the lock is handed over to it
    bool is_handed = false;                               // it was, and has left the queue
    bool leaves_with_lock = false;                        // it has acquired the lock by itself
    bool reenters = false;                                // if its thread holds the name, it waits for others of a set
    base::instant sleeps_until{};
    const std::thread::id thread = calling_thread();
    const base::instant since = base::now();
    std::unique_ptr<const std::string> deadlock;  // the circle in which it would wait for ever: its wait ends
    queue_ticket ticket{};
    bool is_marked = false;  // the row says that a client waits, according to the last answer
    // For a leader, if the database has to be asked and does not notify:
    base::instant quiet_since{};
    base::instant next_look{};
    bool is_behind = false;  // at the last look, another client's ticket came first
    fencing_token version{};
  };
  struct queue : std::list<slot*> {
    base::instant yields_until = base::instant::min();
  };

 public:
  enum class outcome : std::uint8_t { hinted, out_of_time, stopped, closed, handed, deadlocked };
  struct position {
    bool is_first = false;
    core::ticket_number ticket = core::ticket_number::none;
    bool yields_to_other_clients = false;
  };

  /// A waiter that can share the name with any other reader, and its offer to take a share.
  struct reader {
    queue_ticket ticket;
    std::shared_ptr<lease_state> offer;
  };

  class sleep;

  /// A call that waits for one name. At the end of its life the next one is first.
  class waiter {
   public:
    /// `by` wakes the call; nullptr: its thread waits. `beside`: another waiter of the same call.
    waiter(local_wait_queue& in, const lock_name& name, purpose wants = purpose::one, const waiter* beside = nullptr,
           waker* by = nullptr);
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;
    ~waiter();

    /// Before a try: hints from now on count.
    void listen() { set(&slot::is_hinted, false); }
    /// Until it is the first and has been hinted, or one of the other outcomes. Becoming the first is a hint. If it
    /// offers to take the lock, that may be handed over to it: then it must not be used any more.
    outcome wait(base::instant until, const std::stop_token& stop, const std::shared_ptr<lease_state>& offer = {});
    bool is_hinted() const { return get(&slot::is_hinted); }
    bool is_deadlocked() const;
    /// To itself: it must look before it sleeps.
    void hint() { set(&slot::is_hinted, true); }

    /// It is one of a set, and reenters what its thread holds.
    void reenter() { set(&slot::reenters, true); }
    /// It has acquired the lock by itself, and is about to leave: the next first waiter may wait for a hand-over.
    void leave_with_lock() { set(&slot::leaves_with_lock, true); }
    /// The ticket is committed: from now on its number decides the order.
    void take(const core::acquisition_id& attempt, core::ticket_number number,
              std::int64_t max_other_permits = core::sharing{}.max_other_permits);
    /// According to the row of the name.
    void mark(bool says_that_somebody_waits) { set(&slot::is_marked, says_that_somebody_waits); }
    /// Whether releases look for the ticket, as far as known.
    bool is_marked() const { return get(&slot::is_marked); }
    /// From now on other code deletes the ticket.
    void give_up_ticket();
    queue_ticket ticket() const { return get(&slot::ticket); }
    core::ticket_number ticket_number() const;
    bool is_first() const;
    /// After a wait that has ended so.
    std::string deadlock() const;
    /// Readers that come directly after it in the order of their tickets, which sleep and offer to take a share.
    std::vector<reader> readers_behind(std::size_t most) const;
    position where(base::instant now) const;

   private:
    friend class local_wait_queue::sleep;
    template <class T>
    T get(T slot::*what) const {
      const auto state = in_.state_.lock();
      return slot_.*what;
    }
    template <class T>
    void set(T slot::*what, T to) {
      const auto state = in_.state_.lock();
      slot_.*what = to;
    }
    local_wait_queue& in_;
    slot slot_;
    queue::iterator at_;
  };

  /// The sleep of a call, all of whose waiters these are, until one of them is hinted (then ask each), or one of the
  /// other outcomes. An offer is for the only waiter.
  class sleep final : public engine::wait {
   public:
    sleep(std::span<waiter* const> all, base::instant until, const std::stop_token& stop,
          const std::shared_ptr<lease_state>& offer)
        : all_{all}, until_{until}, stop_{stop}, offer_{offer} {}
    void block() override;
    void begin() override;
    bool is_over() override;
    base::instant until() override { return until_; }
    /// Once it is over.
    outcome how() const noexcept { return how_; }

   private:
    local_wait_queue& queue() const noexcept { return all_[0]->in_; }
    void fall_asleep();
    std::optional<outcome> end(const contents& in) const;
    void wake_up(const contents& in);

    const std::span<waiter* const> all_;
    const base::instant until_;
    const std::stop_token& stop_;
    const std::shared_ptr<lease_state>& offer_;
    outcome how_ = outcome::out_of_time;
  };

  bool is_empty(const lock_name& name);
  /// Whether a waiter of this client with a ticket for this name has left recently: a release may have notified it.
  /// Answered once for each of them; of more than most_left the oldest are forgotten.
  bool take_left(std::string_view name);
  static constexpr std::size_t most_left = 1000;
  /// Wakes the first waiter of this name. false: there is none.
  bool hint(std::string_view name);
  /// If the first waiter of this name offers to take it: `take(offer)` answers whether it does, under the mutex. It
  /// must be quick.
  template <class Take>
  bool hand_over(std::string_view name, Take take);
  /// The same for the waiter with this ticket; the caller must then delete the ticket.
  template <class Take>
  bool hand_over_to(const queue_ticket& whose, Take take);
  /// Whether hand_over would succeed.
  template <class Fits>
  bool takes(std::string_view name, Fits fits);
  /// Until then, the waiters of this name yield to other clients.
  void yield_to_other_clients(std::string_view name, base::instant until);
  /// The same if all waiters here wait for one name. false: they wait for several.
  bool hint_the_only_name();
  /// Wakes the waiter with this ticket if it would sleep past the end of a lease of which so much is left.
  void hint_late(const queue_ticket& whose, std::optional<duration> lease_left);
  /// Wakes the first waiter of each name.
  void hint_all();
  /// The row does not say that a client waits: if the waiter with this ticket relies on that, the first of its name
  /// wakes, and marks the row.
  void lost_mark(const queue_ticket& whose);
  /// Wakes all waiters of this name.
  void hint_everybody(const lock_name& name);
  /// Ends all waits, finally.
  void close();

  /// All tickets that must be kept alive.
  std::vector<queue_ticket> tickets();
  /// When they must be refreshed.
  base::instant refresh_due();
  void set_refresh_due(base::instant t);
  /// The database has deleted this ticket: its waiter wakes and needs another.
  void displace(const queue_ticket& gone);

  /// Whether a waiter of this name has this attempt as its ticket, wherever it is: a release passes over sets.
  bool waits_by(std::string_view name, std::string_view attempt);
  /// The tickets of all leaders.
  std::vector<queue_ticket> leaders();
  /// The same for names that are due to be looked at; they are looked at now.
  std::vector<queue_ticket> leaders_due(base::instant now);
  /// When the next of these looks is due.
  base::instant next_look();
  enum class change : std::uint8_t {
    none,
    of_hands,  ///< so the next look comes soon
    passed     ///< and since the last look no other waiter comes before
  };
  /// A waiter with a ticket, and its thread.
  struct long_wait {
    queue_ticket ticket;
    std::thread::id thread;
    bool reenters = false;
  };
  /// The waiters that have waited since before `t`.
  std::vector<long_wait> long_waits(base::instant t);
  /// Its wait ends: it waits in a circle. Not if it already holds the lock.
  void end_deadlocked(const queue_ticket& whose, const std::string& text);
  /// The answer of the look.
  change was_looked_at(const queue_ticket& whose, bool is_behind, fencing_token version);

 private:
  struct hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const noexcept { return std::hash<std::string_view>{}(name); }
  };
  struct contents {
    std::unordered_map<std::string, queue, hash, std::equal_to<>> queues;
    std::deque<std::string> left;  // names of waiters that have left, the latest first
    base::instant refresh_due = base::instant::max();
    bool is_closed = false;
  };
  static void wake(slot& s) {
    s.is_hinted = true;
    s.by->wake();
  }
  template <class F>
  static void each_leader(const queue& q, F f);
  static void wake_first(queue& q);
  static bool leads(const queue& q, const slot& s);
  static std::optional<outcome> end_of(const slot& s, const contents& in, const std::stop_token& stop);
  static void promote(queue& q);
  static bool must_look(const slot& first);
  slot* first_with_offer(contents& in, std::string_view name);
  static void leave_with_lock(contents& in, slot& s);
  static void remember(contents& in, std::string left) noexcept;
  static slot* find(contents& in, const queue_ticket& t);
  static queue* queue_of(contents& in, std::string_view name);
  mutable base::guarded<contents> state_;
};

template <class Take>
bool local_wait_queue::hand_over(std::string_view name, Take take) {
  const auto state = state_.lock();
  slot* const first = first_with_offer(*state, name);
  if (first == nullptr || !take(*first->offer)) return false;
  leave_with_lock(*state, *first);
  return true;
}

template <class Take>
bool local_wait_queue::hand_over_to(const queue_ticket& whose, Take take) {
  const auto state = state_.lock();
  slot* const s = state->is_closed ? nullptr : find(*state, whose);
  if (s == nullptr || s->offer == nullptr || !take(*s->offer)) return false;
  s->ticket.number = core::ticket_number::none;
  leave_with_lock(*state, *s);
  return true;
}

template <class Fits>
bool local_wait_queue::takes(std::string_view name, Fits fits) {
  const auto state = state_.lock();
  const slot* const first = first_with_offer(*state, name);
  return first != nullptr && fits(**first->offer);
}

}  // namespace rowlock::inline v1::engine
