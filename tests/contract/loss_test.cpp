#include <atomic>
#include <functional>
#include <stop_token>
#include <thread>

#include "contract/contract.hpp"

namespace rowlock::test {
namespace {

/// Leases here are long enough not to run out where the machine is slow, and short enough that the next renewal, which
/// is when a loss is found, comes soon.
constexpr auto short_lease = 3s;

class loss : public contract {
 protected:
  /// Takes a lock, lets somebody interfere, and waits until that is noticed.
  template <class Interfere>
  loss_reason reason_after(Interfere interfere) {
    const recorder told;
    auto locks = connect({.observer = told.observer()});
    auto held = locks.acquire("orders/42", with({.lease = short_lease}));
    const auto token = held.token();
    interfere();
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_TRUE(static_cast<bool>(held));
    EXPECT_EQ(held.expires_in(), duration::zero());
    EXPECT_TRUE(eventually([&] { return told.lost("orders/42"); }));
    const auto reason = held.why_lost();
    for (const auto& e : told.losses()) {
      EXPECT_EQ(e.token, token);
      EXPECT_EQ(e.reason, reason);
    }
    EXPECT_EQ(told.losses().size(), 1U);
    EXPECT_TRUE(throws(errc::lock_lost, [&] { held.extend(1h); }));
    EXPECT_TRUE(throws(errc::lock_lost, [&] { held.release(); }));
    EXPECT_TRUE(throws(errc::not_held, [&] { held.release(); }));
    EXPECT_EQ(told.failures().size(), 0U) << "who was told by an exception is not told twice";
    return reason;
  }
};
ROWLOCK_CONTRACT_SUITE(loss, leases(every_pair()));

// Its holder has the margin to stop.
TEST_P(loss, by_time_keeps_the_name_until_the_lease_is_over) {
  auto locks = connect();
  auto other = connect();
  const std::function<held_lock()> ways[] = {
      [&] { return locks.acquire("orders/42", with({.lease = 1s, .renew = false})); },
      [&] { return locks.acquire("orders/42", with({.lease = 2s, .hold_limit = 500ms})); },
      [&] { return locks.acquire_shared("orders/42", {.lease = 1s, .renew = false}); },
      [&] { return locks.acquire_shared("orders/42", {.lease = 2s, .hold_limit = 500ms}); }};
  for (const auto& acquire : ways) {
    const auto held = acquire();
    const auto end = db().row("orders/42").value().expires_at.value();
    ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    const auto next = other.acquire("orders/42", with());
    EXPECT_GE(db().row("orders/42").value().acquired_at.value(), end);
  }
}

TEST_P(loss, to_another_holder) {
  EXPECT_EQ(reason_after([&] { db().steal("orders/42"); }), loss_reason::forced) << "its lease had not run out";
  const auto row = db().row("orders/42").value();
  EXPECT_EQ(row.thread, "thief");
  EXPECT_GT(row.expires_at.value(), db().now() + std::chrono::microseconds{30min}.count());
}

TEST_P(loss, to_an_operator) {
  EXPECT_EQ(reason_after([&] { db().vacate("orders/42"); }), loss_reason::forced);
  EXPECT_FALSE(db().row("orders/42").value().owner.has_value()) << "not taken again by renewing";
}

TEST_P(loss, of_the_row) {
  EXPECT_EQ(reason_after([&] { db().erase("orders/42"); }), loss_reason::row_vanished);
  EXPECT_FALSE(db().row("orders/42").has_value()) << "renewing never inserts";
}

TEST_P(loss, by_a_lease_that_ended_early_in_the_database) {
  EXPECT_EQ(reason_after([&] { db().expire("orders/42"); }), loss_reason::expired);
  EXPECT_LE(db().row("orders/42").value().expires_at.value(), db().now()) << "an expired lease is not renewed";
}

TEST_P(loss, of_the_tables) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", with({.lease = short_lease}));
  db().drop_tables();
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_NE(held.why_lost(), loss_reason::none);
}

TEST_P(loss, of_one_lock_is_not_the_loss_of_others) {
  auto locks = connect();
  const auto one = locks.acquire("one", with({.lease = short_lease}));
  const auto two = locks.acquire("two", with({.lease = short_lease}));
  const auto three = locks.acquire("three", with({.lease = short_lease}));
  db().steal("two");
  ASSERT_TRUE(eventually([&] { return two.lost().stop_requested(); }));
  const auto since = db().now();
  ASSERT_TRUE(eventually([&] { return db().now() > since + std::chrono::microseconds{short_lease}.count(); }));
  EXPECT_FALSE(one.lost().stop_requested());
  EXPECT_FALSE(three.lost().stop_requested());
}

TEST_P(loss, is_found_by_release_before_the_next_renewal) {
  const recorder told;
  auto locks = connect({.observer = told.observer()});
  auto held = locks.acquire("orders/42", with({.lease = 1h}));
  db().steal("orders/42");
  EXPECT_TRUE(throws(errc::lock_lost, [&] { held.release(); }));
  EXPECT_FALSE(static_cast<bool>(held));
  EXPECT_EQ(db().row("orders/42").value().thread, "thief");
}

TEST_P(loss, of_everything_by_release_all) {
  auto locks = connect();
  auto other = connect();
  auto one = locks.acquire("one", with());
  mutex two{locks, "two", with()};
  two.lock();
  locks.release_all();
  EXPECT_TRUE(one.lost().stop_requested());
  EXPECT_EQ(one.why_lost(), loss_reason::forced);
  EXPECT_EQ(two.held().why_lost(), loss_reason::forced);
  EXPECT_TRUE(eventually([&] { return can_have(other, "one") && can_have(other, "two"); }));
  EXPECT_TRUE(throws(errc::lock_lost, [&] { one.release(); }));
  EXPECT_TRUE(can_have(locks, "one")) << "the client itself goes on";
}

class watching : public contract {};
ROWLOCK_CONTRACT_SUITE(watching, usual_pairs());

TEST_P(watching, a_release_is_not_a_loss) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", with());
  const auto lost = held.lost();
  std::atomic<int> calls{0};
  const std::stop_callback callback{lost, [&] { ++calls; }};
  held.release();
  EXPECT_FALSE(lost.stop_requested());
  EXPECT_EQ(calls, 0);
  locks.close();
  EXPECT_EQ(calls, 0) << "what was released before is not lost with the client";
}

