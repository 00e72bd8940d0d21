#include "contract/contract.hpp"

namespace rowlock::test {
namespace {

class extend : public contract {
 protected:
  std::int64_t end_of(std::string_view name) { return db().row(name).value().expires_at.value(); }
  std::int64_t in(duration from_now) { return db().now() + from_now.count(); }
};
ROWLOCK_CONTRACT_SUITE(extend, leases(usual_pairs()));

TEST_P(extend, makes_the_lease_end_later) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", with({.lease = 10s, .renew = false}));
  const auto token = held.token();
  const auto least = in(1h);
  held.extend(1h);
  EXPECT_GE(end_of("orders/42"), least);
  EXPECT_LE(end_of("orders/42"), in(1h));
  EXPECT_GT(held.expires_in().value(), 50min);
  EXPECT_EQ(held.token(), token) << "no change of ownership";
}

TEST_P(extend, many_times) {
  auto locks = connect();
  auto other = connect();
  auto held = locks.acquire("orders/42", with({.lease = 10s, .renew = false}));
  for (int i = 1; i <= 20; ++i) {
    const auto before = end_of("orders/42");
    held.extend(std::chrono::seconds{10 + i});
    EXPECT_GT(end_of("orders/42"), before);
  }
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_FALSE(can_have(other, "orders/42"));
}

TEST_P(extend, keeps_a_lease_that_nothing_renews) {
  auto locks = connect();
  auto other = connect();
  auto held = locks.acquire("orders/42", with({.lease = 2s, .renew = false}));
  const auto first_end = end_of("orders/42");
  ASSERT_TRUE(eventually([&] {
    held.extend(2s);
    return db().now() > first_end;
  }));
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_FALSE(can_have(other, "orders/42"));
}

TEST_P(extend, longer_is_not_shortened_by_the_next_renewals) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", with({.lease = 1s}));
  auto beside = locks.acquire("beside", with({.lease = 1s}));
  held.extend(1h);
  const auto end = end_of("orders/42");
  const auto beside_end = end_of("beside");
  ASSERT_TRUE(eventually([&] {
    EXPECT_GE(end_of("orders/42"), end);
    return end_of("beside") > beside_end + std::chrono::microseconds{1s}.count();
  })) << "the renewer has been round more than once";
  EXPECT_GE(end_of("orders/42"), end);
  EXPECT_FALSE(held.lost().stop_requested());
}

TEST_P(extend, shorter_ends_the_lease_sooner) {
  auto locks = connect();
  auto other = connect();
  auto held = locks.acquire("orders/42", with({.lease = 1h, .renew = false}));
  held.extend(200ms);
  EXPECT_LE(end_of("orders/42"), in(200ms));
  ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_EQ(held.why_lost(), loss_reason::expired);
  EXPECT_TRUE(eventually([&] { return can_have(other, "orders/42"); }));
}

TEST_P(extend, shorter_is_what_renewals_keep_to) {
  auto locks = connect();
  auto other = connect();
  auto held = locks.acquire("orders/42", with({.lease = 1h}));
  held.extend(1s);
  const auto first_end = end_of("orders/42");
  EXPECT_LE(first_end, in(1s));
  ASSERT_TRUE(eventually([&] {
    const auto end = end_of("orders/42");  // before the clock is read again
    EXPECT_LE(end, in(1s));
    return db().now() > first_end + std::chrono::microseconds{1s}.count();
  })) << "renewed in time";
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_FALSE(can_have(other, "orders/42"));
}

TEST_P(extend, refuses_bad_lengths_and_keeps_the_lock) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", with({.lease = 1h, .renew = false}));
  const auto end = end_of("orders/42");
  for (const duration bad :
       {duration{0}, duration{-1}, duration{99ms}, duration{30 * 24h} + 1us, duration::max(), duration::min()})
    EXPECT_TRUE(throws(errc::invalid_option, [&] { held.extend(bad); })) << bad.count();
  EXPECT_EQ(end_of("orders/42"), end);
  EXPECT_FALSE(held.lost().stop_requested());
}

TEST_P(extend, never_what_was_released) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", with());
  held.release();
  EXPECT_TRUE(throws(errc::not_held, [&] { held.extend(1h); }));
  EXPECT_TRUE(can_have(locks, "orders/42"));
}

TEST_P(extend, never_what_has_expired) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", with({.lease = 100ms, .renew = false}));
  ASSERT_TRUE(eventually([&] { return db().now() > end_of("orders/42"); }));
  EXPECT_TRUE(throws(errc::lock_lost, [&] { held.extend(1h); }));
  const auto end = end_of("orders/42");
  EXPECT_LE(end, db().now()) << "at most it was let go of";
  EXPECT_TRUE(can_have(locks, "orders/42"));
}

TEST_P(extend, never_what_the_client_has_given_up) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", with({.lease = 30s, .renew = false}));
  locks.release_all();
  EXPECT_TRUE(throws(errc::lock_lost, [&] { held.extend(1h); }));
  EXPECT_TRUE(can_have(locks, "orders/42"));
}

TEST_P(extend, never_what_somebody_else_has_and_says_so_at_once) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", with({.lease = 1h, .renew = false}));
  db().steal("orders/42");
  const auto theirs = db().row("orders/42").value();
  EXPECT_TRUE(throws(errc::lock_lost, [&] { held.extend(2h); }));
  EXPECT_TRUE(held.lost().stop_requested());
  EXPECT_EQ(held.why_lost(), loss_reason::forced) << "its lease had not run out";
  const auto row = db().row("orders/42").value();
  EXPECT_EQ(row.expires_at, theirs.expires_at);
  EXPECT_EQ(row.owner, theirs.owner);
}

TEST_P(extend, never_what_was_vacated_or_deleted) {
  auto locks = connect();
  auto vacated = locks.acquire("vacated", with({.lease = 1h, .renew = false}));
  auto erased = locks.acquire("erased", with({.lease = 1h, .renew = false}));
  db().vacate("vacated");
  db().erase("erased");
  EXPECT_TRUE(throws(errc::lock_lost, [&] { vacated.extend(2h); }));
  EXPECT_TRUE(throws(errc::lock_lost, [&] { erased.extend(2h); }));
  EXPECT_EQ(vacated.why_lost(), loss_reason::forced);
  EXPECT_EQ(erased.why_lost(), loss_reason::row_vanished);
  EXPECT_FALSE(db().row("erased").has_value()) << "extending never inserts";
  EXPECT_FALSE(db().row("vacated").value().owner.has_value()) << "nor takes again";
}

}  // namespace
}  // namespace rowlock::test
