#include <algorithm>

#include "server/server_test.hpp"

namespace rowlock::test {
namespace {

/// The network keeps a request until its client has given up, and then delivers it.
class late_statement : public on_each_server_by_proxy {
 protected:
  /// The server is asked to end sessions whose reply was lost. With `transaction_pooling` it cannot be: then what was
  /// sent over them arrives. Where there is no such option, the request becomes another, which does nothing.
  client connect_where_sessions_stay() {
    if (is_on("postgresql")) return connect_through_proxy({.connections = 2, .transaction_pooling = true});
    proxy().replace("KILL ", "DO   ");
    return connect_through_proxy({.connections = 2});
  }

  void hold(tcp_proxy::bytes_test request) {
    before_ = db().sessions();
    on_request(std::move(request), tcp_proxy::action::hold);
  }
  void give_up_a_try(client& locks, const lock_name& name = "orders/42",
                     const lock_options& options = {.lease = long_lease}) {
    const auto e = error_of([&] { return locks.try_acquire(name, options).has_value(); });
    ASSERT_TRUE(proxy().has_acted());
    ASSERT_TRUE(is_error(e, errc::call_timed_out, {.outcome_is_unknown = true}));
  }
  /// Returns when the server has done what was held, and has noticed that its client is gone.
  void deliver() {
    proxy().let_go();
    ASSERT_TRUE(eventually([&] { return old_sessions_are_gone(); }));
  }
  /// Of a client whose only connection was given up: the server has ended the session before it gets the request.
  void expect_session_ended(client& locks) {
    EXPECT_TRUE(eventually(soon, [&] { return old_sessions_are_gone(); })) << "the server was not asked to end it";
    proxy().let_go();
    ASSERT_TRUE(eventually(soon, [&] { return !error_of([&] { return locks.list(); }); })) << "it connects again";
  }
  /// Those that were there at hold().
  bool old_sessions_are_gone() {
    const auto now = db().sessions();
    return std::none_of(before_.begin(), before_.end(),
                        [&](std::int64_t session) { return std::find(now.begin(), now.end(), session) != now.end(); });
  }

