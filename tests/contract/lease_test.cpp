#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "contract/contract.hpp"
#include "support/slowness.hpp"

namespace rowlock::test {
namespace {

/// A token is the database's clock at the grant, unless that is behind an earlier token.
class lease : public two_clients {
 protected:
  std::int64_t end_of(const lock_name& name) { return db().row(name.view()).value().expires_at.value(); }
  std::int64_t start_of(const lock_name& name) { return db().row(name.view()).value().acquired_at.value(); }
};
ROWLOCK_CONTRACT_SUITE(lease, leases(every_pair()));

TEST_P(lease, lasts_as_long_as_asked_by_the_clock_of_the_database) {
  for (const duration asked : {duration{100ms}, duration{30s}, duration{30 * 24h}}) {
    const auto before = db().now();
    const auto held = locks_.acquire("orders/42", with({.lease = asked, .renew = false}));
    const auto after = db().now();
    const auto row = db().row("orders/42").value();
    EXPECT_GE(row.expires_at.value() - before, asked.count());
    EXPECT_LE(row.expires_at.value() - after, asked.count());
    EXPECT_GE(row.acquired_at.value(), before);
    EXPECT_LE(row.acquired_at.value(), after);
  }
}

TEST_P(lease, the_client_reckons_it_shorter_than_the_database) {
  const auto held = locks_.acquire("orders/42", with({.lease = 2s, .renew = false}));
  const auto asked_at = db().now();
  const auto left = held.expires_in();
  ASSERT_TRUE(left.has_value());
  EXPECT_GT(*left, 0s);
  constexpr auto margin = std::chrono::microseconds{200ms};
  constexpr auto slewing = 5'000;
  EXPECT_LE(asked_at + left->count(), end_of("orders/42") - margin.count() + slewing);
}

TEST_P(lease, that_ended_is_taken_over_though_nothing_sweeps_and_never_before) {
  const std::function<held_lock()> waits = [&] { return other_.acquire("orders/42", with()); };
  const std::function<held_lock()> waits_here = [&] { return locks_.acquire("orders/42", with()); };
  const std::function<held_lock()> keeps_trying = [&] {
    std::optional<held_lock> out;
    EXPECT_TRUE(eventually([&] { return (out = other_.try_acquire("orders/42", with())).has_value(); }));
    return std::move(out.value());
  };
  for (const auto* take_over : {&waits, &waits_here, &keeps_trying, &keeps_trying, &keeps_trying}) {
    auto held = locks_.acquire("orders/42", with({.lease = 120ms, .renew = false}));
    const auto end = end_of("orders/42");
    const auto next = (*take_over)();
    EXPECT_GE(next.token().value(), end) << "never before the lease has ended by the clock of the database";
    EXPECT_GT(next.token(), held.token());
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_TRUE(throws(errc::lock_lost, [&] { held.release(); }));
    EXPECT_FALSE(static_cast<bool>(held));
    EXPECT_FALSE(can_have(locks_, "orders/42")) << "the late release must not free the next holder's lock";
    EXPECT_FALSE(can_have(other_, "orders/42"));
    EXPECT_FALSE(next.lost().stop_requested());
  }
}

TEST_P(lease, that_is_renewed_keeps_the_lock_past_several_lengths) {
  const auto lease = on_this_machine(1s);
  const auto held = locks_.acquire("orders/42", with({.lease = lease}));
  const auto start = start_of("orders/42");
  const auto version = db().row("orders/42").value().version;
  const auto late = start + std::chrono::microseconds{lease}.count() * 7 / 2;
  ASSERT_TRUE(eventually(patience + 4 * lease, [&] {
    EXPECT_FALSE(can_have(other_, "orders/42"));
    return db().now() > late;
  }));
  EXPECT_FALSE(held.lost().stop_requested());
  const auto row = db().row("orders/42").value();
  EXPECT_GT(row.expires_at.value(), late);
  EXPECT_EQ(row.acquired_at.value(), start) << "renewing is not acquiring";
  EXPECT_EQ(row.version, version) << "and no change of ownership";
}

TEST_P(lease, all_of_many_are_renewed) {
  std::vector<held_lock> all;
  std::vector<std::int64_t> ends;
  for (int i = 0; i < 40; ++i) {
    all.push_back(locks_.acquire("job/" + std::to_string(i), with({.lease = 3s})));
    ends.push_back(end_of(all.back().name()));
  }
  const auto held = locks_.acquire("orders/42", with({.lease = 1h, .renew = false}));
  const auto end = end_of("orders/42");
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(eventually([&] { return end_of(all[i].name()) > ends[i]; })) << all[i].name().view();
    EXPECT_FALSE(all[i].lost().stop_requested());
  }
  EXPECT_EQ(end_of("orders/42"), end) << "which is not to be renewed";
}

TEST_P(lease, that_expired_is_acquired_again_by_the_same_mutex) {
  mutex order{locks_, "orders/43", with({.lease = 2s, .renew = false})};
  order.lock();
  ASSERT_TRUE(eventually([&] { return order.held().lost().stop_requested(); }));
  const auto token = order.held().token();
  order.lock();
  EXPECT_GT(order.held().token(), token);
  EXPECT_FALSE(can_have(other_, "orders/43"));
  order.unlock();
  EXPECT_TRUE(can_have(other_, "orders/43"));
}

}  // namespace
}  // namespace rowlock::test
