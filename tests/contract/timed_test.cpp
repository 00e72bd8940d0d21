#include <chrono>
#include <cmath>
#include <limits>

#include "contract/contract.hpp"
#include "support/slowness.hpp"

namespace rowlock::test {
namespace {

using std::chrono::steady_clock;
using std::chrono::system_clock;
using fractional = std::chrono::duration<double>;

class timed : public contract {};
ROWLOCK_CONTRACT_SUITE(timed, every_pair());
class timed_in_a_file : public timed {};
ROWLOCK_CONTRACT_SUITE(timed_in_a_file, on("sqlite", every_pair()));
class timed_of_statements_that_wait : public timed {};
ROWLOCK_CONTRACT_SUITE(timed_of_statements_that_wait, rows(not_on("postgresql", every_pair())));

TEST_P(timed, comes_back_at_the_deadline_and_not_before) {
  auto first = connect();
  auto second = connect();
  const auto held = first.acquire("orders/42", with());
  const stopwatch watch;
  EXPECT_FALSE(second.try_acquire_for("orders/42", 250ms, with()).has_value());
  EXPECT_GE(watch.elapsed(), 250ms);
  EXPECT_LT(watch.elapsed(), 250ms + slack);
}

TEST_P(timed, comes_back_at_a_time_point_of_either_clock) {
  auto first = connect();
  auto second = connect();
  const auto held = first.acquire("orders/42", with());
  const auto steady = steady_clock::now() + 120ms;
  EXPECT_FALSE(second.try_acquire_until("orders/42", steady, with()).has_value());
  EXPECT_GE(steady_clock::now(), steady);
  const auto system = system_clock::now() + 120ms;
  EXPECT_FALSE(second.try_acquire_until("orders/42", system, with()).has_value());
  EXPECT_GE(system_clock::now(), system - 5ms) << "apart from what the wall clock is slewed by";
}

TEST_P(timed, gets_it_when_it_is_released_meanwhile) {
  auto first = connect();
  auto second = connect();
  auto held = first.acquire("orders/42", with());
  background waiter{[&](std::stop_token) { return second.try_acquire_for("orders/42", patience, with()); }};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  held.release();
  EXPECT_TRUE(waiter.get().has_value());
}

TEST_P(timed, non_positive_waits_try_once) {
  auto first = connect();
  auto second = connect();
  EXPECT_TRUE(second.try_acquire_for("orders/42", 0s, with()).has_value());
  EXPECT_TRUE(second.try_acquire_for("orders/42", -1h, with()).has_value());
  EXPECT_TRUE(second.try_acquire_for("orders/42", std::chrono::hours::min(), with()).has_value());
  EXPECT_TRUE(second.try_acquire_until("orders/42", steady_clock::now() - 1h, with()).has_value());
  EXPECT_TRUE(second.try_acquire_until("orders/42", steady_clock::time_point::min(), with()).has_value());
  EXPECT_TRUE(second.try_acquire_until("orders/42", system_clock::time_point::min(), with()).has_value());

  const auto held = first.acquire("orders/42", with());
  const stopwatch watch;
  EXPECT_FALSE(second.try_acquire_for("orders/42", 0s, with()).has_value());
  EXPECT_FALSE(second.try_acquire_for("orders/42", -1us, with()).has_value());
  EXPECT_FALSE(second.try_acquire_for("orders/42", std::chrono::hours::min(), with()).has_value());
  EXPECT_FALSE(second.try_acquire_until("orders/42", steady_clock::time_point::min(), with()).has_value());
  EXPECT_FALSE(second.try_acquire_until("orders/42", system_clock::time_point::min(), with()).has_value());
  EXPECT_LT(watch.elapsed(), slack);
}

TEST_P(timed, fractions_of_a_second_count) {
  auto first = connect();
  auto second = connect();
  const auto held = first.acquire("orders/42", with());
  const stopwatch watch;
  EXPECT_FALSE(second.try_acquire_for("orders/42", fractional{0.1}, with()).has_value());
  EXPECT_GE(watch.elapsed(), 100ms);
  EXPECT_FALSE(second.try_acquire_for("orders/42", fractional{std::nan("")}, with()).has_value());
  EXPECT_FALSE(second.try_acquire_for("orders/42", -fractional{HUGE_VAL}, with()).has_value());
  EXPECT_LT(watch.elapsed(), 100ms + slack);
}

// Less than a call may take is not enough, whatever kept it: that is no failure.
TEST_P(timed_in_a_file, a_moment_in_which_others_write_it_is_not_enough) {
  auto locks = connect();
  const auto in_the_way = db().stall();
  EXPECT_FALSE(locks.try_acquire_for("orders/42", 5ms, with()).has_value());
}

TEST_P(timed_of_statements_that_wait, a_moment_in_which_all_connections_are_busy_is_not_enough) {
  auto locks = connect({.connections = 1});
  const auto in_the_way = db().stall();
  background other{[&](std::stop_token stop) {
    return error_of([&] { return locks.try_acquire_for("orders/43", patience, with(), stop); });
  }};
  EXPECT_FALSE(other.is_done_within(a_moment));  // it has the connection
  EXPECT_FALSE(locks.try_acquire_for("orders/42", 5ms, with()).has_value());
  other.stop();
  other.get();
}

TEST_P(timed, the_greatest_waits_do_not_wait_for_a_free_name) {
  auto locks = connect();
  EXPECT_TRUE(locks.try_acquire_for("orders/42", std::chrono::hours::max(), with()).has_value());
  EXPECT_TRUE(locks.try_acquire_for("orders/42", duration::max(), with()).has_value());
  EXPECT_TRUE(locks.try_acquire_for("orders/42", fractional{HUGE_VAL}, with()).has_value());
  EXPECT_TRUE(locks.try_acquire_until("orders/42", steady_clock::time_point::max(), with()).has_value());
  EXPECT_TRUE(locks.try_acquire_until("orders/42", system_clock::time_point::max(), with()).has_value());
}

TEST_P(timed, the_greatest_waits_have_no_deadline) {
  auto first = connect();
  auto second = connect();
  auto held = first.acquire("orders/42", with());
  const auto waits = [&](auto wait) {
    background waiter{[&, wait](std::stop_token stop) { return wait(stop).has_value(); }};
    EXPECT_FALSE(waiter.is_done_within(a_moment)) << "it must wait";
    waiter.stop();
    EXPECT_FALSE(waiter.get()) << "a timed form answers a stop by nothing";
  };
  waits([&](auto stop) { return second.try_acquire_for("orders/42", std::chrono::hours::max(), with(), stop); });
  waits([&](auto stop) { return second.try_acquire_for("orders/42", fractional{HUGE_VAL}, with(), stop); });
  waits(
      [&](auto stop) { return second.try_acquire_until("orders/42", steady_clock::time_point::max(), with(), stop); });
  waits(
      [&](auto stop) { return second.try_acquire_until("orders/42", system_clock::time_point::max(), with(), stop); });
  waits([&](auto stop) {
    using whole_hours = std::chrono::time_point<system_clock, std::chrono::hours>;
    return second.try_acquire_until("orders/42", whole_hours::max(), with(), stop);
  });
}

TEST_P(timed, a_mutex_waits_as_long_as_it_is_told) {
  auto first = connect();
  auto second = connect();
  auto held = first.acquire("orders/42", with());
  mutex order{second, "orders/42", with()};
  const stopwatch watch;
  EXPECT_FALSE(order.try_lock_for(100ms));
  EXPECT_GE(watch.elapsed(), 100ms);
  const auto until = steady_clock::now() + 100ms;
  EXPECT_FALSE(order.try_lock_until(until));
  EXPECT_GE(steady_clock::now(), until);
  EXPECT_FALSE(order.try_lock_until(system_clock::now() + 50ms));
  EXPECT_FALSE(order.try_lock_for(0s));
  EXPECT_FALSE(order.try_lock_for(-1h));
  EXPECT_FALSE(order.try_lock_until(steady_clock::time_point::min()));
  EXPECT_LT(watch.elapsed(), 250ms + slack);

  held.release();
  EXPECT_TRUE(order.try_lock_for(std::chrono::hours::max()));
  order.unlock();
  EXPECT_TRUE(order.try_lock_until(system_clock::time_point::max()));
  order.unlock();
}

// A time-out that meets a release: either answer is right, but nothing may stay taken. What a release has granted just
// then is released in the background.
TEST_P(timed, a_wait_that_ends_as_the_lock_comes_free_leaves_nothing_taken) {
  auto first = connect();
  auto second = connect();
  for (int i = 0; i < 30; ++i) {
    auto held = first.acquire("orders/42", with());
    background waiter{[&](std::stop_token) {
      return second.try_acquire_for("orders/42", std::chrono::milliseconds{1 + i % 10}, with());
    }};
    held.release();
    if (auto got = waiter.get()) got->release();
    ASSERT_TRUE(eventually([&] { return can_have(first, "orders/42"); })) << "round " << i;
  }
}

}  // namespace
}  // namespace rowlock::test
