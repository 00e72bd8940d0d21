#include <optional>
#include <vector>

#include "server/server_test.hpp"

namespace rowlock::test {
namespace {

/// An administrator, or a failing server, ends the client's sessions: each row says in which state of a lock.
class terminated_sessions : public on_each_server {
 protected:
  /// A process closes its connection a little after it has left the list.
  void terminate() {
    ASSERT_GT(db().terminate_sessions(), 0);
    let_pass(a_moment);
  }

  /// How many times a call fails before it goes through. Every failure must be of the kind that may simply be repeated.
  template <class Call>
  static int failures_of(Call call) {
    int failures = 0;
    for (; failures < 20; ++failures) {
      const auto e = error_of([&] {
        call();
        return true;
      });
      if (!e) break;
      EXPECT_TRUE(e->is_retryable()) << e->what();
      EXPECT_TRUE(e->connection_is_unusable()) << e->what();
      EXPECT_FALSE(e->outcome_is_unknown()) << e->what();
    }
    return failures;
  }
};
ROWLOCK_SUITE_ON_EACH_SERVER(terminated_sessions);

TEST_P(terminated_sessions, while_idle_disturb_no_call) {
  auto locks = connect();
  terminate();
  EXPECT_EQ(failures_of([&] { EXPECT_TRUE(locks.try_acquire("orders/42").has_value()); }), 0);
}

TEST_P(terminated_sessions, while_several_are_idle_disturb_no_call) {
  auto locks = connect({.combine = false});
  {
    std::vector<held_lock> held;
    std::vector<std::jthread> threads;
    const auto in_the_way = db().stall();
    for (int i = 0; i < 4; ++i)
      threads.emplace_back(
          [&, i] { error_of([&] { return locks.try_acquire("job/" + std::to_string(i)).has_value(); }); });
    EXPECT_TRUE(eventually([&] { return db().connections() == 4; }));
  }
  terminate();
  EXPECT_EQ(failures_of([&] { EXPECT_TRUE(locks.try_acquire("orders/42").has_value()); }), 0);
}

TEST_P(terminated_sessions, while_idle_are_not_noticed_by_a_wait) {
  auto locks = connect();
  terminate();
  EXPECT_NO_THROW(EXPECT_TRUE(locks.try_acquire_for("orders/42", soon).has_value()));
  terminate();
  EXPECT_NO_THROW(locks.acquire("orders/42").release());
}

TEST_P(terminated_sessions, while_a_lock_is_held_do_not_lose_it) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", {.lease = 4s});
  terminate();
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_FALSE(held.lost().stop_requested()) << to_string(held.why_lost());
  EXPECT_TRUE(is_held_by("orders/42", held));
}

TEST_P(terminated_sessions, again_and_again_do_not_lose_a_lock) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", {.lease = 4s});
  const stopwatch watch;
  ASSERT_TRUE(eventually([&] {
    let_pass(100ms);
    db().terminate_sessions();
    return watch.elapsed() > 6s;
  }));
  EXPECT_FALSE(held.lost().stop_requested()) << to_string(held.why_lost());
  EXPECT_TRUE(is_renewed("orders/42"));
}

TEST_P(terminated_sessions, while_waiting_are_ridden_out) {
  auto locks = connect();
  auto other = connect();
  auto theirs = other.acquire("orders/42", {.lease = long_lease});
  background waiter{[&](std::stop_token stop) { return locks.acquire("orders/42", {}, stop); }};
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(waiter.is_done_within(a_moment));
    db().terminate_sessions();
  }
  EXPECT_TRUE(is_held_by("orders/42", theirs));
  error_of([&] {
    theirs.release();
    return true;
  });
  const auto held = waiter.get();
  EXPECT_TRUE(is_held_by("orders/42", held));
}

TEST_P(terminated_sessions, before_a_release_leave_no_lock_behind) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", {.lease = long_lease});
  const auto lost = held.lost();
  terminate();
  error_of([&] {
    held.release();
    return true;
  });
  EXPECT_FALSE(static_cast<bool>(held));
  EXPECT_TRUE(eventually(soon, [&] { return is_vacant("orders/42"); }));
  EXPECT_FALSE(lost.stop_requested());
}

TEST_P(terminated_sessions, before_a_destructor_leave_no_lock_behind) {
  auto locks = connect();
  {
    const auto held = locks.acquire("orders/42", {.lease = long_lease});
    terminate();
  }
  EXPECT_TRUE(eventually(soon, [&] { return is_vacant("orders/42"); }));
}

TEST_P(terminated_sessions, before_an_extend_do_not_disturb_it) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", {.lease = long_lease});
  terminate();
  EXPECT_EQ(failures_of([&] { held.extend(2 * long_lease); }), 0);
  EXPECT_GT(held.expires_in().value(), long_lease);
  EXPECT_FALSE(held.lost().stop_requested());
}

TEST_P(terminated_sessions, before_closing_leave_no_lock_behind) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", {.lease = long_lease});
  terminate();
  locks.close();
  EXPECT_TRUE(is_vacant("orders/42"));
}

TEST_P(terminated_sessions, in_the_middle_of_a_call_leave_no_lock_behind) {
  auto locks = connect();
  locks.acquire("orders/42").release();
  auto in_the_way = db().sealed();
  background call{[&](std::stop_token) {
    return error_of([&] { return locks.try_acquire("orders/42", {.lease = long_lease}).has_value(); });
  }};
  EXPECT_FALSE(call.is_done_within(a_moment));
  terminate();
  const auto e = call.get();
  ASSERT_TRUE(e.has_value());
  EXPECT_TRUE(e->outcome_is_unknown() || e->is_retryable()) << e->what();
  in_the_way.reset();
  EXPECT_TRUE(eventually(soon, [&] { return is_vacant("orders/42"); }));
  EXPECT_TRUE(locks.try_acquire_for("orders/42", soon).has_value());
}

}  // namespace
}  // namespace rowlock::test
