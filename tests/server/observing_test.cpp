#include "server/server_test.hpp"

namespace rowlock::test {
namespace {

/// What an observer is told, and what is counted, when a server ends sessions.
class observed : public on_each_server {
 protected:
  /// A process closes its connection a little after it has left the list.
  void terminate() {
    ASSERT_GT(db().terminate_sessions(), 0);
    let_pass(a_moment);
  }

  recorder told_;
  client locks_ = connect({.observer = told_.observer()});
};
ROWLOCK_SUITE_ON_EACH_SERVER(observed);

TEST_P(observed, a_connection_that_ended_while_idle_is_opened_again_and_nothing_failed) {
  terminate();
  EXPECT_TRUE(locks_.try_acquire("orders/42").has_value());
  EXPECT_EQ(locks_.stats().reconnects, 1U);
  EXPECT_TRUE(locks_.stats().errors.empty());
  locks_.close();
  EXPECT_EQ(told_.all<events::reconnected>().size(), 1U);
  EXPECT_TRUE(told_.all<events::failed>().empty());
}

TEST_P(observed, a_call_whose_session_is_ended_has_failed_and_another_is_opened) {
  locks_.acquire("orders/42").release();
  auto in_the_way = db().gate();  // its wait for a lock would end by itself
  background call{[&](std::stop_token) {
    return error_of([&] { return locks_.try_acquire("orders/42", {.lease = long_lease}).has_value(); });
  }};
  ASSERT_TRUE(eventually([&] { return db().at_gate() == 1; }));
  terminate();
  const auto e = call.get();
  ASSERT_TRUE(e.has_value());
  EXPECT_TRUE(is_done_unknown_or_retryable(e));
  in_the_way.reset();
  EXPECT_TRUE(eventually(soon, [&] { return is_vacant("orders/42"); })) << "it leaves no lock behind";
  EXPECT_TRUE(locks_.try_acquire_for("orders/42", soon).has_value());
  const auto seen = locks_.stats();
  EXPECT_GE(seen.reconnects, 1U);
  EXPECT_EQ(seen.strategies[0].failed, 1U);
  std::uint64_t failures = 0;
  for (const auto& each : seen.errors) failures += each.failures;
  EXPECT_GE(failures, 1U);
  locks_.close();
  const auto failed = told_.all<events::failed>();
  ASSERT_GE(failed.size(), 1U);
  EXPECT_EQ(failed.front().cause.code(), e->code());
  EXPECT_TRUE(failed.front().cause.connection_is_unusable());
  EXPECT_GE(told_.all<events::reconnected>().size(), 1U);
}

TEST_P(observed, a_transaction_that_is_ended_is_a_loss_and_its_connection_is_opened_again) {
  const auto held = locks_.acquire("orders/42", {.strategy = strategy::for_update});
  terminate();
  ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_TRUE(locks_.try_acquire_for("orders/42", soon, {.strategy = strategy::for_update}).has_value());
  const auto seen = locks_.stats();
  EXPECT_EQ(seen.strategies[1].lost, 1U);
  EXPECT_EQ(seen.strategies[1].acquired, 2U);
  EXPECT_GE(seen.reconnects, 1U);
  locks_.close();
  ASSERT_EQ(told_.losses().size(), 1U);
  EXPECT_EQ(told_.losses()[0].reason, loss_reason::session_ended);
  EXPECT_GT(told_.losses()[0].held, 0s);
}

}  // namespace
}  // namespace rowlock::test
