#include "server/server_test.hpp"
#include "support/late_machine.hpp"

namespace rowlock::test {
namespace {

constexpr auto short_call = 500ms;
constexpr auto soon_after_a_restart = 15s;

/// A server that goes and comes back.
class restarted_server : public on_private_server {
 protected:
  client connect(client_options options = {}) {
    options.call_timeout = short_call;
    return server_test::connect(options);
  }
  bool is_renewed(const std::string& name) {
    const auto before = expiry(name);
    return eventually([&] { return expiry(name) > before; });
  }
};
ROWLOCK_SUITE_ON_EACH_SERVER(restarted_server);

TEST_P(restarted_server, keeps_leases_that_outlive_it_and_its_crash) {
  auto locks = connect();
  const auto one = locks.acquire("one", {.lease = 20s});
  const auto two = locks.acquire("two", {.lease = 20s});
  for (const bool crashes : {false, true}) {
    SCOPED_TRACE(crashes);
    ASSERT_TRUE(is_renewed("one"));
    restart(crashes);
    for (const auto* held : {&one, &two}) {
      const std::string name{held->name().view()};
      EXPECT_TRUE(is_held_by(name, *held));
      EXPECT_TRUE(is_renewed(name));
      EXPECT_FALSE(held->lost().stop_requested()) << to_string(held->why_lost());
    }
  }
}

TEST_P(restarted_server, keeps_durable_releases_after_a_crash) {
  auto locks = connect({.durable_release = true});
  locks.acquire("orders/42", {.lease = long_lease}).release();
  restart(true);
  EXPECT_TRUE(is_vacant("orders/42"));
}

TEST_P(restarted_server, grants_larger_tokens_after_a_crash_that_forgot_a_release) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", {.lease = 3s});
  const auto before = held.token();
  held.release();
  restart(true);
  const auto next = locks.try_acquire_for("orders/42", soon_after_a_restart);
  ASSERT_TRUE(next.has_value());
  EXPECT_GT(next->token(), before);
}

TEST_P(restarted_server, that_is_stopped_or_frozen_loses_its_leases_and_lets_clients_close_in_time) {
  for (const bool is_frozen : {false, true}) {
    SCOPED_TRACE(is_frozen);
    const recorder told;
    auto locks = connect({.observer = told.observer()});
    auto other = connect();
    const auto held = locks.acquire("orders/42", {.lease = 2s});
    const auto kept = other.acquire(is_frozen ? "frozen" : "stopped", {.lease = long_lease});
    const late_machine machine;
    auto ice = is_frozen ? server->freeze() : nullptr;
    if (!is_frozen) server->stop();
    const stopwatch watch;
    ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_LT(watch.elapsed(), 2s + machine.by()) << "before the lease ends";
    EXPECT_EQ(held.why_lost(), loss_reason::unreachable);
    EXPECT_TRUE(eventually([&] { return told.lost("orders/42"); }));
    const auto failed = told.all<events::renewal_failed>();
    ASSERT_GE(failed.size(), 1U);
    EXPECT_EQ(failed[0].name.view(), "orders/42");
    EXPECT_EQ(failed[0].token, held.token());
    EXPECT_GT(failed[0].left, 0s);
    EXPECT_TRUE(
        eventually([&] { return locks.stats().renewal_failures == told.all<events::renewal_failed>().size(); }));
    const stopwatch closing;
    other.close();
    EXPECT_LT(closing.elapsed(), short_call + slack());
    EXPECT_EQ(kept.why_lost(), loss_reason::client_closed);
    is_frozen ? ice.reset() : server->start();
    const auto next = locks.try_acquire_for("orders/42", soon_after_a_restart);
    ASSERT_TRUE(next.has_value()) << "the same client goes on";
    EXPECT_GT(next->token(), held.token());
    EXPECT_TRUE(is_held_by("orders/42", *next));
  }
}

TEST_P(restarted_server, that_is_away_fails_calls_that_may_be_repeated) {
  auto locks = connect();
  server->stop();
  const stopwatch watch;
  const auto e = error_of([&] { return locks.try_acquire("orders/42").has_value(); });
  EXPECT_LT(watch.elapsed(), short_call + slack());
  ASSERT_TRUE(is_error(e, errc::connection_failed, {.is_retryable = true, .outcome_is_unknown = false}));
  server->start();
  EXPECT_TRUE(locks.try_acquire_for("orders/42", soon_after_a_restart).has_value());
}

TEST_P(restarted_server, is_ridden_out_by_a_wait) {
  auto locks = connect();
  auto other = connect();
  auto theirs = other.acquire("orders/42", {.lease = 20s});
  background waiter{waiting(locks)};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  restart();
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  EXPECT_TRUE(is_held_by("orders/42", theirs));
  theirs.release();
  EXPECT_TRUE(is_held_by("orders/42", waiter.get()));
}

TEST_P(restarted_server, keeps_its_queue) {
  auto locks = connect();
  auto second = connect();
  auto third = connect();
  const lock_options fair{.lease = 20s, .fairness = fairness::fifo};
  for (const bool crashes : {false, true}) {
    auto theirs = locks.acquire("orders/42", fair);
    background one{waiting(second, fair)};
    ASSERT_TRUE(is_waited_for("orders/42"));
    background two{waiting(third, fair)};
    ASSERT_TRUE(is_waited_for("orders/42", 2));
    restart(crashes);
    EXPECT_TRUE(is_waited_for("orders/42", 2)) << "as before, or anew";
    EXPECT_TRUE(is_held_by("orders/42", theirs));
    error_of([&] { theirs.release(); });  // what fails is made up for
    // A crash may forget tickets, and with them who came first.
    EXPECT_TRUE(eventually(soon_after_a_restart, [&] { return one.is_done_within(1ms) || two.is_done_within(1ms); }));
    auto& first = one.is_done_within(1ms) ? one : two;
    EXPECT_TRUE(crashes || &first == &one);
    first.get().release();
    (&first == &one ? two : one).get().release();
    EXPECT_TRUE(is_waited_for("orders/42", 0));
  }
}

TEST_P(restarted_server, is_told_of_releases_that_it_missed) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", {.lease = long_lease});
  server->stop();
  const auto e = error_of([&] { held.release(); });
  ASSERT_TRUE(e.has_value());
  EXPECT_TRUE(e->is_retryable()) << e->what();
  server->start();
  EXPECT_TRUE(eventually(soon_after_a_restart, [&] { return is_vacant("orders/42"); }));
}

// Connections are accepted, and nothing answers.
TEST_P(restarted_server, that_is_frozen_ends_calls_in_time_and_leaves_no_lock_behind) {
  auto locks = connect();
  auto in_the_way = server->freeze();
  const stopwatch watch;
  const auto e = error_of([&] { return locks.try_acquire("orders/42", {.lease = long_lease}).has_value(); });
  EXPECT_LT(watch.elapsed(), short_call + slack());
  ASSERT_TRUE(is_error(e, errc::call_timed_out, {.is_retryable = true}));
  in_the_way.reset();
  EXPECT_TRUE(eventually(soon_after_a_restart,
                         [&] { return locks.try_acquire_for("orders/42", soon_after_a_restart).has_value(); }));
  EXPECT_TRUE(eventually(soon_after_a_restart, [&] { return is_vacant("orders/42"); }));
}

}  // namespace
}  // namespace rowlock::test
