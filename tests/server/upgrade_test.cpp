#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "server/server_test.hpp"
#include "sql/migration.hpp"
#include "support/slowness.hpp"

// The third and the fourth file of the schema change tables that are in use.

namespace rowlock::test {
namespace {

class upgrade_beside_a_reader : public on_each_server {
 protected:
  /// The session of a try that was cut off may keep the lock of migrations for a moment.
  void migrate_in_time() {
    ASSERT_TRUE(eventually([&] {
      return !error_of([&] {
        connect_to(db().url()).migrate();
        return true;
      });
    }));
  }
};
ROWLOCK_SUITE_ON_EACH_SERVER(upgrade_beside_a_reader);

TEST_P(upgrade_beside_a_reader, gives_up_in_time_and_is_repeated_later) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", {.lease = long_lease});
  background<std::optional<held_lock>> waiter{[&](std::stop_token stop) {
    std::optional<held_lock> got;
    const auto is_granted = [&] {
      const auto e = error_of([&] { return got = locks.acquire("orders/42", {.lease = long_lease}, stop), true; });
      if (e && e->code() != errc::schema_missing && e->code() != errc::schema_older) throw error{*e};
      return got.has_value();  // it may have asked while the tables were those of the second schema
    };
    static_cast<void>(eventually(is_granted));
    return got;
  }};
  ASSERT_TRUE(is_waited_for("orders/42"));
  EXPECT_FALSE(waiter.is_done_within(a_moment)) << "it has tried, and asks nothing for a while";
  db().return_to_second_schema();

  auto reader = db().transaction("SELECT count(*) FROM rowlock_waiter");
  const auto e = error_of([&] {
    connect_to(db().url(), {.call_timeout = 500ms}).migrate();
    return true;
  });
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::call_timed_out) << e->what();
  EXPECT_TRUE(e->is_retryable()) << e->what();
  EXPECT_EQ(db().newest_migration(), 2);

  reader.reset();
  migrate_in_time();
  EXPECT_EQ(db().newest_migration(), sheets::expected_schema);
  EXPECT_FALSE(held.lost().stop_requested());
  held.release();
  const auto got = waiter.get();
  ASSERT_TRUE(got.has_value());
  EXPECT_TRUE(is_held_by("orders/42", *got));
}

// The transaction keeps the table of the locks from being changed.
TEST_P(upgrade_beside_a_reader, waits_for_a_lock_that_a_transaction_holds) {
  auto locks = connect();
  locks.acquire("orders/42", {.strategy = strategy::for_update}).release();
  db().return_to_third_schema();
  auto held = locks.acquire("orders/42", {.strategy = strategy::for_update});
  EXPECT_TRUE(throws(errc::call_timed_out, [&] { connect_to(db().url(), {.call_timeout = 500ms}).migrate(); }));
  EXPECT_FALSE(held.lost().stop_requested());
  held.release();
  migrate_in_time();
  EXPECT_EQ(db().newest_migration(), sheets::expected_schema);
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
  constexpr auto call_timeout = 3 * brisk_lease;
  auto locks = connect();
  std::vector<held_lock> held;
  for (int i = 0; i < 10; ++i) held.push_back(locks.acquire("orders/" + std::to_string(i), {.lease = brisk_lease}));
  db().return_to_third_schema();
  const auto is_lost = [](const held_lock& one) { return one.lost().stop_requested(); };

  auto reader = db().reader();
  const auto e = error_of([&] { return connect_to(db().url(), {.call_timeout = call_timeout}).migrate(), true; });
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::call_timed_out) << e->what();
  EXPECT_TRUE(e->is_retryable()) << e->what();
  EXPECT_TRUE(mentions(e, "a transaction uses rowlock's tables")) << e->what();
  EXPECT_FALSE(e->connection_is_unusable()) << "it gave up by itself";
  EXPECT_EQ(db().newest_migration(), 3);
  EXPECT_EQ(std::ranges::count_if(held, is_lost), 0);
  const auto took = renewals_of(locks);
  EXPECT_LT(longer_than(500ms, took), std::accumulate(took.counts.begin(), took.counts.end(), 0U) / 4);

  background migrator{
      [&](const std::stop_token& /*stop*/) { return connect_to(db().url(), {.call_timeout = soon}).migrate(), true; }};
  EXPECT_FALSE(migrator.is_done_within(brisk_lease));
  reader.reset();
  EXPECT_TRUE(migrator.get());
  EXPECT_EQ(db().newest_migration(), sheets::expected_schema);
  EXPECT_EQ(std::ranges::count_if(held, is_lost), 0);
}

class upgrade_on_mysql : public on_each_server {};
ROWLOCK_SUITE_ON_SERVERS(upgrade_on_mysql, not_on("postgresql", servers()));

// As it does by itself, at any time, for a table of somebody else. MariaDB locks that table to change any.
TEST_P(upgrade_on_mysql, waits_while_the_server_writes_its_statistics) {
  connect().close();
  db().return_to_second_schema();
  auto in_the_way = db().transaction("SELECT count(*) FROM mysql.innodb_table_stats LOCK IN SHARE MODE");
  background migrator{[&](const std::stop_token& /*stop*/) {
    connect_to(db().url(), {.call_timeout = 20s}).migrate();
    return true;
  }};
  static_cast<void>(migrator.is_done_within(a_moment * 5));  // MySQL does not wait
  in_the_way.reset();
  EXPECT_TRUE(migrator.get());
  EXPECT_EQ(db().newest_migration(), sheets::expected_schema);
}

}  // namespace
}  // namespace rowlock::test
