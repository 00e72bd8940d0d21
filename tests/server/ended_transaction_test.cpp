#include "server/server_test.hpp"
#include "support/late_machine.hpp"

// A lock by for_update lives in a transaction: what becomes of it when the server, or the way there, ends or fails.

namespace rowlock::test {
namespace {

constexpr auto limit = 2s;

lock_options for_update() { return {.strategy = strategy::for_update}; }

bool is_lost_within(std::chrono::steady_clock::duration time, const held_lock& held) {
  return eventually(time, [&] { return held.lost().stop_requested(); });
}

void expect_lost_at_release(held_lock& held) {
  EXPECT_TRUE(throws(errc::lock_lost, [&] { held.release(); }));
  EXPECT_TRUE(throws(errc::not_held, [&] { held.release(); }));
}

class ended_session : public on_each_server {
 protected:
  client locks_ = connect();
};
ROWLOCK_SUITE_ON_EACH_SERVER(ended_session);

TEST_P(ended_session, is_noticed_at_once) {
  const recorder told;
  auto locks = connect({.observer = told.observer()});
  auto held = locks.acquire("orders/42", for_update());
  const auto token = held.token();
  EXPECT_EQ(db().end_open_transactions(), 1);
  EXPECT_TRUE(is_lost_within(slack(), held));
  EXPECT_EQ(held.why_lost(), loss_reason::session_ended);
  EXPECT_TRUE(eventually([&] { return told.lost("orders/42"); }));
  EXPECT_EQ(told.losses().size(), 1U);
  EXPECT_EQ(held.token(), token) << "a lost handle still tells what it was";
  expect_lost_at_release(held);
  EXPECT_TRUE(told.failures().empty()) << "who was told by an exception is not told twice";
}

TEST_P(ended_session, leaves_the_lock_to_the_next_at_once) {
  auto other = connect();
  for (const auto by : all_strategies) {
    const auto held = locks_.acquire("orders/42", for_update());
    background waiter{waiting(other, {.strategy = by})};
    EXPECT_FALSE(waiter.is_done_within(a_moment));
    EXPECT_EQ(db().end_open_transactions(), 1);
    const stopwatch watch;
    auto next = waiter.get();
    EXPECT_LT(watch.elapsed(), slack()) << to_string(by);
    EXPECT_GT(next.token(), held.token()) << to_string(by);
    EXPECT_TRUE(is_lost_within(slack(), held));
    EXPECT_FALSE(next.lost().stop_requested());
    next.release();
  }
}

TEST_P(ended_session, takes_no_other_lock_along) {
  const auto lease = locks_.acquire("lease", {.lease = 60s});
  auto held = locks_.acquire("orders/42", for_update());
  EXPECT_EQ(db().end_open_transactions(), 1);
  EXPECT_TRUE(is_lost_within(slack(), held));
  const auto beside = locks_.acquire("orders/43", for_update());
  EXPECT_FALSE(lease.lost().stop_requested());
  EXPECT_FALSE(beside.lost().stop_requested());
  held = locks_.acquire("orders/42", for_update());
  EXPECT_FALSE(held.lost().stop_requested()) << "the client goes on";
  EXPECT_NO_THROW(held.release());
}

TEST_P(ended_session, is_the_loss_of_all_handles_of_its_holder) {
  lock_options as_job = for_update();
  as_job.as = holder::named("request-7");
  auto one = locks_.acquire("orders/42", as_job);
  auto two = locks_.acquire("orders/42", as_job);
  EXPECT_EQ(db().end_open_transactions(), 1);
  EXPECT_TRUE(is_lost_within(slack(), one));
  EXPECT_TRUE(is_lost_within(slack(), two));
  auto anew = locks_.try_acquire("orders/42", as_job);
  ASSERT_TRUE(anew.has_value()) << "a lost lock is not handed out again";
  EXPECT_GT(anew->token(), one.token());
  expect_lost_at_release(two);
  one = held_lock{};
  EXPECT_FALSE(anew->lost().stop_requested());
}

TEST_P(ended_session, lets_a_client_close) {
  const auto held = locks_.acquire("orders/42", for_update());
  EXPECT_EQ(db().end_open_transactions(), 1);
  const stopwatch watch;
  locks_.close();
  EXPECT_LT(watch.elapsed(), 5s + slack());
  EXPECT_TRUE(held.lost().stop_requested());
}

/// The way to the server fails while a lock is held.
class disturbed_transaction : public on_each_server_by_proxy {
 protected:
  /// A direct way for the next holder.
  client other_ = connect();
};
ROWLOCK_SUITE_ON_EACH_SERVER(disturbed_transaction);

TEST_P(disturbed_transaction, is_lost_at_once_when_the_connection_is_cut) {
  auto locks = connect_through_proxy();
  auto held = locks.acquire("orders/42", for_update());
  proxy().cut();
  EXPECT_TRUE(is_lost_within(slack(), held));
  EXPECT_EQ(held.why_lost(), loss_reason::session_ended);
  const auto next = other_.try_acquire_for("orders/42", slack(), for_update());
  ASSERT_TRUE(next.has_value());
  EXPECT_GT(next->token(), held.token());
  expect_lost_at_release(held);
}

// The next holder has it when the server has heard nothing for the limit: by then the first has stopped to believe.
TEST_P(disturbed_transaction, is_lost_in_time_when_nothing_goes_through) {
  auto locks = connect_through_proxy({.transaction_limit = limit});
  auto held = locks.acquire("orders/42", for_update());
  background next{[&](std::stop_token stop) {
    auto out = other_.acquire("orders/42", {}, stop);
    EXPECT_TRUE(held.lost().stop_requested()) << "two believe that they have it";
    return out;
  }};
  const late_machine machine;
  proxy().black_hole(true);
  const stopwatch watch;
  EXPECT_TRUE(is_lost_within(limit + slack(), held));
  EXPECT_LT(watch.elapsed(), limit + machine.by()) << "before the server ends the session";
  EXPECT_TRUE(held.why_lost() == loss_reason::unreachable || held.why_lost() == loss_reason::expired)
      << to_string(held.why_lost());
  EXPECT_GT(next.get().token(), held.token());
  EXPECT_LT(watch.elapsed(), 2 * limit + slack());
  expect_lost_at_release(held);
  proxy().black_hole(false);
  const auto goes_on = [&] { return !error_of([&] { held = locks.acquire("orders/42", for_update()); }); };
  EXPECT_TRUE(eventually(goes_on)) << "the client goes on";
  EXPECT_NO_THROW(held.release());
}

TEST_P(disturbed_transaction, keeps_no_call_from_coming_back_when_nothing_goes_through) {
  auto locks = connect_through_proxy({.transaction_limit = limit});
  auto held = locks.acquire("orders/42", for_update());
  const auto beside = locks.acquire("orders/43", for_update());
  proxy().black_hole(true);
  const auto comes_back = [&](const char* what, auto call) {
    const stopwatch watch;
    error_of([&] { call(); });
    EXPECT_LT(watch.elapsed(), short_call + slack()) << what;
  };
  comes_back("try_acquire", [&] { static_cast<void>(locks.try_acquire("orders/44", for_update())); });
  comes_back("release", [&] { held.release(); });
  comes_back("find", [&] { static_cast<void>(locks.find("orders/42")); });
  comes_back("close", [&] { locks.close(); });
  EXPECT_TRUE(beside.lost().stop_requested());
  for (const auto* name : {"orders/42", "orders/43"})
    EXPECT_TRUE(other_.try_acquire_for(name, limit + 10s).has_value()) << name;
}

TEST_P(disturbed_transaction, is_kept_through_a_slow_network) {
  auto locks = connect_through_proxy({.transaction_limit = 1s});
  auto held = locks.acquire("orders/42", for_update());
  proxy().delay(50ms);
  EXPECT_FALSE(other_.try_acquire_for("orders/42", 2500ms).has_value());
  EXPECT_FALSE(held.lost().stop_requested()) << to_string(held.why_lost());
  EXPECT_NO_THROW(held.release());
  EXPECT_TRUE(other_.try_acquire_for("orders/42", slack()).has_value());
}

class disturbed_release : public on_each_with<proxy_test, lost_request> {};
ROWLOCK_SUITE_ON_EACH_SERVER_WITH_EACH(disturbed_release, lost_requests);

TEST_P(disturbed_release, leaves_no_lock_behind) {
  auto locks = connect_through_proxy({.transaction_limit = limit});
  auto other = connect();
  auto held = locks.acquire("orders/42", for_update());
  const auto token = held.token();
  on_request([](std::string_view) { return true; }, what().how);
  const stopwatch watch;
  error_of([&] { held.release(); });
  EXPECT_LT(watch.elapsed(), short_call + slack());
  EXPECT_TRUE(proxy().has_acted());
  EXPECT_FALSE(static_cast<bool>(held)) << "empty afterwards, always";
  const auto next = other.try_acquire_for("orders/42", limit + 5s);
  ASSERT_TRUE(next.has_value());
  EXPECT_GT(next->token(), token);
  auto again = locks.try_acquire_for("orders/43", 5s, for_update());
  EXPECT_TRUE(again.has_value()) << "the client goes on";
}

/// The server itself goes while a lock is held.
class transaction_on_a_failing_server : public on_private_server {
 protected:
  static constexpr auto short_call = 500ms;
  static constexpr auto soon_after = 15s;

