#include <stop_token>

#include "contract/contract.hpp"
#include "support/slowness.hpp"

namespace rowlock::test {
namespace {

class cancelled : public contract {};
ROWLOCK_CONTRACT_SUITE(cancelled, every_pair());

TEST_P(cancelled, a_blocked_acquire_throws) {
  auto first = connect();
  auto second = connect();
  const auto held = first.acquire("orders/42", with());
  background waiter{[&](std::stop_token stop) { return second.acquire("orders/42", with(), stop); }};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  const stopwatch watch;
  waiter.stop();
  EXPECT_TRUE(throws(errc::cancelled, [&] { waiter.get().release(); }));
  EXPECT_LT(watch.elapsed(), slack);
}

TEST_P(cancelled, a_blocked_timed_form_answers_nothing) {
  auto first = connect();
  auto second = connect();
  const auto held = first.acquire("orders/42", with());
  background waiter{
      [&](std::stop_token stop) { return second.try_acquire_for("orders/42", patience * 2, with(), stop); }};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  waiter.stop();
  EXPECT_FALSE(waiter.get().has_value());
}

TEST_P(cancelled, a_blocked_mutex_answers_false) {
  auto first = connect();
  auto second = connect();
  const auto held = first.acquire("orders/42", with());
  mutex order{second, "orders/42", with()};
  background waiter{[&](std::stop_token stop) { return order.lock(stop); }};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  waiter.stop();
  EXPECT_FALSE(waiter.get());
}

TEST_P(cancelled, what_was_cancelled_before_is_not_tried) {
  auto locks = connect();
  std::stop_source stopped;
  stopped.request_stop();
  const auto stop = stopped.get_token();
  EXPECT_TRUE(throws(errc::cancelled, [&] { locks.acquire("orders/42", with(), stop).release(); }));
  EXPECT_FALSE(locks.try_acquire_for("orders/42", 1h, with(), stop).has_value());
  EXPECT_FALSE(locks.try_acquire_until("orders/42", std::chrono::steady_clock::now() + 1h, with(), stop).has_value());
  EXPECT_FALSE(locks.try_acquire_for("orders/42", 0s, with(), stop).has_value());
  mutex order{locks, "orders/42", with()};
  EXPECT_FALSE(order.lock(stop));
  EXPECT_TRUE(throws(errc::not_held, [&] { static_cast<void>(order.held()); }));
  EXPECT_FALSE(db().row("orders/42").has_value()) << "a free name would have been taken";
}

TEST_P(cancelled, leaves_the_others_waiting) {
  auto first = connect();
  auto second = connect();
  auto held = first.acquire("orders/42", with());
  const auto take_and_let_go = [&](client& locks) {
    return [&locks](std::stop_token stop) { locks.acquire("orders/42", with(), stop).release(); };
  };
  background one{take_and_let_go(second)};
  background two{take_and_let_go(second)};
  background three{take_and_let_go(first)};
  EXPECT_FALSE(one.is_done_within(a_moment));
  one.stop();
  EXPECT_TRUE(throws(errc::cancelled, [&] { one.get(); }));
  EXPECT_FALSE(two.is_done_within(a_moment));
  EXPECT_FALSE(three.is_done_within(a_moment));
  held.release();
  two.get();
  three.get();
}

TEST_P(cancelled, a_stop_after_the_grant_changes_nothing) {
  auto locks = connect();
  std::stop_source source;
  const auto held = locks.acquire("orders/42", with(), source.get_token());
  source.request_stop();
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_FALSE(can_have(locks, "orders/42"));
}

// A stop that meets a release: either answer is right, but nothing may stay taken.
TEST_P(cancelled, a_stop_as_the_lock_comes_free_leaves_nothing_taken) {
  auto first = connect();
  auto second = connect();
  for (int i = 0; i < 30; ++i) {
    auto held = first.acquire("orders/42", with());
    background waiter{[&](std::stop_token stop) { return second.acquire("orders/42", with(), stop); }};
    if (i % 2 == 0) static_cast<void>(waiter.is_done_within(std::chrono::milliseconds{i % 8}));
    held.release();
    waiter.stop();
    if (const auto e = error_of([&] { return waiter.get(); })) {
      EXPECT_EQ(e->code(), errc::cancelled);
    }
    ASSERT_TRUE(eventually([&] { return can_have(first, "orders/42"); })) << "round " << i;
  }
}

}  // namespace
}  // namespace rowlock::test
