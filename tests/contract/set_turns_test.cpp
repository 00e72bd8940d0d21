#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "contract/contract.hpp"
#include "support/tier.hpp"

// A set of names is waited for beside callers that want one of them.

namespace rowlock::test {
namespace {

class sets_in_turn : public contract {
 protected:
  using clock = std::chrono::steady_clock;

  static std::vector<lock_name> parts(int number) {
    std::vector<lock_name> out;
    for (int i = 0; i < number; ++i) out.emplace_back("part/" + std::to_string(i));
    return out;
  }
};
ROWLOCK_CONTRACT_SUITE(sets_in_turn, leases(usual_pairs()));

/// The longest of some waits.
class longest_wait {
 public:
  template <class Wait>
  auto of(Wait wait) {
    const auto from = std::chrono::steady_clock::now();
    auto out = wait();
    const std::lock_guard lock{mutex_};
    longest_ = std::max(longest_, std::chrono::steady_clock::now() - from);
    return out;
  }
  std::chrono::duration<double> get() const {
    const std::lock_guard lock{mutex_};
    return longest_;
  }

 private:
  mutable std::mutex mutex_;
  std::chrono::steady_clock::duration longest_{};
};

TEST_P(sets_in_turn, wait_not_much_longer_than_those_who_want_one_of_the_names) {
  const auto names = parts(6);
  auto locks = connect();
  std::vector<client> others;
  for (int i = 0; i < 3; ++i) others.push_back(connect());
  longest_wait of_set;
  longest_wait of_one;
  std::atomic<bool> is_over{false};
  const auto options = with({.fairness = fairness::fifo});
  {
    std::vector<std::jthread> lockers;
    for (std::size_t i = 0; i < 2 * names.size(); ++i)
      lockers.emplace_back([&, i] {
        while (!is_over) {
          const auto held = of_one.of([&] { return others[i % 3].acquire(names[i % names.size()], options); });
          std::this_thread::sleep_for(15ms);
        }
      });
    for (int had = 0; had < many(20, 5); ++had)
      if (!of_set.of([&] { return locks.try_acquire_all_for(names, patience, options); })) {
        ADD_FAILURE() << "the set was had " << had << " times";
        break;
      }
    is_over = true;
  }
  EXPECT_LE(of_set.get(), 20 * of_one.get());
}

// With a name that a waiting set keeps free, and one that the set waits for.
TEST_P(sets_in_turn, do_not_keep_a_name_from_who_has_another_of_theirs) {
  const auto names = parts(2);
  auto locks = connect();
  auto other = connect();
  const auto options = with({.fairness = fairness::fifo});
  auto held = other.acquire(names[1], options);
  background set{[&](std::stop_token stop) { return locks.try_acquire_all_for(names, 2 * patience, options, stop); }};
  ASSERT_TRUE(eventually([&] { return db().tickets() == 2; }));
  auto both = other.try_acquire_for(names[0], patience, options);
  EXPECT_TRUE(both);
  both.reset();
  held.release();
  EXPECT_TRUE(set.get());
  EXPECT_TRUE(eventually([&] { return db().tickets() == 0; }));
}

TEST_P(sets_in_turn, that_overlap_are_all_had) {
  const auto names = parts(4);
  std::vector<client> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(connect());
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 8; ++i) {
        const std::vector<lock_name> some{names[t % 4], names[(t + i) % 4], names[(t + 1) % 4]};
        const auto order = with({.fairness = (t + i) % 3 == 0 ? fairness::unfair : fairness::fifo});
        EXPECT_TRUE(clients[t % 3].try_acquire_all_for(some, 2 * patience, order));
      }
    });
  threads.clear();
  EXPECT_TRUE(eventually([&] { return db().tickets() == 0; }));
  EXPECT_TRUE(clients[0].list().empty());
}

}  // namespace
}  // namespace rowlock::test
