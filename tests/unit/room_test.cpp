#include "support/room.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

// What the tests of contention rely on: it must find out where nothing excludes anybody.

namespace rowlock::test {
namespace {

struct nothing {
  void lock() {}
  void unlock() {}
};

template <class Mutex>
void visit_by_threads(room& inside, int threads, int visits_each) {
  Mutex door;
  std::vector<std::jthread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&] {
      for (int i = 0; i < visits_each; ++i) {
        const std::lock_guard guard{door};
        inside.visit();
      }
    });
}

TEST(room, finds_every_time_that_nothing_keeps_others_out) {
  for (int round = 0; round < 50; ++round) {
    room inside;
    visit_by_threads<nothing>(inside, 8, 2);
    ASSERT_GT(inside.crowded(), 0) << round;
  }
}

TEST(room, finds_nothing_under_a_mutex) {
  room inside;
  visit_by_threads<std::mutex>(inside, 8, 4);
  EXPECT_EQ(inside.crowded(), 0);
  EXPECT_EQ(inside.visits(), 32);
}

}  // namespace
}  // namespace rowlock::test
