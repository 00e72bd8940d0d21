#include <string>
#include <vector>

#include "contract/contract.hpp"

namespace rowlock::test {
namespace {

/// A token is the database's clock at the grant, unless that is behind an earlier token.
class lease : public contract {
 protected:
  std::int64_t end_of(const lock_name& name) { return db().row(name.view()).value().expires_at.value(); }
  std::int64_t start_of(const lock_name& name) { return db().row(name.view()).value().acquired_at.value(); }
};
ROWLOCK_CONTRACT_SUITE(lease, leases(every_pair()));

TEST_P(lease, lasts_as_long_as_asked_by_the_clock_of_the_database) {
  auto locks = connect();
  for (const duration asked : {duration{100ms}, duration{30s}, duration{30 * 24h}}) {
    const auto before = db().now();
    const auto held = locks.acquire("orders/42", with({.lease = asked, .renew = false}));
    const auto after = db().now();
    const auto row = db().row("orders/42").value();
    EXPECT_GE(row.expires_at.value() - before, asked.count());
    EXPECT_LE(row.expires_at.value() - after, asked.count());
    EXPECT_GE(row.acquired_at.value(), before);
    EXPECT_LE(row.acquired_at.value(), after);
  }
}

TEST_P(lease, the_client_reckons_it_shorter_than_the_database) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", with({.lease = 2s, .renew = false}));
  const auto asked_at = db().now();
  const auto left = held.expires_in();
  ASSERT_TRUE(left.has_value());
  EXPECT_GT(*left, 0s);
  constexpr auto margin = std::chrono::microseconds{200ms};
  constexpr auto slewing = 5'000;
  EXPECT_LE(asked_at + left->count(), end_of("orders/42") - margin.count() + slewing);
}

TEST_P(lease, that_is_not_renewed_is_lost_as_expired) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", with({.lease = 150ms, .renew = false}));
  ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_EQ(held.why_lost(), loss_reason::expired);
  EXPECT_EQ(held.expires_in(), duration::zero());
  EXPECT_TRUE(static_cast<bool>(held)) << "lost, but not empty";
  EXPECT_EQ(held.name().view(), "orders/42");
}

TEST_P(lease, that_ended_is_taken_over_though_nothing_sweeps) {
  auto first = connect();
  auto second = connect();
  auto held = first.acquire("orders/42", with({.lease = 300ms, .renew = false}));
  const auto end = end_of("orders/42");
  const auto next = second.acquire("orders/42", with());
  EXPECT_GE(next.token().value(), end) << "never before the lease has ended by the clock of the database";
  EXPECT_GT(next.token(), held.token());
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_TRUE(throws(errc::lock_lost, [&] { held.release(); }));
  EXPECT_FALSE(static_cast<bool>(held));
  EXPECT_FALSE(can_have(first, "orders/42")) << "the late release must not free the next holder's lock";
  EXPECT_FALSE(next.lost().stop_requested());
}

TEST_P(lease, is_not_given_away_early_to_one_that_keeps_trying) {
  auto first = connect();
  auto second = connect();
  for (int round = 0; round < 3; ++round) {
    const auto held = first.acquire("orders/42", with({.lease = 120ms, .renew = false}));
    const auto end = end_of("orders/42");
    std::optional<held_lock> next;
    ASSERT_TRUE(eventually([&] { return (next = second.try_acquire("orders/42", with())).has_value(); }));
    EXPECT_GE(next->token().value(), end);
    EXPECT_GT(next->token(), held.token());
  }
}

TEST_P(lease, a_timed_wait_takes_over_a_dead_lock) {
  auto first = connect();
  auto second = connect();
  const auto held = first.acquire("orders/42", with({.lease = 1s, .renew = false}));
  EXPECT_FALSE(second.try_acquire_for("orders/42", 1ms, with()).has_value());
  EXPECT_TRUE(second.try_acquire_for("orders/42", patience, with()).has_value());
}

TEST_P(lease, a_wait_ends_with_the_lease_and_not_a_lease_later) {
  auto first = connect();
  auto second = connect();
  const auto held = first.acquire("orders/42", with({.lease = 500ms, .renew = false}));
  const auto end = end_of("orders/42");
  const auto next = second.acquire("orders/42", with({.lease = 1h}));
  EXPECT_LT(start_of("orders/42") - end, std::chrono::microseconds{patience / 3}.count());
}

TEST_P(lease, that_is_renewed_keeps_the_lock_past_several_lengths) {
  auto first = connect();
  auto second = connect();
  const auto held = first.acquire("orders/42", with({.lease = 1s}));
  const auto start = start_of("orders/42");
  const auto version = db().row("orders/42").value().version;
  ASSERT_TRUE(eventually([&] {
    EXPECT_FALSE(can_have(second, "orders/42"));
    return db().now() > start + std::chrono::microseconds{3500ms}.count();
  }));
  EXPECT_FALSE(held.lost().stop_requested());
  const auto row = db().row("orders/42").value();
  EXPECT_GT(row.expires_at.value(), start + std::chrono::microseconds{3500ms}.count());
  EXPECT_EQ(row.acquired_at.value(), start) << "renewing is not acquiring";
  EXPECT_EQ(row.version, version) << "and no change of ownership";
}

TEST_P(lease, all_of_many_are_renewed) {
  auto locks = connect();
  std::vector<held_lock> all;
  std::vector<std::int64_t> ends;
  for (int i = 0; i < 40; ++i) {
    all.push_back(locks.acquire("job/" + std::to_string(i), with({.lease = 3s})));
    ends.push_back(end_of(all.back().name()));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(eventually([&] { return end_of(all[i].name()) > ends[i]; })) << all[i].name().view();
    EXPECT_FALSE(all[i].lost().stop_requested());
  }
}

TEST_P(lease, without_renewal_stays_as_it_is) {
  auto locks = connect();
  const auto renewed = locks.acquire("renewed", with({.lease = 1s}));
  const auto held = locks.acquire("orders/42", with({.lease = 1h, .renew = false}));
  const auto end = end_of("orders/42");
  const auto renewed_end = end_of("renewed");
  ASSERT_TRUE(eventually([&] { return end_of("renewed") > renewed_end; })) << "the renewer has been round";
  EXPECT_EQ(end_of("orders/42"), end);
}

TEST_P(lease, of_an_expired_lock_can_be_had_again_by_the_same_client) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", with({.lease = 100ms, .renew = false}));
  auto again = locks.acquire("orders/42", with());
  EXPECT_GT(again.token(), held.token());
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_TRUE(throws(errc::lock_lost, [&] { held.release(); }));
  EXPECT_FALSE(again.lost().stop_requested());
  auto other = connect();
  EXPECT_FALSE(can_have(other, "orders/42"));
}

TEST_P(lease, a_mutex_is_reentrant_after_its_lease_ended) {
  auto locks = connect();
  auto other = connect();
  mutex order{locks, "orders/42", with({.lease = 1s, .renew = false})};
  order.lock();
  ASSERT_TRUE(eventually([&] { return order.held().lost().stop_requested(); }));
  const auto token = order.held().token();
  order.lock();
  EXPECT_GT(order.held().token(), token);
  EXPECT_FALSE(can_have(other, "orders/42"));
  order.unlock();
  EXPECT_TRUE(can_have(other, "orders/42"));
}

}  // namespace
}  // namespace rowlock::test
