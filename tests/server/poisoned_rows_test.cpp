#include "server/server_test.hpp"

namespace rowlock::test {
namespace {

constexpr sweeper_options by_hand{.every = 24h};

/// Rows that somebody has written by hand, into tables without constraints, as former schema files have made them.
class poisoned_rows : public on_each_server {
 protected:
  poisoned_rows() { connect().close(); }

  static std::vector<std::string> names(client& of) {
    std::vector<std::string> out;
    for (const auto& each : of.list())
      if (each.name.view().starts_with("orders/")) out.emplace_back(each.name.view());
    return out;
  }
};
ROWLOCK_SUITE_ON_EACH_SERVER(poisoned_rows);
ROWLOCK_SUITE_LIKE_ON_SERVERS(poisoned_rows_not_on_postgresql, poisoned_rows, not_on("postgresql", servers()));
ROWLOCK_SUITE_LIKE_ON_SERVERS(poisoned_rows_on_postgresql, poisoned_rows, on("postgresql", servers()));

TEST_P(poisoned_rows_on_postgresql, that_never_expire_are_listed_and_can_be_freed) {
  db().execute("ALTER TABLE rowlock_lock DROP CONSTRAINT rowlock_lock_finite");
  auto locks = connect();
  auto other = connect();
  const auto held = locks.acquire("orders/41", {.lease = 60s});
  const auto poisoned = locks.acquire("orders/42", {.lease = 60s});
  db().execute("UPDATE rowlock_lock SET expires_at = 'infinity', acquired_at = '-infinity' WHERE name = 'orders/42'");
  EXPECT_EQ(names(other), (std::vector<std::string>{"orders/41", "orders/42"}));
  EXPECT_TRUE(other.find("orders/42").has_value());
  EXPECT_FALSE(other.try_acquire("orders/42").has_value());
  EXPECT_NO_THROW(static_cast<void>(other.database_stats()));
  EXPECT_TRUE(other.force_release("orders/42"));
  EXPECT_TRUE(other.try_acquire("orders/42").has_value());
}

TEST_P(poisoned_rows_on_postgresql, with_infinite_times_are_refused) {
  EXPECT_ANY_THROW(db().execute("INSERT INTO rowlock_lock (name, version, expires_at) VALUES ('a', 1, 'infinity')"));
}

TEST_P(poisoned_rows_on_postgresql, of_waiters_with_endless_names_do_not_end_sweeps) {
  db().execute("ALTER TABLE rowlock_waiter DROP CONSTRAINT rowlock_waiter_name");
  auto locks = connect();
  db().add_unused(5);
  db().execute(
      "INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at) "
      "SELECT repeat('x', 9000), 'somebody:host:1:0123456789abcdef', 't', 'a', now(), now() + interval '1 hour'");
  sweeper sweeps{locks, by_hand};
  EXPECT_EQ(sweeps.sweep_once(), 5U);
  EXPECT_EQ(sweeps.statistics().failures, 0U);
}

TEST_P(poisoned_rows, with_owners_that_are_none_do_not_end_sweeps) {
  auto locks = connect();
  db().add_unused(5);
  db().execute(
      "INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at) "
      "VALUES ('orders/42', '', 't', 'a', '2020-01-01', '2099-01-01'), "
      "('orders/43', repeat('🔒', 16), 't', 'b', '2020-01-01', '2099-01-01')");
  sweeper sweeps{locks, by_hand};
  EXPECT_EQ(sweeps.sweep_once(), 5U);
  EXPECT_EQ(sweeps.statistics().failures, 0U);
}

TEST_P(poisoned_rows_not_on_postgresql, under_what_is_no_text_are_reported_and_passed_over) {
  const recorder told;
  auto locks = connect({.observer = told.observer()});
  db().add_unused(5);
  db().execute(
      "INSERT INTO rowlock_lock (name, version, expires_at) VALUES (x'61ff41', 1, '2020-01-01'); "
      "INSERT INTO rowlock_lock (name, version, owner, acquisition, acquired_at, expires_at) "
      "VALUES (x'62ff41', 1, 'somebody', 'a', '2020-01-01', '2099-01-01'); "
      "INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at) "
      "VALUES (x'61ff41', 'somebody', 't', 'a', '2020-01-01', '2020-01-01')");
  sweeper sweeps{locks, by_hand};
  EXPECT_EQ(sweeps.sweep_once(), 6U) << "the ticket goes by its number";
  EXPECT_EQ(sweeps.statistics().failures, 0U);
  EXPECT_TRUE(eventually([&] { return told.warned("a\\xffA"); }));
  const auto held = locks.acquire("orders/42");
  EXPECT_EQ(names(locks), (std::vector<std::string>{"orders/42"}));
  EXPECT_TRUE(eventually([&] { return told.warned("b\\xffA"); }));
  EXPECT_NO_THROW(static_cast<void>(locks.database_stats()));
}

}  // namespace
}  // namespace rowlock::test
