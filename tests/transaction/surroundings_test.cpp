#include "transaction/transaction_test.hpp"

// What a caller's session may be like, and what a caller may have done before in the same transaction.

namespace rowlock::test {
namespace {

class surroundings : public transaction_test {
 protected:
  bool is_on_postgresql() const { return is_on("postgresql"); }
};
ROWLOCK_SUITE_IN(surroundings, each_place());
ROWLOCK_SUITE_LIKE_IN(surroundings_on_servers, surroundings, on_servers(each_place()));
ROWLOCK_SUITE_LIKE_IN(surroundings_beside_writers, surroundings, beside_writers(each_place()));

// Once, a session that speaks Latin-1 made of every byte of a UTF-8 name a letter of its own.
TEST_P(surroundings_on_servers, character_set_does_not_change_names) {
  const lock_name name{"caf\xC3\xA9/42"};
  const lock_name misread{"caf\xC3\x83\xC2\xA9/42"};
  others().acquire(misread).release();
  tx().statement(is_on_postgresql() ? "SET client_encoding = 'LATIN1'" : "SET NAMES latin1");
  tx().begin();
  ASSERT_TRUE(tx().try_lock_in_for(locks(), name, 1s, {.note = "\xC3\xA9"}));
  EXPECT_FALSE(can_have(name));
  EXPECT_TRUE(can_have(misread));
  tx().commit();
  EXPECT_TRUE(can_have(name));
  auto held = locks().acquire(name);
  tx().begin();
  EXPECT_NO_THROW(tx().confirm(held));
  tx().commit();
  held.release();
  EXPECT_EQ(tx().optimistically(locks(), name, [](attempt which) { return which.number; }), 1);
}

// A copy of the row in a table of the session's own would be had beside the real one.
TEST_P(surroundings_on_servers, place_does_not_change_tables) {
  if (is_on_postgresql()) tx().statement("CREATE TEMP TABLE rowlock_lock (LIKE rowlock_lock INCLUDING ALL)");
  const auto held = locks().acquire("orders/43");
  tx().statement(is_on_postgresql() ? "SET search_path = pg_catalog" : "USE information_schema");
  begin_and_lock_in();
  EXPECT_NO_THROW(tx().confirm(held));
  EXPECT_FALSE(can_have("orders/42"));
  tx().commit();
  EXPECT_TRUE(can_have("orders/42"));
  EXPECT_EQ(tx().optimistically(locks(), "orders/42", [](attempt which) { return which.number; }), 1);
  const auto in_the_way = others().acquire("orders/44");
  EXPECT_FALSE(can_lock_in("orders/44"));
}

TEST_P(surroundings_on_servers, time_zone_does_not_change_tokens) {
  const auto before = locks().acquire("orders/42").token();
  tx().statement(is_on_postgresql() ? "SET TIME ZONE '-09'" : "SET time_zone = '-09:00'");
  tx().begin();
  const auto token = tx().lock_in(locks(), "orders/42").token();
  tx().commit();
  EXPECT_GT(token, before);
  EXPECT_LE(token.value(), db().now());
  auto held = locks().acquire("orders/42", {.lease = 10s});
  EXPECT_GT(held.token(), token);
  tx().begin();
  EXPECT_NO_THROW(tx().confirm(held));
  tx().commit();
}

// Behind somebody's transaction it waits in the database, where the session's own limit ends statements.
TEST_P(surroundings_on_servers, limit_of_statements_does_not_end_the_wait) {
  const auto held = others().acquire("orders/42", {.strategy = strategy::for_update});
  tx().begin();
  tx().statement(is_on_postgresql()
                     ? "SET LOCAL statement_timeout = '400ms'"
                     : "SET SESSION /*M!100600 max_statement_time = 0.4 */ /*!80000 max_execution_time = 400 */");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(tx().try_lock_in_for(locks(), "orders/42", 1500ms).has_value());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 1500ms);
  expect_of_use();
}

TEST_P(surroundings, savepoint_of_any_name_is_the_callers_own) {
  make_rows({"orders/42"});
  for (const std::string name : {"rowlock", "rowlock_lock_in"}) {
    tx().begin();
    tx().statement("UPDATE own SET n = 1 WHERE id = 2");
    tx().savepoint(name);
    tx().statement(write_own);
    tx().lock_in(locks(), "orders/42");
    tx().roll_back_to(name);
    tx().commit();
    EXPECT_EQ(value(1), 0) << name;
    EXPECT_EQ(value(2), 1) << name;
  }
}

// What a transaction has confirmed it keeps in the row, also from itself.
TEST_P(surroundings_on_servers, lock_that_was_confirmed_and_released_can_be_had) {
  for (const auto lease : {30s, 1s}) {
    auto held = locks().acquire("orders/42", {.lease = lease});
    tx().begin();
    tx().confirm(held);
    EXPECT_NO_THROW(held.release());
    std::optional<transaction_lock> had;
    EXPECT_TRUE(eventually([&] { return (had = tx().try_lock_in_for(locks(), "orders/42", 300ms)).has_value(); }));
    EXPECT_FALSE(can_have("orders/42"));
    tx().commit();
    EXPECT_TRUE(can_have("orders/42"));
  }
}

// Its snapshot shows a lease that is over; renewed since, it is not.
TEST_P(surroundings_beside_writers, old_snapshot_does_not_end_a_lease) {
  const auto held = locks().acquire("orders/42", {.lease = brisk_lease});
  const auto end = expiry("orders/42");
  tx().begin();
  tx().statement("SELECT version FROM rowlock_lock WHERE name = 'orders/42'");
  ASSERT_TRUE(eventually([&] { return db().now() > end; }));
  const auto e = error_of([&] { tx().confirm(held); });
  EXPECT_TRUE(!e || e->is_retryable()) << e->what();
  tx().rollback();
  EXPECT_EQ(held.why_lost(), loss_reason::none);
}

}  // namespace
}  // namespace rowlock::test
