#include "contract/sharing.hpp"

namespace rowlock::test {
namespace {

TEST_P(sharing, is_upgraded_where_nobody_else_shares) {
  auto one = locks_.acquire_shared(name, {.note = "mine"});
  auto two = other_.acquire_shared(name);
  EXPECT_FALSE(one.try_upgrade());
  EXPECT_FALSE(two.try_upgrade()) << "neither waits for the other";
  const auto before = two.token();
  two.release();
  ASSERT_TRUE(one.try_upgrade());
  EXPECT_TRUE(one.try_upgrade()) << "a second time";
  EXPECT_GT(one.token(), before);
  EXPECT_FALSE(other_.try_acquire_shared(name));
  EXPECT_FALSE(other_.try_acquire(name, with()));
  EXPECT_EQ(other_.find(name).value().token, one.token());
  EXPECT_EQ(other_.find(name).value().note, "mine");
  EXPECT_EQ(db().shares(), 0);
  one.release();
  EXPECT_TRUE(can_have(other_, name));
}

TEST_P(sharing, is_upgraded_beside_one_who_is_dead) {
  auto one = locks_.acquire_shared(name);
  const auto dead = other_.acquire_shared(name, {.lease = 200ms, .renew = false});
  EXPECT_TRUE(eventually([&] { return one.try_upgrade(); }));
  EXPECT_TRUE(dead.lost().stop_requested());
}

TEST_P(sharing, is_downgraded_and_lets_others_in) {
  auto one = locks_.acquire(name, with());
  if (!GetParam().has_lease) {
    EXPECT_TRUE(throws(errc::unsupported, [&] { one.downgrade(); }));
    return;
  }
  background reader{[&](std::stop_token stop) { return other_.acquire_shared(name, {}, std::move(stop)); }};
  ASSERT_TRUE(eventually([&] { return db().tickets() == 1; }));
  const auto before = one.token();
  one.downgrade();
  EXPECT_GT(one.token(), before);
  const auto two = reader.get();
  EXPECT_GT(two.token(), one.token());
  EXPECT_EQ(locks_.sharers(name).size(), 2U);
  EXPECT_FALSE(one.try_upgrade());
  EXPECT_FALSE(other_.try_acquire(name, with()));
}

// A busy machine may be late for a renewal, though hardly four times.
TEST_P(sharing, is_renewed_after_a_conversion) {
  held_lock held;
  const auto outlasts_its_lease = [&] { return !eventually(1500ms, [&] { return held.lost().stop_requested(); }); };
  const auto is_kept = [&] {
    held = locks_.acquire_shared(name, {.lease = 1s});
    if (!held.try_upgrade() || !outlasts_its_lease()) return false;
    return !error_of([&] { held.downgrade(); }) && outlasts_its_lease();
  };
  EXPECT_TRUE(is_kept() || is_kept() || is_kept() || is_kept());
  EXPECT_TRUE(other_.try_acquire_shared(name));
  EXPECT_EQ(locks_.stats().held, 1U);
  held.release();
  EXPECT_TRUE(can_have(other_, name));
}

TEST_P(sharing, of_who_has_it_more_than_once_is_not_downgraded) {
  const lock_options as_job{.as = holder::named("job")};
  auto one = locks_.acquire(name, as_job);
  const auto two = locks_.acquire(name, as_job);
  EXPECT_TRUE(throws(errc::unsupported, [&] { one.downgrade(); }));
}

TEST_P(sharing, force_release_frees_all_of_them) {
  const auto one = locks_.acquire_shared(name, {.lease = 3s});
  const auto two = locks_.acquire_shared(name, {.lease = 3s});
  EXPECT_TRUE(other_.force_release(name));
  const auto alone = other_.try_acquire(name, with());
  ASSERT_TRUE(alone);
  EXPECT_GT(alone->token(), two.token());
  EXPECT_TRUE(eventually([&] { return one.lost().stop_requested() && two.lost().stop_requested(); }));
  if (!GetParam().holds_by_transaction) {
    EXPECT_EQ(one.why_lost(), loss_reason::forced);
  }
}

TEST_P(sharing, what_was_forced_is_found_lost_though_somebody_has_the_name_now) {
  auto one = locks_.acquire_shared(name, {.lease = 1min});
  auto two = locks_.acquire_shared(name, {.lease = 1min});
  auto alone = locks_.acquire("alone", {.lease = 1min});
  EXPECT_TRUE(other_.force_release(name));
  EXPECT_TRUE(other_.force_release("alone"));
  const auto taken = other_.acquire(name, with());
  const auto taken_too = other_.acquire("alone", with());
  EXPECT_TRUE(throws(errc::lock_lost, [&] { one.release(); }));
  EXPECT_TRUE(throws(errc::lock_lost, [&] { (void)two.try_upgrade(); }));
  EXPECT_TRUE(throws(errc::lock_lost, [&] { alone.downgrade(); }));
}

TEST_P(sharing, force_release_frees_the_one_with_a_token) {
  const auto one = locks_.acquire_shared(name);
  const auto two = locks_.acquire_shared(name);
  EXPECT_FALSE(locks_.force_release(name, fencing_token{one.token().value() - 1}));
  EXPECT_TRUE(locks_.force_release(name, two.token()));
  EXPECT_TRUE(two.lost().stop_requested()) << "which this client holds";
  EXPECT_EQ(one.why_lost(), loss_reason::none);
  EXPECT_FALSE(locks_.force_release(name, two.token())) << "now the last that the row has seen";
  EXPECT_FALSE(other_.try_acquire(name, with()));
  EXPECT_TRUE(other_.force_release(name, one.token()));
  EXPECT_TRUE(other_.try_acquire(name, with()));
}

TEST_P(sharing, the_sweeper_spares_the_living_and_deletes_the_dead) {
  const auto living = locks_.acquire_shared(name, {.lease = 10min});
  {
    auto other = connect();
    const auto dead = other.acquire_shared(name, {.lease = 10min});
    db().kill_share(dead.token().value(), 2h);
    EXPECT_EQ(db().shares(), 2);
    sweeper{locks_}.sweep_once();
    EXPECT_EQ(locks_.find(name).value().sharers, 1);
    EXPECT_EQ(db().shares(), 1);
  }
  EXPECT_EQ(living.why_lost(), loss_reason::none);
  EXPECT_FALSE(locks_.try_acquire(name, with()));
}

}  // namespace
}  // namespace rowlock::test
