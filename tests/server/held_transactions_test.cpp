#include <algorithm>
#include <atomic>

#include "server/server_test.hpp"
#include "support/test_thread.hpp"

namespace rowlock::test {
namespace {

/// Each lock by for_update keeps a connection, of which a client has few: client_options::held_transactions.
class held_transactions : public on_each_server {
 protected:
  static constexpr std::size_t most = 4;
  static constexpr auto call = 1500ms;

  static lock_options for_update() { return {.strategy = strategy::for_update}; }
  static std::string job(std::size_t number) { return "job/" + std::to_string(number); }

  client connect_impatient(std::size_t held) {
    connect().close();  // making the tables may take longer
    return connect_to(db().url(), {.connections = 4, .held_transactions = held, .call_timeout = call});
  }
  static std::vector<held_lock> take_all(client& locks) {
    std::vector<held_lock> out;
    for (std::size_t i = 0; i < most; ++i) out.push_back(locks.acquire(job(i), for_update()));
    return out;
  }
  static void expect_exhausted(const std::optional<error>& e) {
    ASSERT_TRUE(is_error(e, errc::pool_exhausted,
                         {.is_retryable = true, .outcome_is_unknown = false, .says = {"held_transactions"}}));
  }
};
ROWLOCK_SUITE_ON_EACH_SERVER(held_transactions);

// It sleeps until the end of a lease that was released meanwhile.
TEST_P(held_transactions, wake_a_waiter_that_came_before_them) {
  auto holder = connect();
  auto first = connect();
  auto next = connect();
  using clock = std::chrono::steady_clock;
  std::vector<clock::duration> waits;
  while (waits.size() < 5) {
    auto held = holder.acquire("orders/42", {.lease = long_lease});
    background by_transaction{[&](std::stop_token stop) {
      auto one = first.acquire("orders/42", for_update(), std::move(stop));
      const auto granted = clock::now();
      one.release();
      return std::pair{granted, clock::now()};
    }};
    EXPECT_TRUE(is_waited_for("orders/42"));
    let_pass(100ms);
    background by_lease{[&](std::stop_token stop) {
      next.acquire("orders/42", {.lease = long_lease}, std::move(stop)).release();
      return clock::now();
    }};
    EXPECT_TRUE(eventually([&] { return db().tickets("orders/42") == 2; }));
    let_pass(100ms);
    held.release();
    const auto [granted, released] = by_transaction.get();
    const auto end = by_lease.get();
    if (granted < end) waits.push_back(end - released);
  }
  std::sort(waits.begin(), waits.end());
  EXPECT_LT(waits[2], 300ms + 10 * time_to_answer()) << "half of the waits";
}

TEST_P(held_transactions, are_as_many_as_the_option_says) {
  constexpr std::size_t names = 100;
  auto locks = connect_impatient(most);
  std::vector<std::optional<held_lock>> held(names);
  std::vector<std::optional<error>> errors(names);
  std::atomic<bool> is_late{false};
  on_threads(names, [&](std::size_t i) {
    const stopwatch watch;
    errors[i] = error_of([&] { held[i] = locks.try_acquire(job(i), for_update()); });
    if (watch.elapsed() > call + slack()) is_late = true;
  });
  std::size_t granted = 0;
  for (std::size_t i = 0; i < names; ++i) {
    if (held[i]) {
      ++granted;
      EXPECT_FALSE(held[i]->lost().stop_requested()) << to_string(held[i]->why_lost());
    } else {
      expect_exhausted(errors[i]);
    }
  }
  EXPECT_EQ(granted, most);
  EXPECT_FALSE(is_late);
  EXPECT_LE(db().connections(), 4 + static_cast<int>(most));
}

TEST_P(held_transactions, that_are_all_in_use_are_waited_for_until_the_deadline) {
  connect().close();
  const auto expect_within = [&](client& locks, std::chrono::milliseconds limit, auto ask) {
    const auto all = take_all(locks);
    const stopwatch watch;
    expect_exhausted(error_of([&] { return ask(locks).has_value(); }));
    EXPECT_GE(watch.elapsed(), limit / 2);
    EXPECT_LT(watch.elapsed(), limit + slack());
    for (const auto& held : all) EXPECT_FALSE(held.lost().stop_requested()) << to_string(held.why_lost());
  };
  auto impatient = connect_impatient(most);
  expect_within(impatient, call, [](client& by) { return by.try_acquire("one more", for_update()); });
  impatient.close();
  auto patient = connect({.held_transactions = most, .call_timeout = 20s});
  expect_within(patient, 300ms, [](client& by) { return by.try_acquire_for("one more", 300ms, for_update()); });
}

TEST_P(held_transactions, that_are_all_in_use_leave_leases_as_they_are) {
  auto locks = connect_impatient(most);
  const auto all = take_all(locks);
  for (const auto by : {strategy::unique_index, strategy::version_cas}) {
    auto lease = locks.try_acquire("by a lease", {.strategy = by});
    ASSERT_TRUE(lease.has_value()) << to_string(by);
    EXPECT_NO_THROW(lease->release());
  }
  EXPECT_EQ(locks.list("job/").size(), most);
}

TEST_P(held_transactions, can_be_had_again_when_they_are_released) {
  auto locks = connect_impatient(most);
  auto all = take_all(locks);
  all.at(1).release();
  auto next = locks.try_acquire("next", for_update());
  ASSERT_TRUE(next.has_value());
  all.at(3) = held_lock{};
  EXPECT_TRUE(locks.try_acquire("another", for_update()).has_value());
  all.clear();
  next.reset();
  for (int i = 0; i < 20; ++i) EXPECT_NO_THROW(locks.acquire("often", for_update()).release());
  EXPECT_LE(db().connections(), 4 + static_cast<int>(most));
  all = take_all(locks);
  EXPECT_EQ(all.size(), most);
}

TEST_P(held_transactions, that_become_free_go_to_one_who_waits) {
  auto locks = connect({.held_transactions = 1});
  auto held = locks.acquire("job", for_update());
  background waiter{[&](const std::stop_token&) { return locks.try_acquire("another", for_update()).has_value(); }};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  held.release();
  EXPECT_TRUE(waiter.get());
}

TEST_P(held_transactions, that_were_lost_can_be_had_again) {
  auto locks = connect_impatient(most);
  auto all = take_all(locks);
  db().terminate_sessions();
  for (const auto& held : all) EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  for (std::size_t i = 0; i < most; ++i)
    EXPECT_TRUE(eventually([&] { return !error_of([&] { all.at(i) = locks.acquire(job(i), for_update()); }); }));
  for (const auto& held : all) EXPECT_FALSE(held.lost().stop_requested()) << to_string(held.why_lost());
}

TEST_P(held_transactions, are_not_kept_by_a_refusal_nor_by_a_wait) {
  auto locks = connect({.held_transactions = 1, .call_timeout = call});
  auto other = connect();
  for (const auto by : {strategy::for_update, strategy::unique_index}) {
    auto theirs = other.acquire("busy", {.strategy = by});
    for (int i = 0; i < 10; ++i) {
      EXPECT_FALSE(locks.try_acquire("busy", for_update()).has_value());
      EXPECT_TRUE(locks.try_acquire("free", for_update()).has_value())
          << "after a refusal because of " << to_string(by);
    }
    background waiter{[&](std::stop_token stop) { return locks.acquire("busy", for_update(), stop); }};
    for (int i = 0; i < 10; ++i)
      EXPECT_TRUE(locks.try_acquire("free", for_update()).has_value()) << "beside a wait for " << to_string(by);
    EXPECT_FALSE(waiter.is_done_within(a_moment));
    theirs.release();
    EXPECT_NO_THROW(waiter.get().release());
  }
}

TEST_P(held_transactions, are_not_kept_by_many_refusals_at_once) {
  auto locks = connect({.held_transactions = 2});
  auto other = connect();
  const auto theirs = other.acquire("busy", for_update());
  on_threads(16, [&](int) {
    for (int k = 0; k < 5; ++k) EXPECT_NO_THROW(EXPECT_FALSE(locks.try_acquire("busy", for_update()).has_value()));
  });
}

}  // namespace
}  // namespace rowlock::test
