#include "contract/sharing.hpp"

namespace rowlock::test {
namespace {

TEST_P(sharing, is_upgraded_where_nobody_else_shares) {
  auto locks = connect();
  auto other = connect();
  auto one = locks.acquire_shared(name, {.note = "mine"});
  auto two = other.acquire_shared(name);
  EXPECT_FALSE(one.try_upgrade());
  EXPECT_FALSE(two.try_upgrade()) << "neither waits for the other";
  const auto before = two.token();
  two.release();
  ASSERT_TRUE(one.try_upgrade());
  EXPECT_TRUE(one.try_upgrade()) << "a second time";
  EXPECT_GT(one.token(), before);
  EXPECT_FALSE(other.try_acquire_shared(name));
  EXPECT_FALSE(other.try_acquire(name, with()));
  EXPECT_EQ(other.find(name).value().token, one.token());
  EXPECT_EQ(other.find(name).value().note, "mine");
  EXPECT_EQ(db().shares(), 0);
  one.release();
  EXPECT_TRUE(can_have(other, name));
}

TEST_P(sharing, is_upgraded_beside_one_who_is_dead) {
  auto locks = connect();
  auto other = connect();
  auto one = locks.acquire_shared(name);
  const auto dead = other.acquire_shared(name, {.lease = 200ms, .renew = false});
  EXPECT_TRUE(eventually([&] { return one.try_upgrade(); }));
  EXPECT_TRUE(dead.lost().stop_requested());
}

TEST_P(sharing, is_downgraded_and_lets_others_in) {
  auto locks = connect();
  auto other = connect();
  auto one = locks.acquire(name, with());
  if (!GetParam().has_lease) {
    EXPECT_TRUE(throws(errc::unsupported, [&] { one.downgrade(); }));
    return;
  }
  background reader{[&](std::stop_token stop) { return other.acquire_shared(name, {}, std::move(stop)); }};
  ASSERT_TRUE(eventually([&] { return db().tickets() == 1; }));
  const auto before = one.token();
  one.downgrade();
  EXPECT_GT(one.token(), before);
  const auto two = reader.get();
  EXPECT_GT(two.token(), one.token());
  EXPECT_EQ(locks.sharers(name).size(), 2U);
  EXPECT_FALSE(one.try_upgrade());
  EXPECT_FALSE(other.try_acquire(name, with()));
}

TEST_P(sharing, is_renewed_after_a_conversion) {
  auto locks = connect();
  auto other = connect();
  auto held = locks.acquire_shared(name, {.lease = 1s});
  ASSERT_TRUE(held.try_upgrade());
  EXPECT_FALSE(eventually(1500ms, [&] { return held.lost().stop_requested(); }));
  held.downgrade();
  EXPECT_FALSE(eventually(1500ms, [&] { return held.lost().stop_requested(); }));
  EXPECT_TRUE(other.try_acquire_shared(name));
  EXPECT_EQ(locks.stats().held, 1U);
  held.release();
  EXPECT_TRUE(can_have(other, name));
}

TEST_P(sharing, of_who_has_it_more_than_once_is_not_downgraded) {
  auto locks = connect();
  const lock_options as_job{.as = holder::named("job")};
  auto one = locks.acquire(name, as_job);
  const auto two = locks.acquire(name, as_job);
  EXPECT_TRUE(throws(errc::unsupported, [&] { one.downgrade(); }));
}

}  // namespace
}  // namespace rowlock::test
