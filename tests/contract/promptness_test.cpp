#include <algorithm>
#include <atomic>
#include <chrono>
#include <vector>

#include "contract/queueing.hpp"
#include "support/slowness.hpp"

namespace rowlock::test {
namespace {

using std::chrono::steady_clock;

/// A wait ends when it is told to, at any place. The third best of many counts: a busy machine may hold most of them
/// up.
class promptness : public queueing {
 protected:
  static constexpr auto limit = 50ms * slowness;

  template <class Measure>
  static steady_clock::duration usual(Measure measure) {
    std::vector<steady_clock::duration> all;
    do {
      all.push_back(measure(static_cast<int>(all.size()) % 5));
      std::sort(all.begin(), all.end());
    } while (all.size() < 3 || (all[2] > limit && all.size() < 40));
    return all[2];
  }

  /// By how much it comes back too late.
  steady_clock::duration lateness(client& locks, std::chrono::milliseconds wait) {
    const auto before = db().tickets();
    const auto until = steady_clock::now() + wait;
    EXPECT_FALSE(locks.try_acquire_for(name, wait, fair()).has_value());
    const auto late = steady_clock::now() - until;
    EXPECT_GE(late, 0ns);
    EXPECT_TRUE(are_waiting(before));
    return late;
  }
  steady_clock::duration time_to_stop(client& locks) {
    const auto before = db().tickets();
    std::atomic<steady_clock::time_point> end{};
    background waiting{[&](std::stop_token stop) {
      const auto held = locks.try_acquire_for(name, patience * 2, fair(), std::move(stop));
      end = steady_clock::now();
      return held.has_value();
    }};
    EXPECT_TRUE(are_waiting(before + 1));
    const auto start = steady_clock::now();
    waiting.stop();
    EXPECT_FALSE(waiting.get());
    EXPECT_TRUE(are_waiting(before));
    return end.load() - start;
  }
};
ROWLOCK_CONTRACT_SUITE(promptness, usual_pairs());

TEST_P(promptness, of_time_outs_and_stops_in_the_first_and_the_second_place) {
  const auto held = locks_.acquire(name, fair());
  waiter head;
  for (const char* place : {"first", "second"}) {
    EXPECT_LE(usual([&](int i) { return lateness(other_, std::chrono::milliseconds{100 + 50 * i}); }), limit) << place;
    EXPECT_LE(usual([&](int) { return time_to_stop(other_); }), limit) << place;
    if (!head) head = wait_behind(other_, "head");
  }
  head->stop();
  EXPECT_FALSE(head->get());
}

}  // namespace
}  // namespace rowlock::test
