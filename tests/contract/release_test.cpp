#include "contract/contract.hpp"

namespace rowlock::test {
namespace {

class release : public two_clients {};
ROWLOCK_CONTRACT_SUITE(release, every_pair());
class release_of_rows : public release {};
ROWLOCK_CONTRACT_SUITE(release_of_rows, rows(every_pair()));

TEST_P(release, twice_says_not_held_and_harms_nobody) {
  auto held = locks_.acquire("orders/42", with());
  held.release();
  EXPECT_FALSE(static_cast<bool>(held));
  EXPECT_TRUE(held.lost().stop_requested()) << "there is nothing to rely on any more";
  EXPECT_EQ(held.why_lost(), loss_reason::none);
  EXPECT_TRUE(throws(errc::not_held, [&] { static_cast<void>(held.token()); }));
  const auto next = other_.acquire("orders/42", with());
  EXPECT_TRUE(throws(errc::not_held, [&] { held.release(); }));
  EXPECT_TRUE(throws(errc::not_held, [&] { held.release(); }));
  EXPECT_FALSE(can_have(locks_, "orders/42"));
  EXPECT_FALSE(next.lost().stop_requested());
}

TEST_P(release_of_rows, of_a_lock_that_the_same_client_took_over_leaves_it) {
  auto held = locks_.acquire("orders/42", with());
  db().vacate("orders/42");
  const auto again = locks_.acquire("orders/42", with());
  EXPECT_TRUE(throws(errc::lock_lost, [&] { held.release(); }));
  EXPECT_FALSE(again.lost().stop_requested());
  EXPECT_FALSE(can_have(locks_, "orders/42")) << "it is by acquisition, not by client";
}

TEST_P(release_of_rows, vacates_the_row_and_keeps_it) {
  auto held = locks_.acquire("orders/42", with({.note = "nightly run"}));
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

class tokens : public two_clients {};
ROWLOCK_CONTRACT_SUITE(tokens, every_pair());

TEST_P(tokens, begin_at_the_clock_of_the_database_and_grow_with_every_acquisition_whatever_happens_between) {
  const auto before = db().now();
  fencing_token last{0};
  for (int i = 0; i < 20; ++i) {
    const auto held = (i % 3 == 0 ? locks_ : other_).acquire("orders/42", with());
    ASSERT_GT(held.token(), last) << "cycle " << i;
    EXPECT_GE(held.token().value(), before);
    last = held.token();
    if (i == 0) {
      EXPECT_LE(last.value(), db().now());
    }
    if (!GetParam().holds_by_transaction) {
      EXPECT_EQ(last.value(), db().row("orders/42").value().version);
      if (i % 4 == 1) db().vacate("orders/42");
      if (i % 4 == 2) db().erase("orders/42");
    }
  }
  for (int i = 0; i < 10; ++i) {
    db().erase("orders/42");
    const auto held = locks_.acquire("orders/42", with());
    ASSERT_GT(held.token(), last);
    last = held.token();
  }
}

TEST_P(tokens, grow_though_the_clock_is_behind_them) {
  locks_.acquire("orders/42", with()).release();
  const auto ahead = db().now() + std::chrono::microseconds{24h}.count();
  db().set_version("orders/42", ahead);
  auto held = locks_.acquire("orders/42", with());
  EXPECT_GT(held.token().value(), ahead);
  const auto last = held.token();
  held.release();
  held = locks_.acquire("orders/42", with());
  EXPECT_GT(held.token(), last);
}

}  // namespace
}  // namespace rowlock::test
