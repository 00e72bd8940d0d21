#pragma once

#include <atomic>
#include <chrono>

#include "testkit/eventually.hpp"

namespace rowlock::test {

/// Where no two may be at once. Who is inside stays for as long as others need to come in too: a visit that lasts for
/// nanoseconds would find nobody there even if nothing kept others out.
class room {
 public:
  void visit() {
    ++visits_;
    if (inside_.fetch_add(1) != 0) ++crowded_;
    static_cast<void>(eventually(stay, [this] { return inside_ > 1; }));
    --inside_;
  }
  /// How many came in while somebody was there.
  int crowded() const { return crowded_; }
  int visits() const { return visits_; }

 private:
  static constexpr std::chrono::milliseconds stay{2};

  std::atomic<int> inside_{0};
  std::atomic<int> crowded_{0};
  std::atomic<int> visits_{0};
};

}  // namespace rowlock::test
