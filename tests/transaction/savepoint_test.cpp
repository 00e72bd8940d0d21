#include "transaction/transaction_test.hpp"

// PostgreSQL gives a row lock back with the savepoint, InnoDB keeps it, and a file's only writer stays that.

namespace rowlock::test {
namespace {

class savepoint : public transaction_test {
 protected:
  savepoint() { make_rows({"orders/42", "orders/43"}); }

  bool lets_go() const { return is_on("postgresql"); }
};
ROWLOCK_SUITE_IN(savepoint, each_place());

TEST_P(savepoint, before_the_lock_lets_go_where_row_locks_are_given_back) {
  tx().begin();
  tx().statement("UPDATE own SET n = 7 WHERE id = 2");
  tx().savepoint("outset");
  const auto lock = tx().lock_in(locks(), "orders/42");
  EXPECT_FALSE(can_have("orders/42"));
  tx().roll_back_to("outset");
  EXPECT_EQ(can_have("orders/42"), lets_go());
  tx().commit();
  EXPECT_EQ(value(2), 7);
  ASSERT_TRUE(can_have("orders/42"));
  EXPECT_GT(others().acquire("orders/42").token(), lock.token());
}

// MySQL rolls back all of a storage engine that had no part in the transaction when the savepoint was set.
TEST_P(savepoint, before_all_else_lets_go_on_a_server) {
  tx().begin();
  tx().savepoint("outset");
  tx().lock_in(locks(), "orders/42");
  tx().roll_back_to("outset");
  EXPECT_EQ(can_have("orders/42"), is_on_server());
  tx().commit();
  EXPECT_TRUE(can_have("orders/42"));
}

TEST_P(savepoint, after_the_lock_does_not_let_go) {
  begin_and_lock_in();
  tx().savepoint("later");
  tx().statement(write_own);
  tx().roll_back_to("later");
  EXPECT_FALSE(can_have("orders/42"));
  tx().commit();
  EXPECT_TRUE(can_have("orders/42"));
  EXPECT_EQ(value(), 0);
}

TEST_P(savepoint, in_a_savepoint_lets_go_of_its_own) {
  tx().begin();
  tx().statement("UPDATE own SET n = 7 WHERE id = 2");
  tx().savepoint("first_one");
  tx().lock_in(locks(), "orders/42");
  tx().savepoint("second_one");
  tx().lock_in(locks(), "orders/43");
  tx().roll_back_to("second_one");
  EXPECT_EQ(can_have("orders/43"), lets_go());
  EXPECT_FALSE(can_have("orders/42"));
  tx().roll_back_to("first_one");
  EXPECT_EQ(can_have("orders/42"), lets_go());
  tx().commit();
  EXPECT_TRUE(can_have("orders/42"));
  EXPECT_TRUE(can_have("orders/43"));
}

TEST_P(savepoint, that_is_released_keeps_the_lock) {
  tx().begin();
  tx().savepoint("outset");
  tx().lock_in(locks(), "orders/42");
  tx().statement("RELEASE SAVEPOINT outset");
  EXPECT_FALSE(can_have("orders/42"));
  tx().commit();
  EXPECT_TRUE(can_have("orders/42"));
}

TEST_P(savepoint, can_be_rolled_back_to_after_a_busy_answer) {
  auto held = others().acquire("orders/42");
  tx().begin();
  tx().statement(write_own);
  tx().savepoint("outset");
  EXPECT_FALSE(tx().try_lock_in(locks(), "orders/42").has_value());
  tx().statement(write_own);
  tx().roll_back_to("outset");
  tx().commit();
  EXPECT_EQ(value(), 1);
}

TEST_P(savepoint, rolled_back_to_lets_the_name_be_locked_again) {
  tx().begin();
  tx().savepoint("outset");
  const auto first = tx().lock_in(locks(), "orders/42");
  tx().roll_back_to("outset");
  const auto again = tx().lock_in(locks(), "orders/42");
  EXPECT_GE(again.token(), first.token());
  EXPECT_FALSE(can_have("orders/42"));
  tx().commit();
  EXPECT_TRUE(can_have("orders/42"));
}

}  // namespace
}  // namespace rowlock::test