 private:
  std::vector<std::int64_t> before_;
};
ROWLOCK_SUITE_ON_EACH_SERVER(late_statement);

TEST_P(late_statement, that_grants_is_undone_long_before_its_lease_ends) {
  struct way {
    const char* name;
    bool has_row;
    duration after;
    lock_options options;
  };
  const way ways[] = {{"orders/41", false, 0s, {.lease = long_lease}},
                      {"orders/42", false, 4s, {.lease = long_lease}},
                      {"orders/43", false, 0s, {.lease = long_lease, .at_least = 30min}},
                      {"orders/44", true, 0s, {.lease = long_lease}}};
  for (const auto& each : ways) {
    SCOPED_TRACE(each.name);
    const auto version = [&] { return db().row(each.name).value_or(lock_row{}).version; };
    auto locks = connect_where_sessions_stay();
    if (each.has_row) locks.acquire(each.name).release();
    // A row that the client has locked just then, to undo the grant, is skipped.
    const auto is_granted_late = [&] {
      const auto before = version();
      hold(acquiring(each.name));
      give_up_a_try(locks, each.name, each.options);
      EXPECT_EQ(version(), before);
      let_pass(each.after);
      deliver();
      return version() > before;
    };
    ASSERT_TRUE(eventually(is_granted_late)) << "it has not been granted, so this test shows nothing";
    EXPECT_TRUE(eventually(soon, [&] { return is_vacant(each.name); }));
    EXPECT_TRUE(connect().try_acquire(each.name).has_value());
  }
}

TEST_P(late_statement, that_grants_is_never_believed_in) {
  auto locks = connect_where_sessions_stay();
  hold(acquiring("orders/42"));
  give_up_a_try(locks);
  deliver();
  const auto held = locks.try_acquire_for("orders/42", soon, {.lease = long_lease});
  ASSERT_TRUE(held.has_value());
  EXPECT_TRUE(is_held_by("orders/42", *held));
  let_pass(3s);
  EXPECT_TRUE(is_held_by("orders/42", *held)) << "the undo list lets go of the other acquisition only";
  EXPECT_FALSE(held->lost().stop_requested());
}

TEST_P(late_statement, that_would_grant_finds_the_name_taken) {
  auto locks = connect_where_sessions_stay();
  hold(acquiring("orders/42"));
  give_up_a_try(locks);
  auto other = connect();
  const auto theirs = other.acquire("orders/42", {.lease = long_lease});
  deliver();
  locks.close();
  EXPECT_TRUE(is_held_by("orders/42", theirs));
  EXPECT_FALSE(theirs.lost().stop_requested());
}

TEST_P(late_statement, does_not_outlive_its_session_where_that_can_be_ended) {
  auto locks = connect_through_proxy({.connections = 1});
  hold(acquiring("orders/42"));
  give_up_a_try(locks);
  expect_session_ended(locks);
  EXPECT_TRUE(locks.try_acquire("orders/42").has_value());
  EXPECT_TRUE(is_vacant("orders/42"));
}

TEST_P(late_statement, that_takes_a_dead_reader_off_does_not_outlive_its_session_either) {
  auto locks = connect_through_proxy({.connections = 1});
  const auto living = locks.acquire_shared("orders/42", {.lease = long_lease});
  const auto dead = locks.acquire_shared("orders/42", {.lease = long_lease});
  db().kill_share(dead.token().value(), 1s);
  hold(tcp_proxy::contains("DELETE", "rowlock_share"));
  semaphore two{locks, "orders/42", 2, {.lease = long_lease}};
  error_of([&] { return two.try_acquire().has_value(); });
  ASSERT_TRUE(proxy().has_acted());
  expect_session_ended(locks);
  EXPECT_TRUE(two.try_acquire().has_value());
}

TEST_P(late_statement, that_releases_does_not_touch_the_next_holder) {
  auto locks = connect_where_sessions_stay();
  auto held = locks.acquire("orders/42", {.lease = long_lease});
  hold(about("orders/42"));
  const auto e = error_of([&] { held.release(); });
  ASSERT_TRUE(e && e->outcome_is_unknown());
  auto other = connect();
  const auto theirs = other.try_acquire_for("orders/42", soon, {.lease = long_lease});
  ASSERT_TRUE(theirs.has_value()) << "released over another connection";
  deliver();
  EXPECT_TRUE(is_held_by("orders/42", *theirs));
}

// It shares the name as soon as the server has done it, and other readers come.
TEST_P(late_statement, that_shares_a_lock_lets_its_holder_reenter_it_no_more) {
  auto locks = connect_through_proxy();
  const lock_options as_one{.lease = long_lease, .as = holder::named("nightly")};
  auto held = locks.acquire("orders/42", as_one);
  hold(about("orders/42"));
  background sharing{[&](const std::stop_token&) { return error_of([&] { held.downgrade(); }); }};
  ASSERT_TRUE(eventually([&] { return proxy().has_acted(); }));
  std::optional<held_lock> alone;
  error_of([&] { alone = locks.try_acquire("orders/42", as_one); });
  EXPECT_FALSE(alone.has_value());
  proxy().let_go();
  static_cast<void>(sharing.get());
}

TEST_P(late_statement, that_renews_does_not_touch_the_next_holder) {
  auto locks = connect_where_sessions_stay();
  auto held = locks.acquire("orders/42", {.lease = 6s});
  hold(about("orders/42"));
  ASSERT_TRUE(eventually([&] { return proxy().has_acted(); }));
  error_of([&] { held.release(); });  // if the time of a call is too short for it, it is repeated
  auto other = connect();
  const auto theirs = other.try_acquire_for("orders/42", soon, {.lease = long_lease, .renew = false});
  ASSERT_TRUE(theirs.has_value());
  const auto end = expiry("orders/42");
  let_pass(2 * short_call);  // the renewal is given up meanwhile
  deliver();
  EXPECT_TRUE(is_held_by("orders/42", *theirs));
  EXPECT_EQ(expiry("orders/42"), end);
}

TEST_P(late_statement, that_renews_does_not_make_a_released_lock_stay_longer) {
  auto locks = connect_through_proxy({.connections = 2, .call_timeout = patience});
  auto held = locks.acquire("orders/42", {.lease = 6s, .at_least = 4s});
  const auto granted_at = db().row("orders/42").value().acquired_at.value();
  hold(about("orders/42"));
  ASSERT_TRUE(eventually([&] { return proxy().has_acted(); }));
  held.release();
  EXPECT_EQ(expiry("orders/42"), granted_at + std::chrono::microseconds{4s}.count());
  proxy().let_go();
  auto other = connect();
  const auto next = other.acquire("orders/42");
  const auto next_at = db().row("orders/42").value().acquired_at.value();
  EXPECT_GE(next_at, granted_at + std::chrono::microseconds{4s}.count());
  EXPECT_LT(next_at, granted_at + std::chrono::microseconds{6s}.count()) << "two seconds before the renewed lease ends";
}

TEST_P(late_statement, that_renews_does_not_keep_a_lock_that_was_lost) {
  auto locks = connect_where_sessions_stay();
  const auto held = locks.acquire("orders/42", {.lease = 1s});
  hold(about("orders/42"));
  ASSERT_TRUE(eventually([&] { return proxy().has_acted(); }));
  proxy().refuse(true);
  proxy().black_hole(true);
  ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  ASSERT_TRUE(eventually([&] { return db().now() > expiry("orders/42"); }));
  proxy().refuse(false);
  proxy().black_hole(false);
  deliver();
  EXPECT_TRUE(connect().try_acquire_for("orders/42", soon).has_value());
}

}  // namespace
}  // namespace rowlock::test