TEST_P(watching, nor_is_dropping_the_handle_or_assigning_to_it) {
  auto locks = connect();
  std::stop_token dropped;
  {
    const auto held = locks.acquire("dropped", with());
    dropped = held.lost();
  }
  auto held = locks.acquire("assigned", with());
  const auto assigned = held.lost();
  held = locks.acquire("other", with());
  EXPECT_FALSE(dropped.stop_requested());
  EXPECT_FALSE(assigned.stop_requested());
}

TEST_P(watching, a_callback_runs_once_when_the_lock_is_lost) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", with());
  std::atomic<int> calls{0};
  const std::stop_callback callback{held.lost(), [&] { ++calls; }};
  locks.release_all();
  EXPECT_TRUE(eventually([&] { return calls == 1; }));
  locks.close();
  EXPECT_EQ(calls, 1);
}

TEST_P(watching, a_late_subscriber_learns_at_once) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", with());
  locks.release_all();
  ASSERT_TRUE(held.lost().stop_requested());
  bool called = false;
  const std::stop_callback callback{held.lost(), [&] { called = true; }};
  EXPECT_TRUE(called);
}

TEST_P(watching, a_token_outlives_handle_and_client) {
  std::stop_token token;
  {
    auto locks = connect();
    const auto held = locks.acquire("orders/42", with());
    token = held.lost();
  }
  EXPECT_FALSE(token.stop_requested());
  std::stop_token lost;
  {
    std::optional<held_lock> held;
    auto locks = connect();
    held = locks.acquire("orders/42", with());
    lost = held->lost();
    locks.close();
  }
  EXPECT_TRUE(lost.stop_requested());
}

// Releasing and registering at the same time: nothing is called that should not be, and nothing breaks.
TEST_P(watching, letting_go_while_it_is_watched) {
  auto locks = connect();
  std::atomic<int> calls{0};
  for (int i = 0; i < 50; ++i) {
    auto held = locks.acquire("orders/42", with());
    const auto token = held.lost();
    std::atomic<bool> registered{false};
    const std::jthread watcher{[&](std::stop_token enough) {
      while (!enough.stop_requested()) {
        const std::stop_callback callback{token, [&] { ++calls; }};
        registered = true;
      }
    }};
    ASSERT_TRUE(eventually([&] { return registered.load(); }));
    held.release();
  }
  EXPECT_EQ(calls, 0);
}

TEST_P(watching, losing_while_it_is_watched_from_many_threads) {
  auto locks = connect();
  std::vector<held_lock> all;
  for (int i = 0; i < 10; ++i) all.push_back(locks.acquire("job/" + std::to_string(i), with()));
  std::atomic<int> fired{0};
  {
    std::vector<std::jthread> watchers;
    for (const auto& held : all)
      watchers.emplace_back([&, token = held.lost()](std::stop_token enough) {
        while (!token.stop_requested() && !enough.stop_requested()) std::this_thread::yield();
        if (token.stop_requested()) ++fired;
      });
    locks.close();
    EXPECT_TRUE(eventually([&] { return fired == 10; }));
  }
  for (const auto& held : all) EXPECT_EQ(held.why_lost(), loss_reason::client_closed);
}

}  // namespace
}  // namespace rowlock::test
