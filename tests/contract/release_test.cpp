#include <algorithm>
#include <string>
#include <vector>

#include "contract/contract.hpp"

namespace rowlock::test {
namespace {

class release : public contract {};
ROWLOCK_CONTRACT_SUITE(release, every_pair());
class release_of_rows : public release {};
ROWLOCK_CONTRACT_SUITE(release_of_rows, rows(every_pair()));

TEST_P(release, twice_says_not_held_and_harms_nobody) {
  auto first = connect();
  auto second = connect();
  auto held = first.acquire("orders/42", with());
  held.release();
  const auto next = second.acquire("orders/42", with());
  EXPECT_TRUE(throws(errc::not_held, [&] { held.release(); }));
  EXPECT_TRUE(throws(errc::not_held, [&] { held.release(); }));
  EXPECT_FALSE(can_have(first, "orders/42"));
  EXPECT_FALSE(next.lost().stop_requested());
}

TEST_P(release, empties_the_handle) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", with());
  held.release();
  EXPECT_FALSE(static_cast<bool>(held));
  EXPECT_TRUE(held.lost().stop_requested()) << "there is nothing to rely on any more";
  EXPECT_EQ(held.why_lost(), loss_reason::none);
  EXPECT_TRUE(throws(errc::not_held, [&] { static_cast<void>(held.token()); }));
}

TEST_P(release_of_rows, of_a_lock_that_somebody_took_over_leaves_theirs) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", with());
  db().steal("orders/42");
  const auto theirs = db().row("orders/42").value();
  EXPECT_TRUE(throws(errc::lock_lost, [&] { held.release(); }));
  const auto row = db().row("orders/42").value();
  EXPECT_EQ(row.owner, theirs.owner);
  EXPECT_EQ(row.version, theirs.version);
  EXPECT_EQ(row.expires_at, theirs.expires_at);
}

TEST_P(release_of_rows, of_a_lock_that_the_same_client_took_over_leaves_it) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", with());
  db().vacate("orders/42");
  const auto again = locks.acquire("orders/42", with());
  EXPECT_TRUE(throws(errc::lock_lost, [&] { held.release(); }));
  EXPECT_FALSE(again.lost().stop_requested());
  EXPECT_FALSE(can_have(locks, "orders/42")) << "it is by acquisition, not by client";
}

TEST_P(release_of_rows, of_a_row_that_is_vacant_or_gone_says_so) {
  auto locks = connect();
  auto vacated = locks.acquire("vacated", with());
  auto erased = locks.acquire("erased", with());
  db().vacate("vacated");
  db().erase("erased");
  EXPECT_TRUE(throws(errc::lock_lost, [&] { vacated.release(); }));
  EXPECT_TRUE(throws(errc::lock_lost, [&] { erased.release(); }));
  EXPECT_FALSE(db().row("erased").has_value());
}

TEST_P(release_of_rows, vacates_the_row_and_keeps_it) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", with({.note = "nightly run"}));
  const auto before = db().row("orders/42").value();
  EXPECT_TRUE(before.owner.has_value());
  held.release();
  const auto after = db().row("orders/42");
  ASSERT_TRUE(after.has_value());
  EXPECT_FALSE(after->owner.has_value());
  EXPECT_GT(after->version, before.version) << "a release is a change of ownership";
  EXPECT_EQ(after->acquisition, before.acquisition);
  EXPECT_LE(after->expires_at.value(), db().now());
  EXPECT_GE(after->expires_at.value(), before.acquired_at.value());
}

TEST_P(release_of_rows, each_attempt_has_an_id_of_its_own) {
  auto locks = connect();
  std::vector<std::string> seen;
  for (int i = 0; i < 5; ++i) {
    const auto held = locks.acquire("orders/42", with());
    seen.push_back(db().row("orders/42").value().acquisition.value());
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
}

TEST_P(release, all_harms_nobody_else) {
  auto first = connect();
  auto second = connect();
  const auto held = second.acquire("orders/42", with());
  first.release_all();
  const auto mine = first.acquire("orders/43", with());
  second.release_all();
  EXPECT_FALSE(mine.lost().stop_requested());
  EXPECT_FALSE(can_have(second, "orders/43"));
  EXPECT_TRUE(can_have(first, "orders/42"));
}

TEST_P(release, wakes_a_waiter_of_the_same_client_and_of_another) {
  auto first = connect();
  auto second = connect();
  for (auto* waiting : {&first, &second}) {
    auto held = first.acquire("orders/42", with());
    background waiter{[&](std::stop_token stop) { waiting->acquire("orders/42", with(), stop).release(); }};
    EXPECT_FALSE(waiter.is_done_within(a_moment));
    const stopwatch watch;
    held.release();
    waiter.get();
    EXPECT_LT(watch.elapsed(), patience / 3) << "long before the lease of 30 s could have ended";
  }
}

class tokens : public contract {};
ROWLOCK_CONTRACT_SUITE(tokens, every_pair());
class tokens_of_rows : public tokens {};
ROWLOCK_CONTRACT_SUITE(tokens_of_rows, rows(every_pair()));
class tokens_of_leases : public tokens {};
ROWLOCK_CONTRACT_SUITE(tokens_of_leases, leases(every_pair()));

TEST_P(tokens, grow_with_every_acquisition_by_whomever) {
  auto first = connect();
  auto second = connect();
  fencing_token last{0};
  for (int i = 0; i < 20; ++i) {
    const auto held = (i % 3 == 0 ? first : second).acquire("orders/42", with());
    ASSERT_GT(held.token(), last) << "cycle " << i;
    last = held.token();
  }
}

TEST_P(tokens_of_rows, are_what_the_row_shows) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", with());
  EXPECT_EQ(held.token().value(), db().row("orders/42").value().version);
}

TEST_P(tokens, begin_at_the_clock_of_the_database) {
  auto locks = connect();
  const auto before = db().now();
  const auto held = locks.acquire("orders/42", with());
  EXPECT_GE(held.token().value(), before);
  EXPECT_LE(held.token().value(), db().now());
}

TEST_P(tokens, grow_across_a_deleted_row) {
  auto locks = connect();
  fencing_token last{0};
  for (int i = 0; i < 10; ++i) {
    {
      const auto held = locks.acquire("orders/42", with());
      ASSERT_GT(held.token(), last);
      last = held.token();
    }
    db().erase("orders/42");
  }
}

TEST_P(tokens_of_leases, grow_across_takeover) {
  auto first = connect();
  auto second = connect();
  const auto held = first.acquire("orders/42", with({.lease = 100ms, .renew = false}));
  const auto next = second.acquire("orders/42", with());
  EXPECT_GT(next.token(), held.token());
}

TEST_P(tokens, grow_though_the_clock_is_behind_them) {
  auto locks = connect();
  locks.acquire("orders/42", with()).release();
  const auto ahead = db().now() + std::chrono::microseconds{24h}.count();
  db().set_version("orders/42", ahead);
  auto held = locks.acquire("orders/42", with());
  EXPECT_GT(held.token().value(), ahead);
  const auto last = held.token();
  held.release();
  held = locks.acquire("orders/42", with());
  EXPECT_GT(held.token(), last);
}

TEST_P(tokens_of_rows, grow_across_an_operators_release) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", with());
  db().vacate("orders/42");
  const auto next = locks.acquire("orders/42", with());
  EXPECT_GT(next.token(), held.token());
}

}  // namespace
}  // namespace rowlock::test
