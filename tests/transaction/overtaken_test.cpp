#include <functional>
#include <optional>

#include "support/tcp_proxy.hpp"
#include "transaction/transaction_test.hpp"

namespace rowlock::test {
namespace {

/// What a caller sends can be held until others have acquired what it asks for.
class overtaken : public transaction_test {
 protected:
  overtaken() { make_rows({"orders/42"}); }

  tcp_proxy& way() { return way_; }
  caller& by() { return *by_; }

  /// What happens when the request to lock the row is under way leaves nothing to lock.
  void expect_no_lock(const std::function<void()>& meanwhile) {
    by().begin();
    way().on_request(tcp_proxy::contains("FOR UPDATE"), tcp_proxy::action::hold);
    std::optional<transaction_lock> got;
    background asks{[&](std::stop_token) { return error_of([&] { got = by().try_lock_in(locks(), "orders/42"); }); }};
    ASSERT_TRUE(eventually([&] { return way().has_acted(); }));
    meanwhile();
    way().let_go();
    const auto e = asks.get();
    EXPECT_TRUE(!e || e->is_retryable()) << e->what();
    EXPECT_FALSE(got);
    by().rollback();
  }

 private:
  tcp_proxy way_{server().host(), server().port()};
  std::unique_ptr<caller> by_ = open_caller(server().url_through(way_.port()), GetParam().isolation);
};
ROWLOCK_SUITE_IN(overtaken, on_servers(each_place()));
ROWLOCK_SUITE_LIKE_IN(overtaken_on_mysql, overtaken, on("mysql", each_place()));
ROWLOCK_SUITE_LIKE_IN(overtaken_by_a_failover, overtaken, on_servers(usual_places()));

TEST_P(overtaken, lock_in_leaves_a_lease_alone_that_was_granted_since_the_pool_was_asked) {
  std::optional<held_lock> theirs;
  expect_no_lock([&] { theirs = others().acquire("orders/42"); });
  EXPECT_NO_THROW(theirs.value().release());
}

// Its client has seen that there is no guard, so long ago that it has to look again.
TEST_P(overtaken_by_a_failover, lock_in_follows_a_guard_that_was_switched_on_since_it_was_last_seen) {
  ASSERT_TRUE(can_lock_in());
  const auto long_ago = others().acquire("orders/43", {.lease = 10'500ms, .renew = false});
  ASSERT_TRUE(has_expired("orders/43"));
  static_cast<void>(others().set_guard(2s));
  expect_no_lock([&] { db().execute("UPDATE rowlock_guard SET incarnation = 'former'"); });
  EXPECT_TRUE(locks().guard().left.has_value());
}

// It looks at the row first, and then makes the lease longer.
TEST_P(overtaken_on_mysql, confirm_has_the_row_locked_between_its_statements) {
  const auto held = locks().acquire("orders/42");
  by().begin();
  way().on_request(tcp_proxy::contains("INTERVAL 1 MICROSECOND"), tcp_proxy::action::hold);
  background confirms{[&](std::stop_token) { return error_of([&] { by().confirm(held); }); }};
  ASSERT_TRUE(eventually([&] { return way().has_acted(); }));
  EXPECT_ANY_THROW(
      open_witness()->statement("SELECT name FROM rowlock_lock WHERE name = 'orders/42' FOR UPDATE NOWAIT"));
  way().let_go();
  EXPECT_FALSE(confirms.get());
  by().rollback();
}

}  // namespace
}  // namespace rowlock::test
