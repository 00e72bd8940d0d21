#pragma once

#include <atomic>
#include <chrono>

#include "testkit/eventually.hpp"

namespace rowlock::test {

/// A place for one visitor at a time. A visit is long enough for another to begin: visits of nanoseconds would not
/// overlap even without a lock.
class room {
 public:
  void visit() {
    ++visits_;
    if (inside_.fetch_add(1) != 0) ++crowded_;
    static_cast<void>(eventually(stay, [this] { return inside_ > 1; }));
    --inside_;
  }
  /// The number of visits that began during another.
  int crowded() const { return crowded_; }
  int visits() const { return visits_; }

 private:
  static constexpr std::chrono::milliseconds stay{2};

  std::atomic<int> inside_{0};
  std::atomic<int> crowded_{0};
  std::atomic<int> visits_{0};
};

}  // namespace rowlock::test
