#include "contract/contract.hpp"
#include "support/slowness.hpp"

namespace rowlock::test {
namespace {

class extend : public two_clients {
 protected:
  std::int64_t end_of(std::string_view name) { return db().row(name).value().expires_at.value(); }
  std::int64_t in(duration from_now) { return db().now() + from_now.count(); }
};
ROWLOCK_CONTRACT_SUITE(extend, leases(usual_pairs()));

TEST_P(extend, many_times_keeps_a_lease_that_nothing_renews) {
  auto held = locks_.acquire("orders/42", with({.lease = 2s, .renew = false}));
  const auto first_end = end_of("orders/42");
  int more = 0;
  ASSERT_TRUE(eventually([&] {
    const auto before = end_of("orders/42");
    held.extend(2s + std::chrono::milliseconds{++more});
    EXPECT_GT(end_of("orders/42"), before);
    return db().now() > first_end;
  }));
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_FALSE(can_have(other_, "orders/42"));
}

TEST_P(extend, never_what_was_released_or_given_up) {
  auto held = locks_.acquire("orders/42", with());
  held.release();
  EXPECT_TRUE(throws(errc::not_held, [&] { held.extend(1h); }));
  held = locks_.acquire("orders/42", with({.lease = 30s, .renew = false}));
  locks_.release_all();
  EXPECT_TRUE(throws(errc::lock_lost, [&] { held.extend(1h); }));
  EXPECT_TRUE(can_have(locks_, "orders/42"));
}

TEST_P(extend, longer_makes_the_lease_end_later_and_is_not_shortened_by_the_next_renewals) {
  const auto lease = on_this_machine(1s);
  auto held = locks_.acquire("orders/42", with({.lease = lease}));
  auto beside = locks_.acquire("beside", with({.lease = lease}));
  const auto token = held.token();
  const auto least = in(1h);
  held.extend(1h);
  const auto end = end_of("orders/42");
  EXPECT_GE(end, least);
  EXPECT_LE(end, in(1h));
  EXPECT_GT(held.expires_in().value(), 50min);
  EXPECT_EQ(held.token(), token) << "no change of ownership";
  const auto beside_end = end_of("beside");
  ASSERT_TRUE(eventually([&] {
    EXPECT_GE(end_of("orders/42"), end);
    return end_of("beside") > beside_end + std::chrono::microseconds{lease}.count();
  })) << "the renewer has been round more than once";
  EXPECT_GE(end_of("orders/42"), end);
  EXPECT_FALSE(held.lost().stop_requested());
}

TEST_P(extend, shorter_ends_the_lease_sooner) {
  auto held = locks_.acquire("orders/42", with({.lease = 1h, .renew = false}));
  held.extend(200ms);
  EXPECT_LE(end_of("orders/42"), in(200ms));
  ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_EQ(held.why_lost(), loss_reason::expired);
  EXPECT_TRUE(eventually([&] { return can_have(other_, "orders/42"); }));
}

TEST_P(extend, shorter_is_what_renewals_keep_to) {
  auto held = locks_.acquire("orders/42", with({.lease = 1h}));
  held.extend(2s);
  const auto first_end = end_of("orders/42");
  EXPECT_LE(first_end, in(2s));
  ASSERT_TRUE(eventually([&] {
    const auto end = end_of("orders/42");  // before the clock is read again
    EXPECT_LE(end, in(2s));
    return db().now() > first_end + std::chrono::microseconds{1s}.count();
  })) << "renewed in time";
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_FALSE(can_have(other_, "orders/42"));
}

TEST_P(extend, refuses_bad_lengths_and_keeps_the_lock) {
  auto held = locks_.acquire("orders/42", with({.lease = 1h, .renew = false}));
  const auto end = end_of("orders/42");
  for (const duration bad :
       {duration{0}, duration{-1}, duration{99ms}, duration{30 * 24h} + 1us, duration::max(), duration::min()})
    EXPECT_TRUE(throws(errc::invalid_option, [&] { held.extend(bad); })) << bad.count();
  EXPECT_EQ(end_of("orders/42"), end);
  EXPECT_FALSE(held.lost().stop_requested());
}

}  // namespace
}  // namespace rowlock::test
