#include <atomic>
#include <memory>
#include <stdexcept>

#include "contract/contract.hpp"

namespace rowlock::test {
namespace {

class observer : public contract {};
ROWLOCK_CONTRACT_SUITE(observer);

TEST_P(observer, is_told_of_a_loss_once_and_after_lost_has_fired) {
  const recorder told;
  std::atomic<bool> too_early{false};
  std::stop_token lost;
  std::atomic<bool> ready{false};
  auto locks = connect({.observer = [&, record = told.observer()](const event& e) {
    if (std::holds_alternative<events::lost>(e.what) && ready && !lost.stop_requested()) too_early = true;
    record(e);
  }});
  const auto held = locks.acquire("orders/42", with());
  lost = held.lost();
  ready = true;
  locks.release_all();
  ASSERT_TRUE(eventually([&] { return told.lost("orders/42"); }));
  EXPECT_FALSE(too_early);
  const auto losses = told.losses();
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_EQ(losses[0].name.view(), "orders/42");
  EXPECT_EQ(losses[0].token, held.token());
  EXPECT_EQ(losses[0].reason, loss_reason::forced);
}

TEST_P(observer, is_told_of_nothing_when_nothing_happens) {
  const recorder told;
  {
    auto locks = connect({.observer = told.observer()});
    for (int i = 0; i < 5; ++i) locks.acquire("orders/42", with()).release();
    const auto dropped = locks.acquire("orders/42", with());
    mutex order{locks, "orders/43", with()};
    order.lock();
    order.unlock();
  }
  EXPECT_TRUE(told.losses().empty());
  EXPECT_TRUE(told.failures().empty());
}

TEST_P(observer, is_told_by_a_destructor_that_could_not_release) {
  ROWLOCK_NEEDS_A_ROW_TO_REACH();
  const recorder told;
  auto locks = connect({.observer = told.observer()});
  {
    const auto held = locks.acquire("orders/42", with());
    db().steal("orders/42");
  }
  EXPECT_TRUE(eventually([&] { return told.failed("orders/42", errc::lock_lost); }));
}

TEST_P(observer, is_told_by_an_unlock_that_could_not_release) {
  ROWLOCK_NEEDS_A_ROW_TO_REACH();
  const recorder told;
  auto locks = connect({.observer = told.observer()});
  mutex order{locks, "orders/42", with()};
  order.lock();
  db().erase("orders/42");
  order.unlock();
  EXPECT_TRUE(eventually([&] { return told.failed("orders/42", errc::lock_lost); }));
}

TEST_P(observer, is_told_when_the_tables_are_gone) {
  ROWLOCK_NEEDS_A_ROW_TO_REACH();
  const recorder told;
  auto locks = connect({.observer = told.observer()});
  {
    const auto held = locks.acquire("orders/42", with());
    db().drop_tables();
  }
  ASSERT_TRUE(eventually([&] { return !told.failures().empty(); }));
  EXPECT_EQ(told.failures()[0].name.view(), "orders/42");
  EXPECT_NE(std::string{told.failures()[0].cause.what()}, "");
}

TEST_P(observer, that_throws_does_no_harm) {
  std::atomic<int> told{0};
  auto locks = connect({.observer = [&](const event&) {
    ++told;
    throw std::runtime_error{"the log is full"};
  }});
  const auto one = locks.acquire("one", with());
  locks.release_all();
  EXPECT_TRUE(eventually([&] { return told >= 1; }));
  const auto two = locks.acquire("two", with({.lease = 3s}));
  locks.release_all();
  EXPECT_TRUE(eventually([&] { return told >= 2; })) << "the next event is told all the same";
  EXPECT_TRUE(can_have(locks, "two"));
}

TEST_P(observer, that_throws_something_odd_does_no_harm) {
  std::atomic<int> told{0};
  auto locks = connect({.observer = [&](const event&) {
    ++told;
    throw 42;
  }});
  const auto one = locks.acquire("one", with());
  locks.release_all();
  EXPECT_TRUE(eventually([&] { return told >= 1; }));
  EXPECT_TRUE(can_have(locks, "two"));
}

TEST_P(observer, may_call_the_client) {
  std::atomic<bool> called{false};
  std::atomic<client*> locks{nullptr};
  auto made = connect({.observer = [&](const event& e) {
    if (!std::holds_alternative<events::lost>(e.what)) return;
    static_cast<void>(locks.load()->find("orders/42"));
    static_cast<void>(can_have(*locks, "orders/43"));
    called = true;
  }});
  locks = &made;
  const auto held = made.acquire("orders/42", with());
  made.release_all();
  EXPECT_TRUE(eventually([&] { return called.load(); }));
}

TEST_P(observer, that_is_slow_does_not_delay_the_loss_of_another_lock) {
  if (!GetParam().has_lease) GTEST_SKIP() << "nothing expires";
  std::atomic<bool> let_go{false};
  std::atomic<bool> blocked{false};
  auto locks = connect({.observer = [&](const event&) {
    blocked = true;
    static_cast<void>(eventually([&] { return let_go.load(); }));
  }});
  const auto first = locks.acquire("first", with({.lease = 100ms, .renew = false}));
  ASSERT_TRUE(eventually([&] { return blocked.load(); }));
  const auto second = locks.acquire("second", with({.lease = 100ms, .renew = false}));
  EXPECT_TRUE(eventually([&] { return second.lost().stop_requested(); })) << "lost() does not wait for an observer";
  EXPECT_FALSE(let_go);
  let_go = true;
}

TEST_P(observer, outlives_nothing_it_should_not) {
  auto alive = std::make_shared<int>(0);
  const std::weak_ptr<int> watched = alive;
  {
    auto locks = connect({.observer = [alive](const event&) { ++*alive; }});
    alive.reset();
    EXPECT_FALSE(watched.expired());
    const auto held = locks.acquire("orders/42", with());
    locks.close();
  }
  EXPECT_TRUE(watched.expired()) << "closed, and every handle gone";
}

}  // namespace
}  // namespace rowlock::test
