#include <array>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "contract/contract.hpp"

namespace rowlock::test {
namespace {

class guards : public contract {};
ROWLOCK_CONTRACT_SUITE(guards, usual_pairs());

TEST_P(guards, lock_guard) {
  auto locks = connect();
  auto other = connect();
  mutex order{locks, "orders/42", with()};
  {
    const std::lock_guard guard{order};
    EXPECT_FALSE(can_have(other, "orders/42"));
  }
  EXPECT_TRUE(can_have(other, "orders/42"));
}

TEST_P(guards, unique_lock_in_all_its_forms) {
  auto locks = connect();
  auto other = connect();
  mutex order{locks, "orders/42", with()};
  {
    std::unique_lock guard{order};
    EXPECT_TRUE(guard.owns_lock());
    guard.unlock();
    EXPECT_TRUE(can_have(other, "orders/42"));
    EXPECT_TRUE(guard.try_lock());
  }
  EXPECT_TRUE(can_have(other, "orders/42"));

  auto held = other.acquire("orders/42", with());
  EXPECT_FALSE((std::unique_lock{order, std::try_to_lock}.owns_lock()));
  EXPECT_FALSE((std::unique_lock{order, 30ms}.owns_lock()));
  EXPECT_FALSE((std::unique_lock{order, std::chrono::steady_clock::now() + 30ms}.owns_lock()));
  EXPECT_FALSE((std::unique_lock{order, std::chrono::system_clock::now() + 30ms}.owns_lock()));
  std::unique_lock deferred{order, std::defer_lock};
  EXPECT_FALSE(deferred.try_lock_for(10ms));
  held.release();
  EXPECT_TRUE(deferred.try_lock_for(patience));
  std::unique_lock moved{std::move(deferred)};
  EXPECT_TRUE(moved.owns_lock());
  EXPECT_FALSE(can_have(other, "orders/42"));
  moved.unlock();
  EXPECT_TRUE((std::unique_lock{order, patience}.owns_lock()));
  EXPECT_TRUE(can_have(other, "orders/42"));
}

TEST_P(guards, unique_lock_adopts) {
  auto locks = connect();
  auto other = connect();
  mutex order{locks, "orders/42", with()};
  order.lock();
  { const std::unique_lock guard{order, std::adopt_lock}; }
  EXPECT_TRUE(can_have(other, "orders/42"));
}

TEST_P(guards, unique_lock_does_not_know_of_a_loss_but_held_does) {
  auto locks = connect();
  mutex order{locks, "orders/42", with()};
  const std::unique_lock guard{order};
  locks.release_all();
  EXPECT_TRUE(guard.owns_lock());
  EXPECT_TRUE(order.held().lost().stop_requested());
}

TEST_P(guards, scoped_lock_over_three_and_try_lock_over_three) {
  auto locks = connect();
  auto other = connect();
  mutex a{locks, "a", with()};
  mutex b{locks, "b", with()};
  mutex c{locks, "c", with()};
  {
    const std::scoped_lock guard{a, b, c};
    for (const auto* name : {"a", "b", "c"}) EXPECT_FALSE(can_have(other, name)) << name;
  }
  for (const auto* name : {"a", "b", "c"}) EXPECT_TRUE(can_have(other, name)) << name;

  const auto held = other.acquire("b", with());
  EXPECT_EQ(std::try_lock(a, b, c), 1) << "the second one is taken";
  EXPECT_TRUE(can_have(other, "a")) << "and the first was let go again";
}

TEST_P(guards, a_guard_lets_go_when_an_exception_passes) {
  auto locks = connect();
  auto other = connect();
  mutex order{locks, "orders/42", with()};
  try {
    const std::scoped_lock guard{order};
    throw std::runtime_error{"work failed"};
  } catch (const std::runtime_error&) {
  }
  EXPECT_TRUE(can_have(other, "orders/42"));
}

TEST_P(guards, many_threads_take_three_in_all_orders_without_deadlock) {
  auto locks = connect();
  std::array<std::unique_ptr<mutex>, 3> all;
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = std::make_unique<mutex>(locks, "account/" + std::to_string(i), with());
  std::array<std::atomic<int>, 3> inside{};
  std::atomic<int> mistakes{0};
  constexpr int cycles = 5;
  std::atomic<int> done{0};
  const auto work = [&](std::size_t x, std::size_t y, std::size_t z) {
    for (int i = 0; i < cycles; ++i) {
      const std::scoped_lock guard{*all[x], *all[y], *all[z]};
      for (auto& each : inside)
        if (each.fetch_add(1) != 0) ++mistakes;
      for (auto& each : inside) --each;
      ++done;
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.emplace_back(work, 0, 1, 2);
    threads.emplace_back(work, 0, 2, 1);
    threads.emplace_back(work, 1, 0, 2);
    threads.emplace_back(work, 1, 2, 0);
    threads.emplace_back(work, 2, 0, 1);
    threads.emplace_back(work, 2, 1, 0);
  }
  EXPECT_EQ(mistakes, 0);
  EXPECT_EQ(done, 6 * cycles);
}

TEST_P(guards, two_clients_take_two_in_opposite_order_with_std_lock) {
  auto first = connect();
  auto second = connect();
  std::atomic<int> done{0};
  const auto work = [&](client& locks, const char* one, const char* two) {
    mutex a{locks, one, with()};
    mutex b{locks, two, with()};
    for (int i = 0; i < 5; ++i) {
      std::lock(a, b);
      const std::lock_guard adopt_a{a, std::adopt_lock};
      const std::lock_guard adopt_b{b, std::adopt_lock};
      ++done;
    }
  };
  {
    const std::jthread there{[&] { work(first, "a", "b"); }};
    const std::jthread back{[&] { work(second, "b", "a"); }};
  }
  EXPECT_EQ(done, 10);
}

}  // namespace
}  // namespace rowlock::test
