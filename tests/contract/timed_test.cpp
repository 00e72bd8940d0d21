#include <chrono>
#include <cmath>
#include <stop_token>
#include <utility>

#include "contract/contract.hpp"
#include "support/slowness.hpp"

namespace rowlock::test {
namespace {

using std::chrono::steady_clock;
using std::chrono::system_clock;
using fractional = std::chrono::duration<double>;

class timed : public two_clients {
 protected:
  /// For so long, or until then.
  template <class Rep, class Period>
  static bool can_get(client& by, std::chrono::duration<Rep, Period> wait, std::stop_token stop = {}) {
    return by.try_acquire_for("orders/42", wait, with(), std::move(stop)).has_value();
  }
  template <class Clock, class Duration>
  static bool can_get(client& by, std::chrono::time_point<Clock, Duration> until, std::stop_token stop = {}) {
    return by.try_acquire_until("orders/42", until, with(), std::move(stop)).has_value();
  }

  template <class Check>
  static void for_each_that_is_over(Check check) {
    check(0s);
    check(-1us);
    check(-1h);
    check(std::chrono::hours::min());
    check(-fractional{HUGE_VAL});
    check(fractional{std::nan("")});
    check(steady_clock::now() - 1h);
    check(steady_clock::time_point::min());
    check(system_clock::time_point::min());
  }
  template <class Check>
  static void for_each_that_never_ends(Check check) {
    check(std::chrono::hours::max());
    check(duration::max());
    check(fractional{HUGE_VAL});
    check(steady_clock::time_point::max());
    check(system_clock::time_point::max());
    check(std::chrono::time_point<system_clock, std::chrono::hours>::max());
  }
};
ROWLOCK_CONTRACT_SUITE(timed, every_pair());
class timed_in_a_file : public timed {};
ROWLOCK_CONTRACT_SUITE(timed_in_a_file, on("sqlite", every_pair()));
class timed_of_statements_that_wait : public timed {};
ROWLOCK_CONTRACT_SUITE(timed_of_statements_that_wait, rows(not_on("postgresql", every_pair())));

TEST_P(timed, comes_back_at_the_deadline_and_not_before) {
  const auto held = locks_.acquire("orders/42", with());
  const auto check = [&](auto wait) {
    const stopwatch watch;
    EXPECT_FALSE(can_get(other_, wait));
    EXPECT_GE(watch.elapsed(), wait);
    EXPECT_LT(watch.elapsed(), wait + slack());
  };
  check(250ms);
  check(fractional{0.1});
  const auto steady = steady_clock::now() + 120ms;
  EXPECT_FALSE(can_get(other_, steady));
  EXPECT_GE(steady_clock::now(), steady);
  const auto system = system_clock::now() + 120ms;
  EXPECT_FALSE(can_get(other_, system));
  EXPECT_GE(system_clock::now(), system - 5ms) << "apart from what the wall clock is slewed by";
}

TEST_P(timed, tries_once_where_its_time_is_over) {
  for_each_that_is_over([&](auto when) { EXPECT_TRUE(can_get(other_, when)); });
  const auto held = locks_.acquire("orders/42", with());
  const stopwatch watch;
  for_each_that_is_over([&](auto when) { EXPECT_FALSE(can_get(other_, when)); });
  EXPECT_LT(watch.elapsed(), slack());
}

// Less than a call may take is not enough, whatever kept it: that is no failure.
TEST_P(timed_in_a_file, a_moment_in_which_others_write_it_is_not_enough) {
  const auto in_the_way = db().stall();
  EXPECT_FALSE(locks_.try_acquire_for("orders/42", 5ms, with()).has_value());
}

// It tells of every commit in it, so that those who wait need not try.
TEST_P(timed_in_a_file, a_wait_tries_seldom) {
  if (!GetParam().has_lease) return;
  const auto held = locks_.acquire("orders/42", with({.lease = 1h, .renew = false}));
  EXPECT_FALSE(other_.try_acquire_for("orders/42", 1500ms, with()).has_value());
  // Each pause as long as the wait before it: 10 ms, 20 ms, …; by asking there would be about 20.
  EXPECT_LE(sent(other_, "acquiring"), 2 * 12U);
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

TEST_P(timed, has_no_deadline_where_its_time_never_ends) {
  for_each_that_never_ends([&](auto when) { EXPECT_TRUE(can_get(other_, when)); });
  const auto held = locks_.acquire("orders/42", with());
  for_each_that_never_ends([&](auto when) {
    background waiter{[&, when](std::stop_token stop) { return can_get(other_, when, std::move(stop)); }};
    EXPECT_FALSE(waiter.is_done_within(a_moment)) << "it must wait";
    waiter.stop();
    EXPECT_FALSE(waiter.get());
  });
}

TEST_P(timed, a_mutex_waits_as_long_as_it_is_told) {
  auto held = locks_.acquire("orders/42", with());
  mutex order{other_, "orders/42", with()};
  const stopwatch watch;
  EXPECT_TRUE(is_refused([&] { return order.try_lock_for(100ms); }));
  EXPECT_GE(watch.elapsed(), 100ms);
  const auto until = steady_clock::now() + 100ms;
  EXPECT_FALSE(order.try_lock_until(until));
  EXPECT_GE(steady_clock::now(), until);
  EXPECT_FALSE(order.try_lock_until(system_clock::now() + 50ms));
  EXPECT_FALSE(order.try_lock_for(0s));
  EXPECT_FALSE(order.try_lock_for(-1h));
  EXPECT_FALSE(order.try_lock_until(steady_clock::time_point::min()));
  EXPECT_LT(watch.elapsed(), 250ms + slack());

  held.release();
  EXPECT_TRUE(order.try_lock_for(std::chrono::hours::max()));
  order.unlock();
  EXPECT_TRUE(order.try_lock_until(system_clock::time_point::max()));
  order.unlock();
}

// A time-out that meets a release: either answer is right, but nothing may stay taken. What a release has granted just
// then is released in the background.
TEST_P(timed, a_wait_that_ends_as_the_lock_comes_free_leaves_nothing_taken) {
  for (int i = 0; i < 30; ++i) {
    auto held = locks_.acquire("orders/42", with());
    background waiter{[&](std::stop_token) {
      return other_.try_acquire_for("orders/42", std::chrono::milliseconds{1 + i % 10}, with());
    }};
    held.release();
    if (auto got = waiter.get()) got->release();
    ASSERT_TRUE(eventually([&] { return can_have(locks_, "orders/42"); })) << "round " << i;
  }
}

}  // namespace
}  // namespace rowlock::test
