#include <algorithm>
#include <array>
#include <mutex>
#include <stdexcept>

#include "contract/contract.hpp"
#include "support/room.hpp"

namespace rowlock::test {
namespace {

class guards : public two_clients {
 protected:
  mutex order_{locks_, "orders/42", with()};
};
ROWLOCK_CONTRACT_SUITE(guards, usual_pairs());

TEST_P(guards, let_go_at_their_end_and_when_an_exception_passes) {
  {
    const std::lock_guard guard{order_};
    EXPECT_FALSE(can_have(other_, "orders/42"));
  }
  EXPECT_TRUE(can_have(other_, "orders/42"));
  order_.lock();
  { const std::unique_lock guard{order_, std::adopt_lock}; }
  EXPECT_TRUE(can_have(other_, "orders/42"));
  try {
    const std::scoped_lock guard{order_};
    throw std::runtime_error{"work failed"};
  } catch (const std::runtime_error&) {
  }
  EXPECT_TRUE(can_have(other_, "orders/42"));
}

TEST_P(guards, unique_lock_in_all_its_forms) {
  {
    std::unique_lock guard{order_};
    EXPECT_TRUE(guard.owns_lock());
    guard.unlock();
    EXPECT_TRUE(can_have(other_, "orders/42"));
    EXPECT_TRUE(guard.try_lock());
  }
  EXPECT_TRUE(can_have(other_, "orders/42"));

  auto held = other_.acquire("orders/42", with());
  EXPECT_FALSE((std::unique_lock{order_, std::try_to_lock}.owns_lock()));
  EXPECT_FALSE((std::unique_lock{order_, 30ms}.owns_lock()));
  EXPECT_FALSE((std::unique_lock{order_, std::chrono::steady_clock::now() + 30ms}.owns_lock()));
  EXPECT_FALSE((std::unique_lock{order_, std::chrono::system_clock::now() + 30ms}.owns_lock()));
  std::unique_lock deferred{order_, std::defer_lock};
  EXPECT_TRUE(is_refused([&] { return deferred.try_lock_for(10ms); }));
  held.release();
  EXPECT_TRUE(deferred.try_lock_for(patience));
  std::unique_lock moved{std::move(deferred)};
  EXPECT_TRUE(moved.owns_lock());
  EXPECT_FALSE(can_have(other_, "orders/42"));
  moved.unlock();
  EXPECT_TRUE((std::unique_lock{order_, patience}.owns_lock()));
  EXPECT_TRUE(eventually([&] { return can_have(other_, "orders/42"); }));
}

TEST_P(guards, unique_lock_does_not_know_of_a_loss_but_held_does) {
  const std::unique_lock guard{order_};
  locks_.release_all();
  EXPECT_TRUE(guard.owns_lock());
  EXPECT_TRUE(order_.held().lost().stop_requested());
}

TEST_P(guards, scoped_lock_over_three_and_try_lock_over_three) {
  mutex a{locks_, "a", with()};
  mutex b{locks_, "b", with()};
  mutex c{locks_, "c", with()};
  {
    const std::scoped_lock guard{a, b, c};
    for (const auto* name : {"a", "b", "c"}) EXPECT_FALSE(can_have(other_, name)) << name;
  }
  for (const auto* name : {"a", "b", "c"}) EXPECT_TRUE(can_have(other_, name)) << name;

  const auto held = other_.acquire("b", with());
  EXPECT_EQ(std::try_lock(a, b, c), 1) << "the second one is taken";
  EXPECT_TRUE(can_have(other_, "a")) << "and the first was let go again";
}

TEST_P(guards, threads_of_two_clients_take_three_in_all_orders_without_deadlock) {
  constexpr int cycles = 5;
  std::array<room, 3> inside;
  on_threads(6, [&](int t) {
    std::array<std::string, 3> names{"account/0", "account/1", "account/2"};
    for (int i = 0; i < t; ++i) std::ranges::next_permutation(names);
    auto& locks = t % 2 == 0 ? locks_ : other_;
    mutex a{locks, names[0], with()};
    mutex b{locks, names[1], with()};
    mutex c{locks, names[2], with()};
    for (int i = 0; i < cycles; ++i) {
      std::lock(a, b, c);
      const std::scoped_lock guard{std::adopt_lock, a, b, c};
      for (auto& each : inside) each.visit();
    }
  });
  for (const auto& each : inside) {
    EXPECT_EQ(each.crowded(), 0);
    EXPECT_EQ(each.visits(), 6 * cycles);
  }
}

}  // namespace
}  // namespace rowlock::test
