#include <optional>
#include <stop_token>

#include "contract/contract.hpp"
#include "contract/stuck_callback.hpp"
#include "support/slowness.hpp"

namespace rowlock::test {
namespace {

/// A callback of lost() that lasts, or does what one should not do, is the trouble of its own lock and of no other.
class slow_callback : public two_clients {};
ROWLOCK_CONTRACT_SUITE(slow_callback, any_pair());
class slow_callback_of_leases : public slow_callback {};
ROWLOCK_CONTRACT_SUITE(slow_callback_of_leases, leases(any_pair()));

TEST_P(slow_callback, holds_up_no_other_lock) {
  const auto one = locks_.acquire("one", with());
  const auto two = locks_.acquire("two", with());
  const auto taken_earlier = two.lost();
  stuck_callback slow{one};
  happening fired;
  const std::stop_callback callback{taken_earlier, [&] { fired.happens(); }};
  background freeing{[&](const std::stop_token&) { return locks_.force_release("one"); }};
  ASSERT_TRUE(slow.entered.within());
  background freeing_another{[&](const std::stop_token&) { return locks_.force_release("two"); }};
  EXPECT_TRUE(fired.within());
  EXPECT_TRUE(eventually([&] { return told_.lost("one") && told_.lost("two"); })) << "nor what is told of both";
  slow.let_go.happens();
  EXPECT_TRUE(freeing.get());
  EXPECT_TRUE(freeing_another.get());
  EXPECT_EQ(told_.losses().size(), 2U);
}

TEST_P(slow_callback_of_leases, holds_up_no_deadline) {
  const auto one = locks_.acquire("one", with({.lease = brisk_lease}));
  const auto two = locks_.acquire("two", with({.lease = brisk_lease, .renew = false}));
  const auto taken_earlier = two.lost();
  stuck_callback slow{one};
  db().vacate("one");
  ASSERT_TRUE(slow.entered.within());
  EXPECT_TRUE(eventually([&] { return taken_earlier.stop_requested(); }));
  EXPECT_TRUE(can_have(locks_, "other"));
  slow.let_go.happens();
}

TEST_P(slow_callback, does_not_keep_a_client_from_closing) {
  connect().close();
  auto locks = std::make_unique<client>(connect_bare({.call_timeout = 200ms}));
  const auto held = locks->acquire("orders/42", with());
  stuck_callback slow{held};
  const stopwatch watch;
  locks.reset();
  EXPECT_LT(watch.elapsed(), patience / 3);
  EXPECT_TRUE(slow.entered.within());
  EXPECT_EQ(held.why_lost(), loss_reason::client_closed);
  slow.let_go.happens();
}

// The next holder comes when the work has stopped.
TEST_P(slow_callback, keeps_the_names_that_its_client_gives_up) {
  const auto ends = {+[](client& locks) { locks.close(); }, +[](client& locks) { locks.release_all(); }};
  for (const auto end : ends) {
    auto locks = connect();
    const auto held = locks.acquire("orders/42", with());
    const auto shared = locks.acquire_shared("orders/43");
    stuck_callback slow{held};
    background ending{[&](const std::stop_token&) { end(locks); }};
    ASSERT_TRUE(slow.entered.within());
    EXPECT_FALSE(
        eventually(5 * a_moment, [&] { return can_have(other_, "orders/42") || can_have(other_, "orders/43"); }));
    slow.let_go.happens();
    EXPECT_NO_THROW(ending.get());
    EXPECT_TRUE(can_have(other_, "orders/42"));
    EXPECT_TRUE(can_have(other_, "orders/43"));
  }
}

TEST_P(slow_callback, may_release_the_lock) {
  auto held = std::optional{locks_.acquire("orders/42", with())};
  happening is_over;
  const std::stop_callback callback{held->lost(), [&] {
                                      held.reset();
                                      is_over.happens();
                                    }};
  locks_.release_all();
  EXPECT_TRUE(is_over.within());
  EXPECT_TRUE(can_have(locks_, "orders/42"));
}

TEST_P(slow_callback_of_leases, may_use_the_client_and_destroy_it) {
  auto beside = connect();
  auto locks = std::make_unique<client>(connect());
  const auto other = locks->acquire("other", with());
  const auto held = locks->acquire("orders/42", with({.lease = 100ms, .renew = false}));
  happening is_over;
  const std::stop_callback callback{held.lost(), [&] {
                                      EXPECT_TRUE(can_have(*locks, "a third"));
                                      locks.reset();
                                      is_over.happens();
                                    }};
  ASSERT_TRUE(is_over.within());
  EXPECT_EQ(other.why_lost(), loss_reason::client_closed);
  EXPECT_TRUE(can_have(beside, "other"));
}

}  // namespace
}  // namespace rowlock::test
