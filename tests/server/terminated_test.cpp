#include "server/server_test.hpp"
#include "support/test_thread.hpp"

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

  client locks_ = connect();
};
ROWLOCK_SUITE_ON_EACH_SERVER(terminated_sessions);

TEST_P(terminated_sessions, while_several_are_idle_disturb_no_call) {
  locks_.close();
  auto locks = connect({.combine = false});
  {
    std::vector<held_lock> held;
    std::vector<test_thread> threads;
    const auto in_the_way = db().stall();
    for (int i = 0; i < 4; ++i)
      threads.emplace_back(
          [&, i] { error_of([&] { return locks.try_acquire("job/" + std::to_string(i)).has_value(); }); });
    EXPECT_TRUE(eventually([&] { return db().connections() == 4; }));
  }
  terminate();
  EXPECT_NO_THROW(EXPECT_TRUE(locks.try_acquire("orders/42").has_value()));
}

TEST_P(terminated_sessions, while_idle_are_not_noticed_by_a_wait) {
  terminate();
  EXPECT_NO_THROW(EXPECT_TRUE(locks_.try_acquire_for("orders/42", soon).has_value()));
  terminate();
  EXPECT_NO_THROW(locks_.acquire("orders/42").release());
}

TEST_P(terminated_sessions, while_a_lock_is_held_do_not_lose_it_however_often) {
  const stopwatch connecting;
  connect().close();
  const auto time_to_renew = std::max<std::chrono::microseconds>(
      100ms, std::chrono::ceil<std::chrono::microseconds>(2 * connecting.elapsed()));
  const auto held = locks_.acquire("orders/42", {.lease = 4s});
  int ended = 0;
  const stopwatch watch;
  ASSERT_TRUE(eventually([&] {
    let_pass(time_to_renew);
    ended += db().terminate_sessions();
    return watch.elapsed() > 6s;
  }));
  EXPECT_GT(ended, 1);
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_FALSE(held.lost().stop_requested()) << to_string(held.why_lost());
  EXPECT_TRUE(is_held_by("orders/42", held));
}

TEST_P(terminated_sessions, while_waiting_are_ridden_out) {
  auto other = connect();
  auto theirs = other.acquire("orders/42", {.lease = long_lease});
  background waiter{waiting(locks_)};
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(waiter.is_done_within(a_moment));
    db().terminate_sessions();
  }
  EXPECT_TRUE(is_held_by("orders/42", theirs));
  error_of([&] { theirs.release(); });
  auto held = waiter.get();
  EXPECT_TRUE(is_held_by("orders/42", held));
  held.release();
  const auto seen = locks_.stats().strategies[0];
  EXPECT_EQ(seen.acquired, 1U);
  EXPECT_EQ(seen.failed, 0U);
  EXPECT_EQ(seen.released, 1U);
}

TEST_P(terminated_sessions, before_it_is_let_go_of_leave_no_lock_behind) {
  const std::function<void(client&, held_lock&)> ways[] = {
      [](client&, held_lock& held) { error_of([&] { held.release(); }); },
      [](client&, held_lock& held) { held = held_lock{}; }, [](client& locks, held_lock&) { locks.close(); }};
  for (const auto& let_go : ways) {
    SCOPED_TRACE(&let_go - ways);
    auto locks = connect();
    auto held = locks.acquire("orders/42", {.lease = long_lease});
    const auto lost = held.lost();
    terminate();
    let_go(locks, held);
    const bool is_closed = &let_go == std::end(ways) - 1;
    EXPECT_EQ(static_cast<bool>(held) || lost.stop_requested(), is_closed);
    EXPECT_TRUE(eventually(is_closed ? 0s : soon, [&] { return is_vacant("orders/42"); }));
  }
}

TEST_P(terminated_sessions, before_an_extend_do_not_disturb_it) {
  auto held = locks_.acquire("orders/42", {.lease = long_lease});
  terminate();
  EXPECT_NO_THROW(held.extend(2 * long_lease));
  EXPECT_GT(held.expires_in().value(), long_lease);
  EXPECT_FALSE(held.lost().stop_requested());
}

}  // namespace
}  // namespace rowlock::test
