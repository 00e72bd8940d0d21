#include "contract/sharing.hpp"

namespace rowlock::test {
namespace {

TEST_P(sharing, force_release_frees_all_of_them) {
  auto locks = connect();
  auto other = connect();
  const auto one = locks.acquire_shared(name, {.lease = 1s});
  const auto two = locks.acquire_shared(name, {.lease = 1s});
  EXPECT_TRUE(other.force_release(name));
  const auto alone = other.try_acquire(name, with());
  ASSERT_TRUE(alone);
  EXPECT_GT(alone->token(), two.token());
  EXPECT_TRUE(eventually([&] { return one.lost().stop_requested() && two.lost().stop_requested(); }));
  if (!GetParam().holds_by_transaction) {
    EXPECT_EQ(one.why_lost(), loss_reason::forced);
  }
}

TEST_P(sharing, what_was_forced_is_found_lost_though_somebody_has_the_name_now) {
  auto locks = connect();
  auto other = connect();
  auto one = locks.acquire_shared(name, {.lease = 1min});
  auto two = locks.acquire_shared(name, {.lease = 1min});
  auto alone = locks.acquire("alone", {.lease = 1min});
  EXPECT_TRUE(other.force_release(name));
  EXPECT_TRUE(other.force_release("alone"));
  const auto taken = other.acquire(name, with());
  const auto taken_too = other.acquire("alone", with());
  EXPECT_TRUE(throws(errc::lock_lost, [&] { one.release(); }));
  EXPECT_TRUE(throws(errc::lock_lost, [&] { (void)two.try_upgrade(); }));
  EXPECT_TRUE(throws(errc::lock_lost, [&] { alone.downgrade(); }));
}

TEST_P(sharing, force_release_frees_the_one_with_a_token) {
  auto locks = connect();
  auto other = connect();
  const auto one = locks.acquire_shared(name);
  const auto two = locks.acquire_shared(name);
  EXPECT_FALSE(locks.force_release(name, fencing_token{one.token().value() - 1}));
  EXPECT_TRUE(locks.force_release(name, two.token()));
  EXPECT_TRUE(two.lost().stop_requested()) << "which this client holds";
  EXPECT_EQ(one.why_lost(), loss_reason::none);
  EXPECT_FALSE(locks.force_release(name, two.token())) << "now the last that the row has seen";
  EXPECT_FALSE(other.try_acquire(name, with()));
  EXPECT_TRUE(other.force_release(name, one.token()));
  EXPECT_TRUE(other.try_acquire(name, with()));
}

TEST_P(sharing, the_sweeper_spares_the_living_and_deletes_the_dead) {
  auto locks = connect();
  const auto living = locks.acquire_shared(name, {.lease = 10min});
  {
    auto other = connect();
    const auto dead = other.acquire_shared(name, {.lease = 10min});
    db().kill_share(dead.token().value(), 2h);
    EXPECT_EQ(db().shares(), 2);
    sweeper{locks}.sweep_once();
    EXPECT_EQ(locks.find(name).value().sharers, 1);
    EXPECT_EQ(db().shares(), 1);
  }
  EXPECT_EQ(living.why_lost(), loss_reason::none);
  EXPECT_FALSE(locks.try_acquire(name, with()));
}

}  // namespace
}  // namespace rowlock::test
