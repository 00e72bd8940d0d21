#include <atomic>
#include <functional>
#include <optional>

#include "contract/contract.hpp"
#include "support/slowness.hpp"
#include "support/tier.hpp"

namespace rowlock::test {
namespace {

class lifetime : public two_clients {};
ROWLOCK_CONTRACT_SUITE(lifetime, usual_pairs());

TEST_P(lifetime, closing_releases_what_is_held) {
  auto held = locks_.acquire("orders/42", with());
  mutex order{locks_, "orders/43", with()};
  order.lock();
  const auto shared = locks_.acquire_shared("orders/44");
  const auto also_shared = locks_.acquire_shared("orders/44");
  const auto all = locks_.acquire_all({"orders/45", "orders/46"});
  locks_.close();
  EXPECT_TRUE(held.lost().stop_requested());
  EXPECT_EQ(held.why_lost(), loss_reason::client_closed);
  EXPECT_EQ(shared.why_lost(), loss_reason::client_closed);
  EXPECT_EQ(all.why_lost(), loss_reason::client_closed);
  for (const auto* name : {"orders/42", "orders/43", "orders/44", "orders/45", "orders/46"})
    EXPECT_TRUE(can_have(other_, name)) << name;
  EXPECT_EQ(db().shares(), 0);
}

TEST_P(lifetime, what_outlives_a_closed_client_is_inert) {
  std::optional<held_lock> held;
  std::unique_ptr<mutex> order;
  {
    auto locks = connect();
    held = locks.acquire("orders/42", with());
    order = std::make_unique<mutex>(locks, "orders/43", with());
    order->lock();
  }
  const auto next = other_.acquire("orders/42", with());
  EXPECT_TRUE(static_cast<bool>(*held));
  EXPECT_EQ(held->why_lost(), loss_reason::client_closed);
  EXPECT_EQ(held->name().view(), "orders/42");
  EXPECT_GT(next.token(), held->token());
  EXPECT_EQ(held->expires_in().value_or(duration::zero()), duration::zero());
  EXPECT_TRUE(throws(GetParam().has_lease ? errc::lock_lost : errc::unsupported, [&] { held->extend(1h); }));
  EXPECT_TRUE(throws(errc::lock_lost, [&] { held->release(); }));
  EXPECT_TRUE(throws(errc::not_held, [&] { held->release(); }));
  EXPECT_EQ(order->name().view(), "orders/43");
  EXPECT_TRUE(throws(errc::client_closed, [&] { order->lock(); }));
  EXPECT_TRUE(throws(errc::client_closed, [&] { static_cast<void>(order->try_lock()); }));
  EXPECT_TRUE(throws(errc::client_closed, [&] { static_cast<void>(order->try_lock_for(1h)); }));
  order->unlock();
  order.reset();
  held.reset();
  EXPECT_FALSE(next.lost().stop_requested());
  auto third = connect();
  EXPECT_FALSE(can_have(third, "orders/42"));
}

TEST_P(lifetime, a_closed_client_refuses_every_call) {
  locks_.close();
  EXPECT_TRUE(throws(errc::client_closed, [&] { locks_.acquire("orders/42", with()).release(); }));
  EXPECT_TRUE(throws(errc::client_closed, [&] { static_cast<void>(locks_.try_acquire("orders/42", with())); }));
  EXPECT_TRUE(throws(errc::client_closed, [&] { static_cast<void>(locks_.try_acquire_for("orders/42", 1h, with())); }));
  EXPECT_TRUE(throws(errc::client_closed, [&] { static_cast<void>(locks_.list()); }));
  EXPECT_TRUE(throws(errc::client_closed, [&] { static_cast<void>(locks_.find("orders/42")); }));
  EXPECT_TRUE(throws(errc::client_closed, [&] { locks_.check(); }));
  EXPECT_TRUE(throws(errc::client_closed, [&] { static_cast<void>(locks_.diagnose()); }));
  EXPECT_TRUE(throws(errc::client_closed, [&] { static_cast<void>(locks_.database_stats()); }));
  EXPECT_TRUE(throws(errc::client_closed, [&] { static_cast<void>(locks_.schema_status()); }));
  EXPECT_TRUE(throws(errc::client_closed, [&] { locks_.force_release("orders/42"); }));
  EXPECT_TRUE(throws(errc::client_closed, [&] { const sweeper sweeps{locks_}; }));
  EXPECT_TRUE(throws(errc::client_closed, [&] { locks_.migrate(); }));
  locks_.release_all();
  locks_.close();
  locks_.close();
}

TEST_P(lifetime, destroying_the_client_under_holders_and_waiters_passes_all_on) {
  auto locks = std::make_unique<client>(connect());
  std::optional<held_lock> held = locks->acquire("one", with());
  mutex order{*locks, "two", with()};
  order.lock();
  mutex for_one{*locks, "one", with()};
  mutex for_two{*locks, "two", with()};
  background waits{[&](std::stop_token) { for_one.lock(); }};
  background waits_timed{[&](std::stop_token) { return for_two.try_lock_for(1h); }};
  background next_one{[&](std::stop_token stop) { other_.acquire("one", with(), stop).release(); }};
  background next_two{[&](std::stop_token stop) { other_.acquire("two", with(), stop).release(); }};
  EXPECT_FALSE(waits.is_done_within(a_moment));
  EXPECT_FALSE(waits_timed.is_done_within(a_moment));
  EXPECT_FALSE(next_one.is_done_within(a_moment));
  EXPECT_FALSE(next_two.is_done_within(a_moment));
  locks.reset();
  EXPECT_TRUE(throws(errc::client_closed, [&] { waits.get(); }));
  EXPECT_TRUE(throws(errc::client_closed, [&] { static_cast<void>(waits_timed.get()); }));
  next_one.get();
  next_two.get();
  EXPECT_EQ(held->why_lost(), loss_reason::client_closed);
  const auto taken = other_.acquire("one", with());
  order.unlock();
  held.reset();
  EXPECT_FALSE(taken.lost().stop_requested()) << "what is left over lets go of nothing";
  EXPECT_TRUE(can_have(other_, "two"));
}

// In each of the ways that lead to a lock: nobody gets it, and nothing is left behind.
TEST_P(lifetime, a_grant_that_comes_while_it_closes_is_nobodys) {
  const auto ask_alone = [&](client& locks) { return locks.try_acquire("a", with()).has_value(); };
  const auto share = [](client& locks) { return locks.try_acquire_shared("a").has_value(); };
  const auto ask_for_any = [](client& locks) { return locks.try_acquire_any({"a", "b"}).has_value(); };
  const auto ask_for_all = [](client& locks) { return locks.try_acquire_all({"a", "b"}).has_value(); };
  const auto ask_with_others = [&](client& locks) {
    std::vector<test_thread> others;
    for (const char* const name : {"c", "d", "e", "f"})
      others.emplace_back([&, name] { error_of([&] { return locks.try_acquire(name, with()).has_value(); }); });
    return ask_alone(locks);
  };
  const std::function<bool(client&)> ways[] = {ask_alone, share, ask_for_any, ask_for_all, ask_with_others};
  for (const auto& ask : ways) {
    for (const char* const name : {"a", "b", "c", "d", "e", "f"}) other_.acquire(name).release();
    auto locks = connect();
    auto stall = db().stall();
    background asks{[&](const std::stop_token&) {
      bool is_granted = false;
      error_of([&] { return is_granted = ask(locks); });
      return is_granted;
    }};
    ASSERT_TRUE(eventually([&] { return locks.stats().connections_in_use + locks.stats().held_transactions > 0; }));
    background closes{[&](const std::stop_token&) { locks.close(); }};
    ASSERT_TRUE(eventually([&] { return throws(errc::client_closed, [&] { locks.find("a"); }); }));
    stall.reset();
    EXPECT_FALSE(asks.get());
    EXPECT_NO_THROW(closes.get());
    for (const char* const name : {"a", "b", "c", "d", "e", "f"}) EXPECT_TRUE(can_have(other_, name)) << name;
  }
}

// Whoever has waited for long, and was refused just now, sleeps for nearly as long again, unless it is woken.
TEST_P(lifetime, closing_wakes_those_who_have_waited_for_long) {
  const auto taken = other_.acquire("orders/42", with());
  const auto wait = [&](std::stop_token stop) { return locks_.acquire("orders/42", with(), std::move(stop)); };
  background waits{wait};
  background waits_behind{wait};
  EXPECT_FALSE(waits.is_done_within(2s));
  const auto before = sent(locks_, "acquiring");
  eventually(5s, [&] { return sent(locks_, "acquiring") > before; });
  const stopwatch watch;
  locks_.close();
  EXPECT_LT(watch.elapsed(), on_this_machine(1s));
  for (auto* each : {&waits, &waits_behind})
    EXPECT_TRUE(throws(errc::client_closed, [&] { static_cast<void>(each->get()); }));
}

TEST_P(lifetime, moving_the_client_disturbs_neither_holders_nor_waiters) {
  auto taken = other_.acquire("waited for", with());
  auto held = locks_.acquire("orders/42", with({.lease = 3s}));
  mutex waiting{locks_, "waited for", with()};
  background waiter{[&](std::stop_token) {
    waiting.lock();
    waiting.unlock();
  }};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  client moved{std::move(locks_)};
  { const client gone{std::move(locks_)}; }  // NOLINT(bugprone-use-after-move): it is empty, and goes
  taken.release();
  waiter.get();
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_FALSE(can_have(other_, "orders/42"));
  EXPECT_FALSE(can_have(moved, "orders/42"));
  held.release();
  EXPECT_TRUE(can_have(moved, "orders/42"));
}

TEST_P(lifetime, move_assignment_closes_what_was_there_before) {
  auto one = connect();
  auto two = connect();
  const auto held = one.acquire("one", with());
  const auto kept = two.acquire("two", with());
  one = std::move(two);
  EXPECT_EQ(held.why_lost(), loss_reason::client_closed);
  EXPECT_FALSE(kept.lost().stop_requested());
  EXPECT_TRUE(can_have(one, "one"));
  EXPECT_FALSE(can_have(one, "two"));
}

TEST_P(lifetime, many_may_close_at_once) {
  const auto held = locks_.acquire("orders/42", with());
  on_threads(4, [&](int) { locks_.close(); });
  EXPECT_EQ(held.why_lost(), loss_reason::client_closed);
}

// A client that hands over within itself, one that does so now and then, and one whose requests travel together.
TEST_P(lifetime, closing_in_the_middle_of_work_leaves_nothing_taken) {
  const std::pair<int, int> crowds[] = {
      {8, 1}, {6, 3}, {GetParam().has_lease ? 64 : 12, GetParam().has_lease ? 64 : 12}};
  const auto name = [](int number) { return "job/" + std::to_string(number); };
  for (int round = 0; round < many(30, 9); ++round) {
    const auto& crowd = crowds[round % 3];
    auto locks = connect();
    std::atomic<int> cycles{0};
    std::atomic<int> ended{0};
    test_thread closing{[&] {
      EXPECT_TRUE(eventually([&] { return cycles > (round + 2) * crowd.first; }));
      locks.close();
    }};
    on_threads(crowd.first, [&](int t) {
      const auto why = error_of([&] {
        for (;; ++cycles) locks.acquire(name(t % crowd.second), with()).release();
      });
      if (why && (why->code() == errc::client_closed || why->code() == errc::lock_lost)) ++ended;
    });
    closing.join();  // their calls end before the client has released what they had
    EXPECT_EQ(ended, crowd.first);
    for (int i = 0; i < crowd.second; ++i) EXPECT_TRUE(can_have(other_, name(i))) << i;
  }
}

TEST_P(lifetime, handles_may_be_dropped_while_the_client_closes) {
  for (int round = 0; round < 10; ++round) {
    auto locks = std::make_unique<client>(connect());
    std::vector<held_lock> all;
    for (int i = 0; i < 8; ++i) all.push_back(locks->acquire("job/" + std::to_string(i), with()));
    const test_thread dropper{[&] { all.clear(); }};
    locks.reset();
  }
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(can_have(other_, "job/" + std::to_string(i)));
}

TEST_P(lifetime, a_client_that_did_nothing_goes_at_once) {
  const stopwatch watch;
  for (int i = 0; i < 20; ++i) static_cast<void>(connect_bare());
  EXPECT_LT(watch.elapsed(), patience / 3);
}

}  // namespace
}  // namespace rowlock::test
