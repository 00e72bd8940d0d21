#include "transaction/transaction_test.hpp"

// From confirm to the end of the transaction nobody else can have the name, whatever becomes of the lease.

namespace rowlock::test {
namespace {

class pinned : public transaction_test {
 protected:
  /// A lease that ends soon, confirmed; waits until it would be over. Longer from try to try, until the machine is fast
  /// enough to confirm it in time.
  held_lock confirm_and_let_expire() {
    for (std::chrono::milliseconds lease{150};; lease *= 2) {
      auto held = locks().acquire("orders/42", {.lease = lease, .renew = false});
      const auto end = expiry("orders/42");
      tx().begin();
      tx().statement(write_own);
      if (!is_confirmed_in_time(held)) continue;
      EXPECT_TRUE(eventually([&] { return db().now() > end; }));
      EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
      return held;
    }
  }

 private:
  /// Else there is no transaction any more.
  bool is_confirmed_in_time(const held_lock& held) try {
    tx().confirm(held);
    return true;
  } catch (const error& e) {
    if (e.code() != errc::lock_lost) throw;
    tx().rollback();
    return false;
  }
};
ROWLOCK_SUITE_IN(pinned, each_place());
ROWLOCK_SUITE_LIKE_IN(pinned_beside_others, pinned, beside_others(each_place()));
ROWLOCK_SUITE_LIKE_IN(pinned_on_postgresql, pinned, on("postgresql", each_place()));
ROWLOCK_SUITE_LIKE_IN(pinned_on_mysql, pinned, on("mysql", each_place()));
ROWLOCK_SUITE_LIKE_IN(pinned_on_servers, pinned, on_servers(each_place()));

TEST_P(pinned, name_is_kept_beyond_the_lease_until_the_commit) {
  const auto held = confirm_and_let_expire();
  for (const auto by : all_strategies) EXPECT_FALSE(can_have("orders/42", by)) << to_string(by);
  EXPECT_NO_THROW(tx().commit());
  EXPECT_EQ(value(), 1);
  EXPECT_TRUE(can_have_soon("orders/42"));
}

TEST_P(pinned, name_is_kept_beyond_the_lease_until_a_rollback_or_the_end_of_the_connection) {
  for (const bool rolls_back : {true, false}) {
    const auto held = confirm_and_let_expire();
    EXPECT_FALSE(can_have("orders/42"));
    rolls_back ? tx().rollback() : drop_tx();
    EXPECT_TRUE(rolls_back ? can_have("orders/42") : can_have_soon("orders/42"));
    EXPECT_EQ(value(), 0);
  }
}

TEST_P(pinned_beside_others, name_is_kept_from_other_transactions) {
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

// Whoever makes way for a transaction, or looks for a version, waits for the pin: what is changed before, a snapshot
// may show that is older than what the pinned transaction commits.
TEST_P(pinned_on_servers, row_is_vacated_by_nobody_before_the_end) {
  const auto held = confirm_and_let_expire();
  const auto version = db().row("orders/42")->version;
  const auto other = open();
  other->begin();
  EXPECT_FALSE(other->try_lock_in(others(), "orders/42").has_value());
  other->rollback();
  EXPECT_TRUE(throws(errc::contention, [&] {
    other->optimistically_without_result(others(), "orders/42", [] { ADD_FAILURE() << "it is run"; }, {.attempts = 1});
  }));
  EXPECT_EQ(db().row("orders/42")->version, version);
  EXPECT_TRUE(db().row("orders/42")->owner.has_value());
  tx().commit();
  EXPECT_TRUE(can_have_soon("orders/42"));
}

TEST_P(pinned_on_postgresql, lease_goes_on_to_be_renewed_where_the_row_can_be) {
  auto held = locks().acquire("orders/42", {.lease = brisk_lease});
  tx().begin();
  tx().confirm(held);
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_FALSE(held.lost().stop_requested());
  tx().commit();
  EXPECT_NO_THROW(held.release());
}

TEST_P(pinned_on_mysql, lease_lasts_longer_after_the_commit_where_it_could_not_be_renewed) {
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

TEST_P(pinned_on_servers, lease_that_is_released_meanwhile_is_free_after_the_end) {
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

TEST_P(pinned_on_servers, lease_that_is_released_early_stays_after_the_end) {
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
