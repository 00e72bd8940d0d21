#include "support/room.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace rowlock::test {
namespace {

int crowded_where(bool has_door) {
  room inside;
  std::mutex door;
  std::vector<std::jthread> all;
  for (int t = 0; t < 8; ++t)
    all.emplace_back([&] {
      std::unique_lock guard{door, std::defer_lock};
      if (has_door) guard.lock();
      inside.visit();
    });
  all.clear();
  return inside.visits() == 8 ? inside.crowded() : -1;
}

TEST(room, finds_every_time_that_nothing_keeps_others_out_and_nothing_else) {
  for (int round = 0; round < 50; ++round) ASSERT_GT(crowded_where(false), 0) << round;
  EXPECT_EQ(crowded_where(true), 0);
}

}  // namespace
}  // namespace rowlock::test
