#include <algorithm>

#include "core/lease.hpp"
#include "server/server_test.hpp"
#include "transaction/caller.hpp"

// Over a way on which each answer comes late: what a client believes counts from before it has asked, in each of the
// ways that lead to a lock or prolong it.

namespace rowlock::test {
namespace {

class slow_way : public on_each_server_by_proxy {
 protected:
  static constexpr auto late = 60ms;  // each way
  static constexpr duration lease = 10s;
  static constexpr const char* name = "job";

  client connect_slowly(client_options options = {}) {
    options.application = "disturbed";
    options.call_timeout = soon;
    auto out = connect_by_proxy(std::move(options));
    out.check();
    proxy().delay(late);
    return out;
  }
  /// By the end of the lease in the database, where a request arrives that much later than it is sent.
  void expect_cautious(const held_lock& held) {
    const duration left{expiry(held.name().view()) - db().now()};
    EXPECT_LE(held.expires_in().value(), left - core::margin(left) - late);
    EXPECT_EQ(held.why_lost(), loss_reason::none);
  }
};
ROWLOCK_SUITE_ON_EACH_SERVER(slow_way);

TEST_P(slow_way, a_grant_counts_from_before_it_was_asked_for) {
  auto other = connect();
  other.acquire(name).release();
  auto locks = connect_slowly();
  expect_cautious(locks.acquire(name, {.lease = lease}));
  expect_cautious(locks.acquire("a new name", {.lease = lease}));
  expect_cautious(locks.acquire(name, {.strategy = strategy::version_cas, .lease = lease}));
  expect_cautious(locks.acquire(name, {.lease = lease, .fairness = fairness::fifo}));
  expect_cautious(locks.acquire_shared(name, {.lease = lease}));
  expect_cautious(locks.acquire_shared(name, {.lease = lease, .fairness = fairness::fifo}));
  expect_cautious(locks.acquire_any({name, "another"}, {.lease = lease}));
  for (const auto how : {fairness::unfair, fairness::fifo}) {
    const auto all = locks.acquire_all({name, "another"}, {.lease = lease, .fairness = how});
    for (const auto& each : all.locks()) expect_cautious(each);
  }
}

TEST_P(slow_way, grants_that_come_together_count_from_before_they_were_asked_for) {
  auto locks = connect_slowly({.connections = 4});
  std::vector<std::unique_ptr<background<held_lock>>> all;
  for (int i = 0; i < 12; ++i)
    all.push_back(std::make_unique<background<held_lock>>([&, i](std::stop_token stop) {
      return locks.acquire("orders/" + std::to_string(i), {.lease = lease}, std::move(stop));
    }));
  for (const auto& each : all) expect_cautious(each->get());
}

TEST_P(slow_way, what_prolongs_a_lease_counts_from_before_it_was_asked_for) {
  auto locks = connect_slowly();
  for (const bool is_shared : {false, true}) {
    const lock_options brisk{.lease = 6s};
    auto held = is_shared ? locks.acquire_shared(name, brisk) : locks.acquire(name, brisk);
    const auto before = locks.stats().renewals;
    ASSERT_TRUE(eventually([&] { return locks.stats().renewals > before; }));
    expect_cautious(held);
    held.extend(lease);
    expect_cautious(held);
    is_shared ? static_cast<void>(held.try_upgrade()) : held.downgrade();
    expect_cautious(held);
  }
}

TEST_P(slow_way, a_hand_over_counts_from_before_its_tokens_were_reserved) {
  auto locks = connect_slowly({.handover_limit = 10s});
  auto first = locks.acquire(name, {.lease = lease});
  background next{waiting(locks, {.lease = lease}, name)};
  EXPECT_FALSE(next.is_done_within(a_moment));
  first.release();
  expect_cautious(next.get());
}

TEST_P(slow_way, a_grant_by_a_release_counts_from_before_it_was_claimed) {
  auto other = connect();
  auto theirs = other.acquire(name, {.lease = lease});
  auto locks = connect_slowly();
  background next{waiting(locks, {.lease = lease, .fairness = fairness::fifo}, name)};
  ASSERT_TRUE(is_waited_for(name));
  ASSERT_TRUE(eventually([&] { return is_marked(name); }));
  theirs.release();
  expect_cautious(next.get());
}

// The answer is lost, and asked for again on another connection.
TEST_P(slow_way, a_grant_that_is_adopted_counts_from_before_it_was_asked_for) {
  auto other = connect();
  for (const char* const each : {name, "another"}) other.acquire(each).release();
  const std::function<held_lock(client&)> ways[] = {[](client& locks) { return locks.acquire(name, {.lease = lease}); },
                                                    [](client& locks) {
                                                      return locks.acquire_any({name, "another"}, {.lease = lease});
                                                    }};
  auto locks = connect_slowly();
  for (const auto& ask : ways) {
    SCOPED_TRACE(&ask - ways);
    on_request(acquiring(name), tcp_proxy::action::cut_after);
    expect_cautious(ask(locks));
    EXPECT_TRUE(proxy().has_acted());
  }
  on_request(acquiring(name), tcp_proxy::action::cut_after);  // on MySQL what it sends has no texts in it that tell
  expect_cautious(locks.acquire_shared(name, {.lease = lease}));
  on_request(acquiring(name), tcp_proxy::action::cut_after);
  const auto all = locks.acquire_all({name, "another"}, {.lease = lease});
  for (const auto& each : all.locks()) expect_cautious(each);
  EXPECT_TRUE(proxy().has_acted());
}

// What the holder had before counts once more for each attempt, and no longer than that.
TEST_P(slow_way, a_set_that_is_not_granted_leaves_its_holder_what_it_had) {
  auto other = connect();
  const lock_options as_job{.lease = long_lease, .as = holder::named("job")};
  auto brief = as_job;
  brief.lease = 100ms;  // over before an answer comes
  auto locks = connect_slowly();
  const auto ask = [&](const char* what, const lock_options& options) {
    SCOPED_TRACE(what);
    auto own = locks.acquire(name, as_job);
    bool is_granted = false;
    error_of([&] { return is_granted = locks.try_acquire_all({name, "another"}, options).has_value(); });
    EXPECT_FALSE(is_granted);
    own.release();
    EXPECT_TRUE(other.try_acquire(name)) << "nothing is left of the attempt";
  };
  auto theirs = other.acquire("another");
  ask("taken", as_job);
  theirs.release();
  ask("late", brief);
  on_request(acquiring("another"), tcp_proxy::action::cut_before);
  ask("lost", as_job);
}

// What is sent after the limit has half a second, all together.
TEST_P(slow_way, a_timed_call_for_several_names_keeps_its_limit) {
  std::vector<lock_name> names;
  for (int i = 0; i < 20; ++i) names.emplace_back("job/" + std::to_string(i));
  auto other = connect();
  std::vector<held_lock> held;
  for (const auto& each : names) held.push_back(other.acquire(each, {.lease = long_lease}));
  auto locks = connect_slowly();
  proxy().delay(2 * late);
  for (const auto order : {fairness::unfair, fairness::fifo}) {
    const lock_options usual{.fairness = order};
    const std::function<bool()> calls[] = {[&] { return locks.try_acquire_any_for(names, 800ms, usual).has_value(); },
                                           [&] { return locks.try_acquire_all_for(names, 800ms, usual).has_value(); },
                                           [&] { return locks.try_acquire_for(names[0], 800ms, usual).has_value(); }};
    for (const auto& call : calls) {
      const stopwatch watch;
      error_of(call);
      EXPECT_GE(watch.elapsed(), 800ms);
      EXPECT_LT(watch.elapsed(), 800ms + 500ms + on_this_machine(400ms)) << &call - calls;
    }
  }
  proxy().delay(1s);
  const stopwatch watch;
  error_of([&] { return locks.try_acquire_any_for(names, 5ms).has_value(); });
  EXPECT_LT(watch.elapsed(), 5ms + 2 * 500ms + on_this_machine(400ms)) << "the tickets of the calls before it go first";
  proxy().delay(0ms);
}

/// Over a way on which no answer comes any more.
class silent_way : public on_each_server_by_proxy {};
ROWLOCK_SUITE_ON_EACH_SERVER(silent_way);

// The caller's connection is another one. A client without limits of time waits much longer for an answer.
TEST_P(silent_way, lock_in_ends_in_time_and_when_it_is_stopped) {
  auto other = connect();
  const auto held = other.acquire("orders/42");
  auto locks = connect_by_proxy({.application = "disturbed", .call_timeout = patience});
  locks.check();
  auto tx = open_caller(db().url(), "read committed");
  tx->begin();
  proxy().black_hole(true);
  const stopwatch watch;
  EXPECT_TRUE(error_of([&] { return tx->try_lock_in_for(locks, "orders/42", 100ms); }));
  background waiter{
      [&](std::stop_token stop) { return error_of([&] { tx->lock_in(locks, "orders/42", {}, std::move(stop)); }); }};
  EXPECT_FALSE(waiter.is_done_within(100ms));
  waiter.stop();
  EXPECT_EQ(waiter.get().value().code(), errc::cancelled);
  EXPECT_LT(watch.elapsed(), patience / 2);
  tx->commit();
  proxy().black_hole(false);
}

}  // namespace
}  // namespace rowlock::test
