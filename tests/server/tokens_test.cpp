#include "server/gate_before_the_lock.hpp"
#include "server/server_test.hpp"

// A token is as late as the lock of the row, not as the statement: who had the name in between may have been rolled
// back, and then only the clock knows of their token.

namespace rowlock::test {
namespace {

class tokens : public on_each_server {
 protected:
  /// Statements stop that try to get the row, before they have locked it. PostgreSQL: where they read it.
  [[nodiscard]] std::unique_ptr<obstacle> gate_before_the_lock() {
    return is_on("postgresql") ? gate_before_reading(db()) : db().gate();
  }

  void expect_token_after_the_lock(strategy by) {
    auto locks = connect();
    locks.acquire("orders/42").release();
    auto gate = gate_before_the_lock();
    background next{
        [&](std::stop_token stop) { return locks.acquire("orders/42", {.strategy = by}, stop).token().value(); }};
    ASSERT_TRUE(eventually([&] { return db().at_gate() > 0; }));
    const auto last_of_others = db().now();
    gate.reset();
    EXPECT_GT(next.get(), last_of_others);
  }
};
ROWLOCK_SUITE_ON_EACH_SERVER(tokens);
ROWLOCK_SUITE_LIKE_ON_SERVERS(tokens_on_postgresql, tokens, on("postgresql", servers()));

TEST_P(tokens, of_a_lease_are_read_after_the_lock_where_the_statement_was_delayed_before_it) {
  expect_token_after_the_lock(strategy::unique_index);
}

TEST_P(tokens_on_postgresql, of_a_transaction_are_read_after_the_lock_where_the_statement_was_delayed_before_it) {
  expect_token_after_the_lock(strategy::for_update);
}

}  // namespace
}  // namespace rowlock::test