  client connect() { return server_test::connect({.call_timeout = short_call, .transaction_limit = limit}); }
};
ROWLOCK_SUITE_ON_EACH_SERVER(transaction_on_a_failing_server);

TEST_P(transaction_on_a_failing_server, is_lost_when_it_is_restarted_and_when_it_crashes) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", for_update());
  for (const bool crashes : {false, true}) {
    const auto token = held.token();
    crashes ? server->crash() : server->stop();
    EXPECT_TRUE(is_lost_within(slack(), held));
    EXPECT_EQ(held.why_lost(), loss_reason::session_ended);
    const auto e = error_of([&] { return locks.try_acquire("orders/43", for_update()).has_value(); });
    ASSERT_TRUE(e.has_value());
    EXPECT_TRUE(e->is_retryable()) << e->what();
    server->start();
    expect_lost_at_release(held);
    auto next = locks.try_acquire_for("orders/42", soon_after, for_update());
    ASSERT_TRUE(next.has_value()) << "the same client goes on";
    EXPECT_GT(next->token(), token);
    held = std::move(*next);
  }
  EXPECT_NO_THROW(held.release());
}

TEST_P(transaction_on_a_failing_server, is_lost_in_time_when_it_freezes) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", for_update());
  const auto token = held.token();
  const late_machine machine;
  auto in_the_way = server->freeze();
  const stopwatch watch;
  EXPECT_TRUE(is_lost_within(limit + slack(), held));
  EXPECT_LT(watch.elapsed(), limit + machine.by());
  expect_lost_at_release(held);
  const stopwatch closing;
  locks.close();
  EXPECT_LT(closing.elapsed(), short_call + slack());
  in_the_way.reset();
  auto other = connect();
  const auto next = other.try_acquire_for("orders/42", limit + soon_after);
  ASSERT_TRUE(next.has_value());
  EXPECT_GT(next->token(), token);
}

}  // namespace
}  // namespace rowlock::test
