#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "contract/queueing.hpp"
#include "support/strategies.hpp"
#include "support/test_thread.hpp"
#include "support/tier.hpp"

namespace rowlock::test {
namespace {

class fairly : public queueing {};
ROWLOCK_CONTRACT_SUITE(fairly, usual_pairs());

TEST_P(fairly, grants_follow_the_tickets_whatever_the_strategies_and_calls) {
  const client_options enough{.held_transactions = 8};
  std::array all{connect(enough), connect(enough), connect(enough)};
  auto held = locks_.acquire(name, fair());
  std::vector<waiter> waiters;
  names expected;
  for (std::size_t i = 0; i < 7; ++i) {
    const auto by = all_strategies.at(i % all_strategies.size());
    expected.push_back(std::to_string(i) + " by " + std::string{to_string(by)});
    const lock_options in_turn{.strategy = by, .fairness = fairness::fifo};
    waiters.push_back(wait_behind(all.at((i / 2) % 3), expected.back(), in_turn, i % 2 == 1));
  }
  EXPECT_EQ(queue(locks_), expected);
  held.release();
  for (const auto& each : waiters) EXPECT_TRUE(each->get());
  EXPECT_EQ(granted.names(), expected);
}

class briefly : public queueing {};
ROWLOCK_CONTRACT_SUITE(briefly, leases(usual_pairs()));

// A lock that is held only briefly is free before a ticket could be taken.
TEST_P(briefly, a_lease_is_asked_for_a_few_times_more_before_a_ticket_and_more_rarely_where_that_did_not_help) {
  const auto held = locks_.acquire(name, with());
  // A client that was refused the name looks first.
  const auto attempts_so_far = [&] { return sent(other_, "acquiring") + sent(other_, "listing locks"); };
  const auto attempts_until_it_waits = [&] {
    const auto before = attempts_so_far();
    background<bool> one{
        [&](std::stop_token stop) { return other_.try_acquire_for(name, patience, with(), stop).has_value(); }};
    EXPECT_TRUE(are_waiting(1));
    const auto attempts = attempts_so_far() - before;
    one.stop();
    EXPECT_FALSE(one.get());
    EXPECT_TRUE(are_waiting(0));
    return attempts;
  };
  EXPECT_GE(attempts_until_it_waits(), 8U);
  EXPECT_LT(attempts_until_it_waits(), 8U) << "not this time";
  EXPECT_GE(attempts_until_it_waits(), 8U);
}

// A client whose last release found a waiter, and whose last wait was long, takes a ticket at once if there is time.
TEST_P(briefly, a_free_name_is_asked_for_however_short_the_time_is) {
  for (const auto order : {fairness::unfair, fairness::fifo}) {
    const auto how = with({.fairness = order});
    auto others = other_.acquire(name, how);
    EXPECT_FALSE(locks_.try_acquire_for(name, a_moment, how));
    others.release();
    auto held = locks_.acquire(name, how);
    background one{[&](std::stop_token stop) { other_.acquire(name, how, std::move(stop)).release(); }};
    ASSERT_TRUE(are_waiting(1));
    held.release();
    one.get();
    ASSERT_TRUE(are_waiting(0));
    // Whoever releases a name that was waited for has its row locked once more, a moment later.
    EXPECT_TRUE(eventually([&] { return locks_.try_acquire_for(name, 1us, how).has_value(); }));
  }
}

// Nobody can take it between.
TEST_P(fairly, a_release_grants_the_lock_to_the_first_who_waits) {
  if (GetParam().strategy == strategy::for_update) GTEST_SKIP() << "a release ends the transaction";
  auto third = connect();
  auto held = locks_.acquire(name, fair());
  const auto token = held.token();
  background<held_lock> one{[&](std::stop_token stop) { return other_.acquire(name, fair(), std::move(stop)); }};
  ASSERT_TRUE(are_waiting(1));
  EXPECT_FALSE(one.is_done_within(a_moment));
  held.release();
  EXPECT_FALSE(third.try_acquire(name, with()).has_value());
  auto mine = one.get();
  EXPECT_GT(mine.token(), token);
  EXPECT_TRUE(eventually([&] { return third.waiters(name).empty(); }));
  EXPECT_NO_THROW(mine.release());
  EXPECT_TRUE(third.try_acquire(name, fair()).has_value());
}

// Its own ticket of before stands in nobody's way.
TEST_P(fairly, a_try_after_an_own_wait_that_was_in_vain_is_not_refused) {
  for (int i = 0; i < many(100, 20); ++i) {
    auto held = locks_.acquire(name, with());
    EXPECT_TRUE(is_refused([&] { return other_.try_acquire_for(name, 15ms, fair()); }));
    held.release();
    ASSERT_TRUE(other_.try_acquire(name, fair()).has_value()) << i;
  }
}

TEST_P(fairly, a_try_does_not_go_before_one_who_waits) {
  const auto ticket = db().enqueue(name);
  EXPECT_FALSE(locks_.try_acquire(name, fair()).has_value()) << "the name is free, and never was another's";
  EXPECT_TRUE(is_refused([&] { return locks_.try_acquire_for(name, 100ms, fair()); }));
  EXPECT_TRUE(locks_.try_acquire(name, with()).has_value()) << "it did not want to be fair";
  EXPECT_FALSE(locks_.try_acquire(name, fair()).has_value()) << "the name was let go";
  EXPECT_TRUE(is_refused([&] { return locks_.try_acquire_for(name, 100ms, fair()); }));
  EXPECT_TRUE(locks_.try_acquire_for(name, patience, with()).has_value());
  EXPECT_TRUE(locks_.try_acquire("orders/43", fair()).has_value()) << "nobody waits for that";
  ASSERT_TRUE(are_waiting(1));
  db().erase_ticket(ticket);
  EXPECT_TRUE(locks_.try_acquire(name, fair()).has_value());
}

TEST_P(fairly, one_behind_waits_until_those_before_it_have_gone) {
  auto first = connect();
  auto held = first.acquire(name, fair());
  const auto before = wait_behind(locks_, "before");
  const auto ticket = db().enqueue(name);
  const auto behind = wait_behind(locks_, "behind");
  held.release();
  EXPECT_TRUE(before->get());
  EXPECT_FALSE(behind->is_done_within(5 * a_moment));
  db().erase_ticket(ticket);
  EXPECT_TRUE(behind->get());
}

TEST_P(fairly, a_try_never_comes_before_one_who_waits_when_the_lock_is_let_go) {
  for (int round = 0; round < 15; ++round) {
    const auto who = std::to_string(round);
    auto held = locks_.acquire(name, fair());
    const auto waiting = wait_behind(other_, who);
    held.release();
    bool is_mine = false;
    ASSERT_TRUE(eventually([&] {
      is_mine = locks_.try_acquire(name, fair()).has_value();
      return is_mine || waiting->is_done_within(0ms);
    }));
    if (is_mine) {
      EXPECT_EQ(granted.names().size(), static_cast<std::size_t>(round) + 1) << "round " << round;
    }
    ASSERT_TRUE(waiting->get());
  }
}

/// More threads than anybody has connections.
class crowd : public queueing {
 protected:
  static int size() { return GetParam().strategy == strategy::unique_index ? many(1'000, 200) : many(120, 60); }
};
ROWLOCK_CONTRACT_SUITE(crowd, any_pair());
class crowd_of_rows : public crowd {};
ROWLOCK_CONTRACT_SUITE(crowd_of_rows, rows(any_pair()));

TEST_P(crowd, of_threads_waits_for_one_name_and_all_have_it) {
  auto locks = connect({.connections = 8});
  auto held = locks_.acquire(name, fair());
  int visits = 0;  // guarded by the lock
  std::vector<test_thread> threads;
  for (int i = 0; i < size(); ++i)
    threads.emplace_back([&] {
      mutex order{locks, name, fair()};
      const std::lock_guard guard{order};
      ++visits;
    });
  EXPECT_TRUE(are_waiting(size()));
  held.release();
  threads.clear();
  EXPECT_EQ(visits, size());
  EXPECT_TRUE(are_waiting(0));
}

TEST_P(crowd_of_rows, of_threads_waits_for_as_many_names_and_all_have_theirs) {
  auto locks = connect({.connections = 8});
  const auto name_of = [](int i) { return "job/" + std::to_string(i); };
  std::vector<held_lock> all;
  for (int i = 0; i < size(); ++i) all.push_back(locks_.acquire(name_of(i), fair({.lease = 5min})));
  std::atomic<int> visits{0};
  std::vector<test_thread> threads;
  for (int i = 0; i < size(); ++i)
    threads.emplace_back([&, i] {
      if (locks.try_acquire_for(name_of(i), patience * 2, fair({.lease = 5min}))) ++visits;
    });
  EXPECT_TRUE(are_waiting(size()));
  locks_.release_all();
  threads.clear();
  EXPECT_EQ(visits, size());
  EXPECT_TRUE(are_waiting(0));
}

}  // namespace
}  // namespace rowlock::test
