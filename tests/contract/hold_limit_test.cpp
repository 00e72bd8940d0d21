#include <chrono>
#include <stop_token>
#include <thread>

#include "contract/contract.hpp"
#include "support/happening.hpp"
#include "support/late_machine.hpp"
#include "support/slowness.hpp"

namespace rowlock::test {
namespace {

constexpr auto late_at_most = 100ms * slowness;

class hold_limit : public one_client {
 protected:
  using clock = std::chrono::steady_clock;

  /// A lock, and when it was lost.
  struct watched {
    watched(client& locks, const lock_options& options) : held{locks.acquire("orders/42", options)} {}
    bool is_lost_within(std::chrono::seconds limit = patience) { return static_cast<bool>(lost.within(limit)); }

    late_machine machine{[] { std::thread{[] {}}.join(); }};  // as the watchdog starts one that notifies
    clock::time_point before = clock::now();
    held_lock held;
    clock::time_point after = clock::now();
    clock::time_point lost_at{};
    happening lost;
    std::stop_callback<std::function<void()>> on_loss{held.lost(), [this] {
                                                        lost_at = clock::now();
                                                        lost.happens();
                                                      }};
  };

  /// It is lost at the limit, neither before nor long after.
  static void expect_lost_at(duration limit, watched& what) {
    ASSERT_TRUE(what.is_lost_within());
    EXPECT_EQ(what.held.why_lost(), loss_reason::hold_limit);
    EXPECT_GE(what.lost_at, what.before + limit);
    // Several threads wake one after the other: the renewer, the one that notifies, and in between what they call.
    EXPECT_LE(what.lost_at - what.after - limit, late_at_most + 4 * what.machine.by());
  }
  std::int64_t end() { return db().row("orders/42").value().expires_at.value(); }
};
ROWLOCK_CONTRACT_SUITE(hold_limit, leases(any_pair()));

TEST_P(hold_limit, fires_at_the_limit_with_its_reason) {
  watched orders{locks_, with({.lease = 30s, .hold_limit = 700ms})};
  EXPECT_LE(orders.held.expires_in().value(), 700ms);
  expect_lost_at(700ms, orders);
  EXPECT_EQ(orders.held.expires_in(), duration::zero());
  ASSERT_TRUE(eventually([&] { return told_.lost("orders/42"); }));
  EXPECT_EQ(told_.losses().at(0).reason, loss_reason::hold_limit);
  EXPECT_TRUE(throws(errc::lock_lost, [&] { orders.held.release(); }));
}

TEST_P(hold_limit, is_renewed_until_then_and_no_longer) {
  auto other = connect();
  watched orders{locks_, with({.lease = 1500ms, .hold_limit = 4s})};
  const auto granted_at = db().row("orders/42").value().acquired_at.value();
  expect_lost_at(4s, orders);
  const auto last_end = end();
  EXPECT_GE(last_end, granted_at + std::chrono::microseconds{4s}.count()) << "the work has time to stop";
  EXPECT_LE(last_end, granted_at + std::chrono::microseconds{5500ms}.count()) << "a lease more at most";
  const auto next = other.acquire("orders/42", with());
  EXPECT_GE(db().row("orders/42").value().acquired_at.value(), last_end);
  EXPECT_GT(next.token(), orders.held.token());
}

TEST_P(hold_limit, asks_for_no_renewal_that_it_does_not_need) {
  watched orders{locks_, with({.lease = 3s, .hold_limit = 2500ms})};
  const auto beside = locks_.acquire("beside", with({.lease = 3s}));
  const auto first_end = end();
  expect_lost_at(2500ms, orders);
  EXPECT_GT(db().row("beside").value().expires_at.value(), first_end) << "the renewer has been round";
  EXPECT_EQ(end(), first_end);
}

TEST_P(hold_limit, fires_while_renewals_hang) {
  auto locks = connect();  // whose calls may take longer than the limit
  const auto hanging = locks.acquire("hanging", with({.lease = 1s}));
  watched orders{locks, with({.lease = 30s, .hold_limit = 2s})};
  const auto in_the_way = db().stall();
  expect_lost_at(2s, orders);
}

TEST_P(hold_limit, is_not_moved_by_extending) {
  watched orders{locks_, with({.lease = 30s, .hold_limit = 900ms})};
  orders.held.extend(1h);
  EXPECT_LE(orders.held.expires_in().value(), 900ms);
  expect_lost_at(900ms, orders);
  db().vacate("orders/42");
  watched again{locks_, with({.lease = 1h, .hold_limit = 3s})};
  again.held.extend(2s);
  expect_lost_at(3s, again);
}

TEST_P(hold_limit, says_nothing_after_a_release) {
  const auto options = with({.lease = 30s, .hold_limit = 500ms});
  auto held = locks_.acquire("first", options);
  const auto lost = held.lost();
  held.release();
  watched orders{locks_, options};
  ASSERT_TRUE(orders.is_lost_within());
  EXPECT_FALSE(lost.stop_requested());
}

TEST_P(hold_limit, or_the_lease_without_renewal_whichever_ends_first) {
  {
    watched orders{locks_, with({.lease = 300ms, .renew = false, .hold_limit = 1h})};
    ASSERT_TRUE(orders.is_lost_within());
    EXPECT_EQ(orders.held.why_lost(), loss_reason::expired);
  }
  watched orders{locks_, with({.lease = 1h, .renew = false, .hold_limit = 300ms})};
  expect_lost_at(300ms, orders);
}

}  // namespace
}  // namespace rowlock::test
