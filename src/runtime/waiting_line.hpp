#pragma once

#include <rowlock/fencing_token.hpp>
#include <rowlock/lock_name.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/time.hpp"
#include "runtime/guarded.hpp"

namespace rowlock::inline v1::runtime {

/// Where somebody stands in the database's queue of a name.
struct queue_ticket {
  std::string name;
  std::string attempt;
  std::int64_t number = 0;  ///< 0: none, or gone
};

/// The queue inside the process: of all threads of a client that wait for a name, the first speaks to the database.
/// They stand in the order of their tickets, whoever has none yet behind all others.
///
///   of a place:  without a ticket --take--> with one --displace (the database has it no more)--> without
///
/// A hint is remembered until its receiver listens anew. Whoever waits listens first and tries then, so a release
/// between its try and its sleep is not missed. Hints may be lost or wrong all the same: waits are bounded by their
/// callers.
class waiting_line {
  struct seat {
    std::condition_variable_any woken;
    bool is_hinted = false;
    core::instant sleeps_until{};
    queue_ticket ticket{};
    // Of the first, where others are asked and do not tell:
    core::instant quiet_since{};
    core::instant next_look{};
    bool is_behind = false;  // somebody else's ticket, at the last look
    fencing_token version{};
  };
  using queue = std::list<seat*>;

 public:
  enum class outcome : std::uint8_t { hinted, out_of_time, stopped, closed };

  /// A place in the queue of one name; left at the end of its life, in favour of the next.
  class place {
   public:
    place(waiting_line& line, const lock_name& name);
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place();

    /// Before a try: hints from now on count.
    void listen();
    /// Until it is the first and has been hinted, or one of the other outcomes. Becoming the first is a hint.
    outcome wait(core::instant until, const std::stop_token& stop);

    /// The ticket is committed: from now on it stands by its number.
    void take(std::string attempt, std::int64_t number);
    /// Somebody else sees to it that it goes.
    void give_up_ticket();
    queue_ticket ticket() const;
    std::int64_t ticket_number() const;
    bool is_first() const;

   private:
    waiting_line& line_;
    std::string name_;
    seat seat_;
    queue::iterator at_;
  };

  bool is_empty(const lock_name& name);
  /// Whether somebody has had a ticket for this name here and has left of late, whom a release may just have told.
  /// Answered once for each of them; of more than most_left the oldest are forgotten.
  bool take_left(std::string_view name);
  static constexpr std::size_t most_left = 1000;
  /// Wakes the first in this name's queue. false: there is nobody.
  bool hint(std::string_view name);
  /// Wakes whoever has this ticket and sleeps past the end of a lease of which so much is left.
  void hint_late(const queue_ticket& whose, std::optional<duration> lease_left);
  /// Wakes the first of all queues.
  void hint_all();
  /// Wakes everybody in this name's queue.
  void hint_everybody(const lock_name& name);
  /// Ends all waits, for good.
  void close();

  /// All that are to be kept alive.
  std::vector<queue_ticket> tickets();
  /// When that is due.
  core::instant beat_due();
  void set_beat_due(core::instant t);
  /// The database has this ticket no more: whoever had it wakes, and needs another.
  void displace(const queue_ticket& gone);

  /// Of each queue the first, as far as it has a ticket.
  std::vector<queue_ticket> firsts();
  /// The same, where the next look is due; they are looked at now.
  std::vector<queue_ticket> firsts_due(core::instant now);
  /// When the next of these looks is due.
  core::instant next_look();
  /// What the look told. true: the name has changed hands, so the next comes soon.
  bool was_looked_at(const queue_ticket& whose, bool is_behind, fencing_token version);

 private:
  struct contents {
    std::unordered_map<std::string, queue> queues;
    std::deque<std::string> left;  // the names of those who have, the last one first
    core::instant beat_due = core::instant::max();
    bool is_closed = false;
  };
  static void wake(seat& s) {
    s.is_hinted = true;
    s.woken.notify_one();
  }
  static void promote(queue& q);
  static void remember(contents& in, std::string left) noexcept;
  static seat* find(contents& in, const queue_ticket& t);
  mutable guarded<contents> state_;
};

}  // namespace rowlock::inline v1::runtime
