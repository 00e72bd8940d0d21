#pragma once

#include <rowlock/lock_name.hpp>

#include <condition_variable>
#include <cstdint>
#include <list>
#include <stop_token>
#include <string>
#include <unordered_map>

#include "core/time.hpp"
#include "runtime/guarded.hpp"

namespace rowlock::inline v1::runtime {

/// The queue inside the process: of all threads of a client that wait for a name, the earliest speaks to the database.
///
/// A hint is remembered until its receiver listens anew. Whoever waits listens first and tries then, so a release
/// between its try and its sleep is not missed. Hints may be lost or wrong all the same: waits are bounded by their
/// callers.
class waiting_line {
  struct seat {
    std::condition_variable_any woken;
    bool is_hinted = false;
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
    /// Until it is the head and has been hinted, or one of the other outcomes. Becoming the head is a hint.
    outcome wait(core::instant until, const std::stop_token& stop);

   private:
    waiting_line& line_;
    std::string name_;
    seat seat_;
    queue::iterator at_;
  };

  bool is_empty(const lock_name& name);
  /// Wakes the head of this name's queue.
  void hint(const lock_name& name);
  /// Wakes the heads of all queues.
  void hint_all();
  /// Wakes everybody in this name's queue.
  void hint_everybody(const lock_name& name);
  /// Ends all waits, for good.
  void close();

 private:
  struct contents {
    std::unordered_map<std::string, queue> queues;
    bool is_closed = false;
  };
  static void wake(seat& s) {
    s.is_hinted = true;
    s.woken.notify_one();
  }
  guarded<contents> state_;
};

}  // namespace rowlock::inline v1::runtime
