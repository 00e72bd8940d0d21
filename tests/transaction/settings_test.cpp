#include "transaction/transaction_test.hpp"

namespace rowlock::test {
namespace {

/// What a transaction, or its session, is set to stays as it was.
class settings : public transaction_test {
 protected:
  void set_odd_ones() {
    if (is_on("postgresql")) tx().statement("SET lock_timeout = '12345ms'; SET statement_timeout = '54321ms'");
    if (is_on("mysql"))
      tx().statement("SET SESSION innodb_lock_wait_timeout = 17, SESSION lock_wait_timeout = 23, time_zone = '+03:00'");
    if (is_on("sqlite")) tx().statement("PRAGMA busy_timeout = 321");
  }
  void set_odd_ones_of_transaction() {
    if (is_on("postgresql")) tx().statement("SET LOCAL lock_timeout = '23456ms'; SET LOCAL work_mem = '5MB'");
  }
  std::string all() {
    if (is_on("postgresql"))
      return tx().text(
          "SELECT name, setting FROM pg_settings WHERE name IN ('lock_timeout', 'statement_timeout', "
          "'transaction_isolation', 'transaction_read_only', 'transaction_deferrable', 'search_path', 'TimeZone', "
          "'work_mem', 'client_min_messages', 'plan_cache_mode', 'enable_seqscan', 'synchronous_commit', "
          "'idle_in_transaction_session_timeout', 'deadlock_timeout', 'row_security', 'application_name') "
          "ORDER BY name");
    if (is_on("mysql"))
      return tx().text(
          "SHOW SESSION VARIABLES WHERE Variable_name IN ('innodb_lock_wait_timeout', 'lock_wait_timeout', "
          "'tx_isolation', 'transaction_isolation', 'autocommit', 'time_zone', 'sql_mode', 'max_statement_time', "
          "'sql_select_limit', 'character_set_client', 'collation_connection', 'sql_safe_updates')");
    return tx().text("PRAGMA busy_timeout") + "," + tx().text("PRAGMA synchronous") + "," +
           tx().text("PRAGMA locking_mode") + "," + tx().text("PRAGMA query_only") + "," +
           tx().text("PRAGMA foreign_keys") + "," + tx().text("PRAGMA database_list");
  }
  /// Begins a transaction with odd settings, in a session that has odd ones of its own.
  void begin() {
    make_rows({"orders/42"});
    set_odd_ones();
    before_ = all();
    tx().begin();
    set_odd_ones_of_transaction();
    within_ = all();
  }
  void expect_same(const std::string& when) { EXPECT_EQ(all(), within_) << when; }
  void commit() {
    tx().commit();
    EXPECT_EQ(all(), before_) << "after the commit";
  }

 private:
  std::string before_{};
  std::string within_{};
};
ROWLOCK_SUITE_IN(settings, usual_places());
ROWLOCK_SUITE_LIKE_IN(settings_beside_others, settings, beside_others(usual_places()));

TEST_P(settings, are_the_same_after_every_answer) {
  auto held = others().acquire("orders/43");
  begin();
  EXPECT_FALSE(tx().try_lock_in(locks(), "orders/43").has_value());
  expect_same("after a busy answer");
  if (!GetParam().locks_file) {
    EXPECT_FALSE(tx().try_lock_in_for(locks(), "orders/43", 200ms).has_value());
    expect_same("after a time-out");
  }
  tx().lock_in(locks(), "orders/42");
  expect_same("with the lock");
  tx().confirm(held);
  expect_same("after confirm");
  commit();
}

TEST_P(settings_beside_others, are_the_same_after_waiting_for_a_transaction) {
  begin();
  const auto other = locked_elsewhere();
  EXPECT_FALSE(tx().try_lock_in_for(locks(), "orders/42", 1100ms).has_value());
  expect_same("after a time-out");
  background waiter{
      [&](const std::stop_token& /*stop*/) { return tx().try_lock_in_for(locks(), "orders/42", 30s).has_value(); }};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  other->rollback();
  EXPECT_TRUE(waiter.get());
  expect_same("with the lock");
  commit();
}

TEST_P(settings, are_the_same_after_a_refusal) {
  mutex order{locks(), "orders/43"};
  order.lock();
  begin();
  EXPECT_TRUE(throws(errc::would_deadlock, [&] { tx().lock_in(locks(), "orders/43"); }));
  EXPECT_TRUE(throws(errc::not_held, [&] { tx().confirm(held_lock{}); }));
  expect_same("after a refusal");
  commit();
  order.unlock();
}

TEST_P(settings, are_the_same_after_optimistically) {
  make_rows({"orders/42"});
  set_odd_ones();
  const auto before = all();
  tx().optimistically_without_result(locks(), "orders/42", [&] { tx().statement(write_own); });
  EXPECT_EQ(all(), before);
  EXPECT_EQ(value(), 1);
}

}  // namespace
}  // namespace rowlock::test
