#include "process/process_test.hpp"
#include "support/next_release.hpp"

namespace rowlock::test {
namespace {

/// patient_migrator URL: migrates, however long that takes.
int migrate_patiently(const std::vector<std::string>& arguments) {
  connect_next_release(arguments.at(0), {.call_timeout = 60s}).migrate();
  return 0;
}

const role_registration patient_migrator_role{"patient_migrator", migrate_patiently};

/// To the next release, the row that marks its file as applied being under way.
class half_a_migration : public on_each_database {
 protected:
  half_a_migration() {
    old_.migrate();
    held_ = old_.acquire("held", {.lease = 1h});  // nobody renews meanwhile
    db().enqueue("held");
  }

  client connect(client_options options = {}) const { return connect_next_release(db().url(), std::move(options)); }
  bool keeps_tables_of_half_a_file() const { return GetParam().name == "mysql"; }
  migration_state state() const { return connect().schema_status().migrations.back().state; }

  client old_ = connect_patiently(db().url());
  held_lock held_;
};
ROWLOCK_SUITE_ON_EACH_DATABASE(half_a_migration);

TEST_P(half_a_migration, is_not_taken_for_a_whole_one_and_is_finished_by_the_next_if_its_process_is_killed) {
  const auto row = db().row("held").value();
  auto gate = db().migration_gate();
  child_process migrator{"patient_migrator", {db().url()}};
  ASSERT_TRUE(eventually([&] { return db().is_at_migration_gate(); }));
  EXPECT_EQ(state(), migration_state::pending);
  EXPECT_TRUE(throws(errc::schema_older, [&] { connect().check(); }));
  const auto e = error_of([&] { connect({.call_timeout = 300ms}).migrate(); });
  EXPECT_TRUE(is_error(e, errc::call_timed_out, {.is_retryable = true})) << "two migrate at once";
  migrator.kill();
  db().end_sessions();

  const auto found = connect().schema_status();
  EXPECT_EQ(found.applied, next_schema(db().url()) - 1);
  EXPECT_FALSE(found.fits);
  EXPECT_EQ(found.refusal, "");
  EXPECT_EQ(state(), migration_state::pending);
  EXPECT_EQ(db().has_table(table_of_next_schema), keeps_tables_of_half_a_file());
  EXPECT_TRUE(throws(errc::schema_older, [&] { connect().check(); }));
  EXPECT_NO_THROW(connect_patiently(db().url()).check()) << "old programs can work with it";

  gate.reset();
  connect().migrate();
  EXPECT_EQ(state(), migration_state::applied);
  EXPECT_EQ(db().missing_checksums(), 0);
  EXPECT_TRUE(db().has_table(table_of_next_schema));
  EXPECT_NO_THROW(connect().check());
  EXPECT_EQ(db().row("held").value().acquisition, row.acquisition);
  EXPECT_FALSE(held_.lost().stop_requested());
  const auto token = held_.token();
  held_.release();
  EXPECT_GT(connect().acquire("held").token(), token);
  EXPECT_EQ(connect().waiters("held").size(), 1U);
}

}  // namespace
}  // namespace rowlock::test
