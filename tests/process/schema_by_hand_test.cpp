#include <cstdlib>

#include "process/process_test.hpp"
#include "support/next_release.hpp"

// The schema files as a database administrator runs them: by the shell of the database, without this library.

namespace rowlock::test {
namespace {

class schema_by_hand : public on_each_database {
 protected:
  client connect() const { return connect_patiently(db().url()); }

  int run(const std::string& input) const {
    const auto command = input + " | " + db().shell();
    return std::system(command.c_str());  // NOLINT(cert-env33-c): what a person types
  }
  int run_schema() const { return run("cat " + files_); }
  /// The beginning, which makes so many tables.
  int run_some_of_schema(int tables) const {
    return run("awk 'made < " + std::to_string(tables) + "; /^[)]/ { ++made }' " + files_);
  }
  /// The files that the client says are missing.
  static std::string missing_for(client& locks) {
    std::string out;
    for (const auto& each : locks.schema_status().migrations)
      if (each.state == migration_state::pending) out += each.sql + '\n';
    return out;
  }
  int run_text(const std::string& sql) const {
    const temp_folder folder;
    std::ofstream{folder / "all.sql"} << sql;
    return run("cat '" + (folder / "all.sql").string() + "'");
  }

  const std::string files_ = "'" ROWLOCK_SCHEMA_FOLDER "/" + std::string{GetParam().name} + "'/0*.sql";
};
ROWLOCK_SUITE_ON_EACH_DATABASE(schema_by_hand);

TEST_P(schema_by_hand, is_enough_for_locking_and_changes_nothing_when_it_is_run_again) {
  ASSERT_EQ(run_schema(), 0);
  auto locks = connect();
  EXPECT_NO_THROW(locks.check());
  const auto held = locks.acquire("orders/42");
  const background waiter{
      [&](std::stop_token stop) { return locks.acquire("orders/42", {.note = "deploy"}, std::move(stop)); }};
  ASSERT_TRUE(eventually([&] { return db().tickets() == 1; }));
  const auto ticket = locks.waiters("orders/42").at(0).ticket;
  ASSERT_EQ(run_schema(), 0);
  EXPECT_EQ(locks.find("orders/42").value().token, held.token());
  const auto seen = locks.waiters("orders/42");
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].ticket, ticket);
  EXPECT_EQ(seen[0].note, "deploy");
}

TEST_P(schema_by_hand, is_finished_by_a_second_run_wherever_the_first_was_interrupted) {
  constexpr int tables_of_first_file = 5;
  for (int tables = 1; tables <= tables_of_first_file; ++tables) {
    ASSERT_EQ(run_some_of_schema(tables), 0);
    EXPECT_TRUE(throws(errc::schema_missing, [&] { connect().check(); })) << tables << " tables";
  }
  EXPECT_TRUE(db().has_table("rowlock_migration")) << "the last";
  ASSERT_EQ(run_schema(), 0);
  EXPECT_NO_THROW(connect().check());
}

TEST_P(schema_by_hand, is_finished_by_migrate_where_a_run_was_interrupted) {
  ASSERT_EQ(run_some_of_schema(2), 0);
  EXPECT_EQ(connect().schema_status().applied, 0);
  connect().migrate();
  EXPECT_NO_THROW(connect().check());
  EXPECT_EQ(db().missing_checksums(), 0);
}

TEST_P(schema_by_hand, is_not_made_beside_a_table_of_somebody_else) {
  ASSERT_EQ(run("echo \"CREATE TABLE rowlock_lock (door INTEGER)\""), 0);
  const auto found = connect().schema_status();
  EXPECT_FALSE(found.fits);
  EXPECT_NE(found.refusal.find("the table rowlock_lock is not rowlock's"), std::string::npos) << found.refusal;
  EXPECT_TRUE(throws(errc::database_error, [&] { connect().migrate(); }));
  EXPECT_FALSE(db().has_table("rowlock_migration"));
  for (const auto by : all_strategies) {
    const auto e = error_of([&] { return connect().acquire("orders/42", {.strategy = by}); });
    ASSERT_TRUE(is_error(e, errc::schema_missing));
    EXPECT_EQ(e->what(), found.refusal) << "and does not advise to migrate";
  }
  EXPECT_EQ(run("echo \"DROP TABLE rowlock_lock\""), 0);
  connect().migrate();
  EXPECT_NO_THROW(connect().check());
}

TEST_P(schema_by_hand, of_an_older_version_is_refused_and_brought_up_to_date_with_what_is_in_it) {
  ASSERT_EQ(run_schema(), 0);
  ASSERT_EQ(run("echo \"INSERT INTO rowlock_lock (name, version) VALUES ('held', 7), ('free', 8)\""), 0);
  db().steal("held");
  const auto before = db().row("held").value();
  auto locks = connect_next_release(db().url());
  for (const auto by : all_strategies) {
    const lock_options options{.strategy = by, .fairness = fairness::fifo};
    EXPECT_TRUE(throws(errc::schema_older, [&] { static_cast<void>(locks.try_acquire("free", options)); }));
    EXPECT_TRUE(throws(errc::schema_older, [&] { static_cast<void>(locks.try_acquire_for("held", 1h, options)); }));
  }
  EXPECT_TRUE(throws(errc::schema_older, [&] { static_cast<void>(locks.waiters("held")); }));
  EXPECT_TRUE(throws(errc::schema_older, [&] { locks.check(); }));
  ASSERT_EQ(run_text(missing_for(locks)), 0);
  EXPECT_NO_THROW(locks.check());
  EXPECT_EQ(db().missing_checksums(), next_schema(db().url()));
  locks.migrate();
  EXPECT_EQ(db().missing_checksums(), 0);
  EXPECT_EQ(db().row("held").value().acquisition, before.acquisition);
  EXPECT_EQ(db().row("held").value().expires_at, before.expires_at);
  EXPECT_GT(locks.acquire("free").token().value(), 8);
  for (const auto by : all_strategies)
    EXPECT_TRUE(eventually([&] {  // a busy server needs longer for an answer
      const auto refused = [&] {
        return !locks.try_acquire_for("held", 100ms, {.strategy = by, .fairness = fairness::fifo});
      };
      return succeeds(refused);
    }));
  EXPECT_TRUE(eventually([&] { return locks.waiters("held").empty(); }));
}

TEST_P(schema_by_hand, is_adopted_by_migrate) {
  ASSERT_EQ(run_schema(), 0);
  EXPECT_EQ(db().missing_checksums(), next_schema(db().url()) - 1);
  connect().migrate();
  EXPECT_EQ(db().missing_checksums(), 0);
  EXPECT_NO_THROW(connect().migrate());
}

TEST_P(schema_by_hand, from_what_the_library_says_is_missing) {
  auto locks = connect_patiently(db().url(), {.table_prefix = "special_"});
  ASSERT_EQ(run_text(missing_for(locks)), 0);
  EXPECT_NO_THROW(locks.check());
  for (const auto& each : locks.schema_status().migrations) EXPECT_EQ(each.state, migration_state::by_hand);
  EXPECT_TRUE(locks.try_acquire("orders/42").has_value());
}

}  // namespace
}  // namespace rowlock::test
