#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "contract/queueing.hpp"
#include "support/tier.hpp"

namespace rowlock::test {
namespace {

/// More threads than anybody has connections.
class crowd : public queueing {
 protected:
  static int size() { return GetParam().strategy == strategy::unique_index ? many(1'000, 200) : many(120, 60); }
};
ROWLOCK_CONTRACT_SUITE(crowd, usual_pairs());
class crowd_of_rows : public crowd {};
ROWLOCK_CONTRACT_SUITE(crowd_of_rows, rows(usual_pairs()));

TEST_P(crowd, of_threads_waits_for_one_name_and_all_have_it) {
  auto first = connect();
  auto locks = connect({.connections = 8});
  auto held = first.acquire(name, fair());
  int visits = 0;  // guarded by the lock
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < size(); ++i)
      threads.emplace_back([&] {
        mutex order{locks, name, fair()};
        const std::lock_guard guard{order};
        ++visits;
      });
    EXPECT_TRUE(are_waiting(size()));
    held.release();
  }
  EXPECT_EQ(visits, size());
  EXPECT_TRUE(are_waiting(0));
}

TEST_P(crowd_of_rows, of_threads_waits_for_as_many_names_and_all_have_theirs) {
  auto first = connect();
  auto locks = connect({.connections = 8});
  const auto name_of = [](int i) { return "job/" + std::to_string(i); };
  std::vector<held_lock> all;
  for (int i = 0; i < size(); ++i) all.push_back(first.acquire(name_of(i), fair({.lease = 5min})));
  std::atomic<int> visits{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < size(); ++i)
      threads.emplace_back([&, i] {
        if (locks.try_acquire_for(name_of(i), patience * 2, fair({.lease = 5min}))) ++visits;
      });
    EXPECT_TRUE(are_waiting(size()));
    first.release_all();
  }
  EXPECT_EQ(visits, size());
  EXPECT_TRUE(are_waiting(0));
}

}  // namespace
}  // namespace rowlock::test
