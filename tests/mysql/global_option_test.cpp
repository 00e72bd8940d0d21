#include <stop_token>

#include "server/server_test.hpp"

// What an administrator of MySQL or MariaDB has set for everybody.

namespace rowlock::test {
namespace {

class global_option : public server_test {
 protected:
  global_option() : server_test{on("mysql", servers_for_defaults()).front().open()} {}
};

TEST_F(global_option, of_myisam_makes_no_table_that_locks_no_rows) {
  const auto engine = db().set_default("default_storage_engine", "MyISAM");
  connect().check();
  const auto tables_of = [&](const std::string& condition) {
    return db().number("SELECT count(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = '" + db().name() + "'" +
                       condition);
  };
  EXPECT_GT(tables_of(""), 0);
  EXPECT_EQ(tables_of(" AND ENGINE = 'InnoDB'"), tables_of(""));
}

TEST_F(global_option, of_reading_only_is_told_and_ridden_out) {
  auto locks = connect();
  auto read_only = db().set_default("read_only", "1");
  const auto is_told = [](const std::optional<error>& e) {
    ASSERT_TRUE(
        is_error(e, errc::connection_failed, {.is_retryable = true, .outcome_is_unknown = false, .says = {"primary"}}));
  };
  is_told(error_of([&] { return locks.try_acquire("orders/42").has_value(); }));
  is_told(error_of([&] { connect_to(db().url()).close(); }));
  background waiter{waiting(locks)};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  read_only.reset();
  EXPECT_TRUE(is_held_by("orders/42", waiter.get()));
}

TEST_F(global_option, of_a_log_that_is_not_synced_is_warned_of) {
  const recorder told;
  const auto log = db().set_default("innodb_flush_log_at_trx_commit", "2");
  connect_to(db().url(), {.observer = told.observer()}).close();
  EXPECT_TRUE(told.warned("innodb_flush_log_at_trx_commit"));
}

TEST_F(global_option, of_no_more_prepared_statements_costs_no_lock) {
  connect().close();
  const auto none = db().set_default("max_prepared_stmt_count", "0");
  auto locks = connect_to(db().url());
  auto other = connect_to(db().url());
  auto held = locks.acquire("orders/42", {.lease = brisk_lease});
  EXPECT_TRUE(is_held_by("orders/42", held));
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_FALSE(held.lost().stop_requested());
  held.release();
  expect_whole_life(locks, other);
  EXPECT_EQ(locks.acquire_all({"a", "b", "c"}).size(), 3U);
  const auto reader = locks.acquire_shared("shelf");
  EXPECT_TRUE(other.try_acquire_shared("shelf"));
  EXPECT_EQ(other.list("shelf").size(), 1U);
  EXPECT_TRUE(locks.try_acquire("version", {.strategy = strategy::version_cas}));
  EXPECT_TRUE(locks.stats().errors.empty());
}

}  // namespace
}  // namespace rowlock::test
