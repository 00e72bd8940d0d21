#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <string>

#include "support/slowness.hpp"
#include "transaction/transaction_test.hpp"

// From confirm to the end of the transaction nobody else can have the name, whatever becomes of the lease.

namespace rowlock::test {
namespace {

constexpr auto short_lease = 150ms;

class pinned : public transaction_test {
 protected:
  /// A lease that ends soon, confirmed; waits until it would be over.
  held_lock confirm_and_let_expire() {
    auto held = locks().acquire("orders/42", {.lease = short_lease, .renew = false});
    const auto end = expiry("orders/42");
    tx().begin();
    tx().statement(write_own);
    tx().confirm(held);
    EXPECT_TRUE(eventually([&] { return db().now() > end; }));
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    return held;
  }
};
ROWLOCK_SUITE_IN_EACH_PLACE(pinned);

TEST_P(pinned, name_is_kept_beyond_the_lease_until_the_commit) {
  const auto held = confirm_and_let_expire();
  for (const auto by : all_strategies) EXPECT_FALSE(can_have("orders/42", by)) << to_string(by);
  EXPECT_NO_THROW(tx().commit());
  EXPECT_EQ(value(), 1);
  EXPECT_TRUE(can_have_soon("orders/42"));
}

TEST_P(pinned, name_is_kept_beyond_the_lease_until_a_rollback) {
  const auto held = confirm_and_let_expire();
  EXPECT_FALSE(can_have("orders/42"));
  tx().rollback();
  EXPECT_TRUE(can_have("orders/42"));
  EXPECT_EQ(value(), 0);
}

TEST_P(pinned, name_is_kept_until_the_connection_is_closed) {
  const auto held = confirm_and_let_expire();
  EXPECT_FALSE(can_have("orders/42"));
  drop_tx();
  EXPECT_TRUE(can_have_soon("orders/42"));
}

TEST_P(pinned, name_is_kept_from_other_transactions) {
  if (GetParam().locks_file) GTEST_SKIP() << "the other transaction cannot even begin";
  const auto held = confirm_and_let_expire();
  const auto other = open();
  other->begin();
  EXPECT_FALSE(other->try_lock_in(others(), "orders/42").has_value());
  other->rollback();
  tx().commit();
  EXPECT_TRUE(eventually([&] {
    other->begin();
    const bool is_free = other->try_lock_in(others(), "orders/42").has_value();
    other->rollback();
    return is_free;
  }));
}

TEST_P(pinned, lease_goes_on_to_be_renewed_where_the_row_can_be) {
  if (!is_on("postgresql")) GTEST_SKIP() << "here the pin locks the row, or the file";
  auto held = locks().acquire("orders/42", {.lease = brisk_lease});
  tx().begin();
  tx().confirm(held);
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_FALSE(held.lost().stop_requested());
  tx().commit();
  EXPECT_NO_THROW(held.release());
}

TEST_P(pinned, lease_lasts_longer_after_the_commit_where_it_could_not_be_renewed) {
  if (!is_on("mysql")) GTEST_SKIP() << "here it can be renewed, or the file is kept for so short a time";
  auto held = locks().acquire("orders/42", {.lease = 10s, .renew = false});
  const auto before = expiry("orders/42");
  tx().begin();
  tx().confirm(held);
  tx().commit();
  EXPECT_GT(expiry("orders/42"), before);
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_NO_THROW(held.release());
  EXPECT_TRUE(can_have("orders/42"));
}

TEST_P(pinned, lease_that_is_released_meanwhile_is_free_after_the_end) {
  if (!is_on_server()) GTEST_SKIP() << "a file has one writer";
  auto held = locks().acquire("orders/42");
  tx().begin();
  tx().confirm(held);
  EXPECT_NO_THROW(held.release());
  EXPECT_FALSE(can_have("orders/42"));
  tx().statement(write_own);
  tx().commit();
  EXPECT_TRUE(can_have_soon("orders/42"));
  EXPECT_EQ(value(), 1);
}

TEST_P(pinned, lease_that_is_released_early_stays_after_the_end) {
  if (!is_on_server()) GTEST_SKIP() << "a file has one writer";
  auto held = locks().acquire("orders/42", {.lease = 1h, .at_least = 30min});
  const auto end = db().row("orders/42").value().acquired_at.value() + std::chrono::microseconds{30min}.count();
  tx().begin();
  tx().confirm(held);
  EXPECT_NO_THROW(held.release());
  EXPECT_FALSE(tx().try_lock_in(locks(), "orders/42").has_value()) << "not even where the pin is its own";
  tx().rollback();
  EXPECT_TRUE(eventually([&] { return expiry("orders/42") == end; }));
  EXPECT_FALSE(can_have("orders/42"));
}

}  // namespace
}  // namespace rowlock::test
