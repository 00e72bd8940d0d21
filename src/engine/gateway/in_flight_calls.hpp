#pragma once

#include <atomic>
#include <condition_variable>

#include "base/guarded.hpp"
#include "base/time.hpp"

namespace rowlock::inline v1::engine {

/// Counts the calls that are under way, so that closing can wait for the last of them.
class in_flight_calls {
 public:
  class call {
   public:
    explicit call(in_flight_calls& in) noexcept : in_{in} { ++in_.count_; }
    call(const call&) = delete;
    call& operator=(const call&) = delete;
    ~call() { in_.leave(); }

   private:
    in_flight_calls& in_;
  };

  /// Returns when none is under way, at the latest at `deadline`.
  void wait_for_the_last(base::instant deadline);

 private:
  struct nothing {};
  void leave() noexcept;

  std::atomic<int> count_{0};
  std::atomic<bool> is_awaited_{false};
  std::condition_variable_any none_;
  base::guarded<nothing> state_;
};

}  // namespace rowlock::inline v1::engine
