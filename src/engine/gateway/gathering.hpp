#pragma once

#include <rowlock/duration.hpp>

#include <cstddef>

#include "base/time.hpp"

namespace rowlock::inline v1::engine {

/// A short wait before a batch, for the callers of the one before, if callers ask again at once: those that hold a lock
/// for moments only. They then leave in one statement instead of two. (Disks wait so for a process that reads on:
/// anticipatory scheduling, by Iyer and Druschel. PostgreSQL's commit_delay does it for commits.)
///
/// It lasts at most half as long as a request takes, and five milliseconds. Callers that do something else in between
/// would lose by it: so there is none unless more than seven of eight come back within that time. Not safe for threads.
class gathering {
 public:
  /// A caller has come that long after its last request ended.
  void came(duration pause) noexcept;
  /// Requests have ended after that time.
  void ended(duration took) noexcept;
  bool callers_are_prompt() const noexcept { return score_ >= enough; }
  /// Where none has ended for longer, one is stuck.
  duration patience() const noexcept;
  /// Until more of them have come.
  void callers_are_not_prompt() noexcept { score_ = 0; }

  /// Begins, until all of these callers have a request that is there: queued or under way.
  void begin(std::size_t callers, base::instant now) noexcept;
  bool is_on(std::size_t there, base::instant now) const noexcept { return there < callers_ && now < until_; }
  base::instant until() const noexcept { return until_; }
  /// The next batch leaves.
  void end() noexcept { callers_ = 0; }

 private:
  static constexpr int enough = 64;
  duration longest() const noexcept;

  duration took_by_eight_{};  // eight requests, on average
  int score_ = 0;             // from 0 to twice what is enough
  std::size_t callers_ = 0;
  base::instant until_{};
};

}  // namespace rowlock::inline v1::engine
