#include <cstdlib>
#include <mutex>

#include "server/server_test.hpp"
#include "support/next_release.hpp"
#include "transaction/caller.hpp"

// Tables, and a role that may use them, as a database administrator makes them from schema/: by the shell of the
// database, without this library. Then a program with that role and no other.

namespace rowlock::test {
namespace {

class granted : public on_each_server {
 protected:
  std::string folder() const { return "'" ROWLOCK_SCHEMA_FOLDER "'/" + std::string{GetParam().name} + "/"; }
  void install(const std::string& prefix = "rowlock_") {
    ASSERT_EQ(run(folder() + "[0-9]*.sql", prefix), 0);
    ASSERT_EQ(run(folder() + "grants.sql", prefix), 0);
  }
  /// As the heads of the files say.
  int run(const std::string& files, const std::string& prefix = "rowlock_") {
    const auto command = "cat " + files + " | sed 's/rowlock_app/" + db().group() + "/g; s/rowlock_/" + prefix +
                         "/g' | " + db().administrators_shell();
    return std::system(command.c_str());  // NOLINT(cert-env33-c): what a person types
  }
};
ROWLOCK_SUITE_ON_EACH_SERVER(granted);

TEST_P(granted, is_enough_for_locks_by_each_strategy) {
  install();
  install();  // which may be repeated
  auto locks = connect_to(db().url_of_member());
  EXPECT_NO_THROW(locks.check());
  for (const auto by : all_strategies) {
    const bool has_lease = by != strategy::for_update;
    auto held = locks.acquire("orders/42", {.strategy = by, .lease = has_lease ? 2s : 30s});
    EXPECT_EQ(locks.list().size(), 1U) << by;
    EXPECT_TRUE(locks.find("orders/42").has_value()) << by;
    if (has_lease) {
      EXPECT_TRUE(is_renewed("orders/42")) << by;
      EXPECT_NO_THROW(held.extend(1min)) << by;
    }
    EXPECT_NO_THROW(held.release()) << by;
    mutex orders{locks, "orders/42", {.strategy = by}};
    EXPECT_NO_THROW(const std::lock_guard guard{orders}) << by;
  }
  const auto held = locks.acquire("orders/43");
  locks.release_all();
  EXPECT_TRUE(is_vacant("orders/43"));
}

TEST_P(granted, is_enough_to_wait_in_turn) {
  install();
  const auto url = db().url_of_member();
  auto first = connect_to(url);
  auto second = connect_to(url);
  auto held = first.acquire("orders/42");
  background waiter{waiting(second, {.fairness = fairness::fifo})};
  ASSERT_TRUE(is_waited_for("orders/42"));
  EXPECT_EQ(first.waiters("orders/42").size(), 1U);
  held.release();
  EXPECT_TRUE(is_held_by("orders/42", waiter.get()));
  EXPECT_TRUE(eventually([&] { return db().tickets() == 0; }));
}

TEST_P(granted, is_enough_for_transactions_of_the_callers) {
  install();
  const auto url = db().url_of_member();
  auto locks = connect_to(url);
  const auto tx = open_caller(url, "read committed");
  tx->begin();
  tx->lock_in(locks, "orders/42");
  EXPECT_FALSE(locks.try_acquire("orders/42").has_value());
  tx->commit();
  const auto held = locks.acquire("orders/42");
  tx->begin();
  EXPECT_NO_THROW(tx->confirm(held));
  tx->commit();
  EXPECT_EQ(tx->optimistically(locks, "orders/43", [](const attempt&) { return 7; }), 7);
}

TEST_P(granted, to_a_role_that_is_not_the_default_one_is_asked_for) {
  if (!is_on("mysql")) GTEST_SKIP() << "a member of a role has its privileges at once";
  install();
  const auto url = db().url_of_member();
  db().execute("SET DEFAULT ROLE NONE /*M!100600 FOR */ /*!80000 TO */ " + db().guest());
  const auto refused = error_of([&] { return connect_to(url).try_acquire("orders/42"); });
  ASSERT_TRUE(
      is_error(refused, errc::permission_denied, {.says = {"if a role of this user has it, SET DEFAULT ROLE"}}));
}

TEST_P(granted, is_no_more_than_that) {
  install();
  const auto tx = open_caller(db().url_of_member(), "read committed");
  EXPECT_EQ(tx->number("SELECT count(*) FROM rowlock_migration"), db().newest_migration());
  for (const auto* each : {"UPDATE rowlock_migration SET checksum = 'x'", "DELETE FROM rowlock_migration",
                           "DROP TABLE rowlock_lock", "CREATE TABLE rowlock_other (n INT)"})
    EXPECT_ANY_THROW(tx->statement(each)) << each;
}

TEST_P(granted, leaves_checksums_to_others_who_migrate) {
  install();
  auto locks = connect_to(db().url_of_member());
  EXPECT_NO_THROW(locks.migrate());
  EXPECT_EQ(db().missing_checksums(), db().newest_migration());
  EXPECT_TRUE(locks.try_acquire("orders/42").has_value());
}

TEST_P(granted, lets_migrate_where_nothing_is_missing) {
  connect().close();
  ASSERT_EQ(run(folder() + "grants.sql"), 0);
  auto locks = connect_to(db().url_of_member());
  EXPECT_NO_THROW(locks.migrate());
  EXPECT_TRUE(locks.schema_status().fits);
}

TEST_P(granted, to_another_role_lets_that_one_migrate) {
  const auto url = db().url_of_guest("SELECT");  // there are no tables yet
  db().execute((is_on("postgresql") ? "GRANT CREATE ON SCHEMA " + db().name()
                                    : "GRANT CREATE, ALTER, SELECT, INSERT, UPDATE ON " + db().name() + ".*") +
               " TO " + db().guest());
  auto locks = connect_to(url);
  EXPECT_NO_THROW(locks.migrate());
  EXPECT_TRUE(locks.schema_status().fits);
  EXPECT_EQ(db().missing_checksums(), 0);
}

TEST_P(granted, does_not_let_migrate_where_something_is_missing) {
  install();
  auto locks = connect_next_release(db().url_of_member());
  EXPECT_TRUE(throws(errc::permission_denied, [&] { locks.migrate(); }));
  EXPECT_EQ(locks.schema_status().applied, db().newest_migration());
  EXPECT_TRUE(throws(errc::schema_older, [&] { locks.check(); }));
}

TEST_P(granted, goes_by_another_prefix_too) {
  install("special_");
  auto locks = connect_to(db().url_of_member(), {.table_prefix = "special_"});
  EXPECT_NO_THROW(locks.check());
  EXPECT_TRUE(locks.try_acquire("orders/42").has_value());
  EXPECT_FALSE(db().has_table("rowlock_lock"));
}

}  // namespace
}  // namespace rowlock::test
