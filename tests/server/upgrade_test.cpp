#include <algorithm>
#include <numeric>

#include "server/server_test.hpp"
#include "support/next_release.hpp"

// The file of the next release changes tables that are in use.

namespace rowlock::test {
namespace {

class upgrade_beside_a_reader : public on_each_server {
 protected:
  client next(client_options options = {}) { return connect_next_release(db().url(), std::move(options)); }
  /// The session of a try that was cut off may keep the lock of migrations for a moment.
  void migrate_in_time() {
    ASSERT_TRUE(eventually([&] { return !error_of([&] { next().migrate(); }); }));
  }
};
ROWLOCK_SUITE_ON_EACH_SERVER(upgrade_beside_a_reader);

TEST_P(upgrade_beside_a_reader, gives_up_in_time_and_is_repeated_later) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", {.lease = long_lease});
  background waiter{waiting(locks, {.lease = long_lease})};
  ASSERT_TRUE(is_waited_for("orders/42"));

  auto reader = db().transaction("SELECT count(*) FROM rowlock_waiter");
  const auto e = error_of([&] { next({.call_timeout = 500ms}).migrate(); });
  ASSERT_TRUE(is_error(e, errc::call_timed_out, {.is_retryable = true}));
  EXPECT_EQ(db().newest_migration(), next_schema(db().url()) - 1);

  reader.reset();
  migrate_in_time();
  EXPECT_EQ(db().newest_migration(), next_schema(db().url()));
  EXPECT_FALSE(held.lost().stop_requested());
  held.release();
  EXPECT_TRUE(is_held_by("orders/42", waiter.get()));
}

// The transaction keeps the table of the locks from being changed.
TEST_P(upgrade_beside_a_reader, waits_for_a_lock_that_a_transaction_holds) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", {.strategy = strategy::for_update});
  EXPECT_TRUE(throws(errc::call_timed_out, [&] { next({.call_timeout = 500ms}).migrate(); }));
  EXPECT_FALSE(held.lost().stop_requested());
  held.release();
  migrate_in_time();
  EXPECT_EQ(db().newest_migration(), next_schema(db().url()));
  EXPECT_TRUE(locks.try_acquire("orders/42").has_value());
}

histogram renewals_of(const client& locks) {
  const auto all = locks.stats().statements;
  return std::ranges::find(all, "renewing", &statement_statistics::operation)->took;
}

std::uint64_t longer_than(duration d, const histogram& of) {
  const auto next = std::ranges::find(histogram::bounds, d) - histogram::bounds.begin() + 1;
  return std::accumulate(of.counts.begin() + next, of.counts.end(), std::uint64_t{0});
}

// A request to change a table is first among those who wait for it, and all others wait behind it.
TEST_P(upgrade_beside_a_reader, costs_no_short_lease) {
  constexpr auto lease = 2 * brisk_lease;
  constexpr auto call_timeout = 3 * brisk_lease;
  auto locks = connect();
  std::vector<held_lock> held;
  for (int i = 0; i < 10; ++i) held.push_back(locks.acquire("orders/" + std::to_string(i), {.lease = lease}));
  const auto is_lost = [](const held_lock& one) { return one.lost().stop_requested(); };

  auto reader = db().reader();
  const auto e = error_of([&] { next({.call_timeout = call_timeout}).migrate(); });
  ASSERT_TRUE(is_error(
      e, errc::call_timed_out,
      {.is_retryable = true, .connection_is_unusable = false, .says = {"a transaction uses rowlock's tables"}}));
  EXPECT_EQ(db().newest_migration(), next_schema(db().url()) - 1);
  EXPECT_EQ(std::ranges::count_if(held, is_lost), 0);
  const auto took = renewals_of(locks);
  EXPECT_LT(longer_than(500ms, took), std::accumulate(took.counts.begin(), took.counts.end(), std::uint64_t{}) / 4);

  background migrator{[&](const std::stop_token& /*stop*/) { next({.call_timeout = soon}).migrate(); }};
  EXPECT_FALSE(migrator.is_done_within(lease));
  reader.reset();
  EXPECT_NO_THROW(migrator.get());
  EXPECT_EQ(db().newest_migration(), next_schema(db().url()));
  EXPECT_EQ(std::ranges::count_if(held, is_lost), 0);
}

class upgrade_on_mysql : public on_each_server {};
ROWLOCK_SUITE_ON_SERVERS(upgrade_on_mysql, not_on("postgresql", servers()));

// As it does by itself, at any time, for a table of somebody else. MariaDB locks that table to change any.
TEST_P(upgrade_on_mysql, waits_while_the_server_writes_its_statistics) {
  connect().close();
  auto in_the_way = db().transaction("SELECT count(*) FROM mysql.innodb_table_stats LOCK IN SHARE MODE");
  background migrator{
      [&](const std::stop_token& /*stop*/) { connect_next_release(db().url(), {.call_timeout = soon}).migrate(); }};
  static_cast<void>(migrator.is_done_within(a_moment * 5));  // MySQL does not wait
  in_the_way.reset();
  EXPECT_NO_THROW(migrator.get());
  EXPECT_EQ(db().newest_migration(), next_schema(db().url()));
}

}  // namespace
}  // namespace rowlock::test
