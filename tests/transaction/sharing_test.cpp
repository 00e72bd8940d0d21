#include "transaction/transaction_test.hpp"

// Names that several share, and transactions that want them alone.

namespace rowlock::test {
namespace {

class sharing_and_transactions : public transaction_test {};
ROWLOCK_SUITE_IN(sharing_and_transactions, each_place());
ROWLOCK_SUITE_LIKE_IN(sharing_beside_others, transaction_test, beside_others(each_place()));
ROWLOCK_SUITE_LIKE_IN(sharing_on_servers, transaction_test, on_servers(each_place()));

TEST_P(sharing_and_transactions, a_shared_name_keeps_lock_in_out) {
  auto one = others().acquire_shared("orders/42");
  auto two = others().acquire_shared("orders/42");
  EXPECT_FALSE(can_lock_in());
  one.release();
  EXPECT_FALSE(can_lock_in());
  two.release();
  EXPECT_TRUE(can_lock_in());
}

TEST_P(sharing_beside_others, lock_in_keeps_readers_out_until_the_commit) {
  others().acquire_shared("orders/42").release();
  const auto lock = begin_and_lock_in();
  EXPECT_FALSE(others().try_acquire_shared("orders/42"));
  tx().commit();
  const auto reader = others().try_acquire_shared("orders/42");
  ASSERT_TRUE(reader);
  EXPECT_GT(reader->token(), lock.token());
}

TEST_P(sharing_on_servers, lock_in_waits_for_a_dead_reader_no_longer_than_its_lease) {
  auto living = others().acquire_shared("orders/42", {.lease = 1h});
  const auto dead = others().acquire_shared("orders/42", {.lease = 200ms, .renew = false});
  living.release();
  EXPECT_TRUE(eventually([&] { return dead.lost().stop_requested(); }));
  EXPECT_TRUE(eventually([&] { return can_lock_in(); }));
}

TEST_P(sharing_and_transactions, a_share_is_not_confirmed_and_its_holder_waits_for_no_transaction_of_its_own) {
  const auto mine = locks().acquire_shared("orders/42", {.as = holder::this_thread()});
  tx().begin();
  EXPECT_TRUE(throws(errc::unsupported, [&] { tx().confirm(mine); }));
  EXPECT_TRUE(throws(errc::would_deadlock, [&] { (void)tx().try_lock_in(locks(), "orders/42"); }));
  tx().rollback();
}

// The client hands the second share over inside the process. The upgrade is a grant by the database.
TEST_P(sharing_beside_others, an_upgraded_share_that_was_handed_over_is_confirmed) {
  auto held = others().acquire("orders/42");
  const auto share = [&](std::stop_token stop) { return locks().acquire_shared("orders/42", {}, std::move(stop)); };
  background first{share};
  EXPECT_TRUE(eventually([&] { return db().tickets() == 1; }));
  background second{share};
  EXPECT_TRUE(eventually([&] { return db().tickets() == 2; }));
  held.release();
  first.get().release();
  auto upgraded = second.get();
  EXPECT_TRUE(eventually([&] { return upgraded.try_upgrade(); }));
  const auto confirmed = [&] {  // the ticket of the second leaves only now, and MariaDB 11.6 refuses a changed row
    tx().begin();
    EXPECT_EQ(tx().number(read_own), 0);
    const auto failed = error_of([&] { tx().confirm(upgraded); });
    tx().rollback();
    return !failed;
  };
  EXPECT_TRUE(eventually(confirmed));
}

}  // namespace
}  // namespace rowlock::test
