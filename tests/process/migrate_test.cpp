#include "process/process_test.hpp"
#include "server/steps.hpp"
#include "support/next_release.hpp"

namespace rowlock::test {
namespace {

/// migrator URL NAME: makes the tables, and uses them.
int migrate(const std::vector<std::string>& arguments) {
  if (!goes_with_the_others()) return 1;
  auto locks = connect_patiently(arguments.at(0));
  locks.migrate();
  locks.check();
  return locks.try_acquire(arguments.at(1)).has_value() ? 0 : 2;
}

const role_registration migrator_role{"migrator", migrate};

class migrating : public on_each_database {};
ROWLOCK_SUITE_ON_EACH_DATABASE(migrating);

TEST_P(migrating, a_fresh_database_from_twenty_processes_at_once) {
  crew all;
  for (int i = 0; i < 20; ++i) join(all, "migrator", {db().url(), "job/" + std::to_string(i)});
  go_together(all);
  expect_good_ends(all);
  EXPECT_TRUE(db().has_table("rowlock_lock"));
  EXPECT_TRUE(db().has_table("rowlock_waiter"));
  EXPECT_TRUE(connect_patiently(db().url()).schema_status().fits);
  EXPECT_EQ(db().missing_checksums(), 0);
}

// A cluster may refuse the lock, and another client's migration may take long.
TEST_P(migrating, waits_for_nobody_where_nothing_is_missing) {
  const auto connect = [&] { return client::connect(db().url(), {.call_timeout = 1s, .observer = silent()}); };
  connect_patiently(db().url()).migrate();  // whose changes may take long
  db().forget_checksums();
  connect().migrate();
  EXPECT_EQ(db().missing_checksums(), 0);
  steps another{db().url()};
  another.session().exclusively([&] { EXPECT_NO_THROW(connect().migrate()); }, steps::limits());
}

TEST_P(migrating, waits_for_another_where_something_is_missing) {
  connect_patiently(db().url()).migrate();
  steps another{db().url()};
  another.session().exclusively(
      [&] {
        auto next = connect_next_release(db().url(), {.call_timeout = 300ms});
        EXPECT_TRUE(throws(errc::call_timed_out, [&] { next.migrate(); }));
        EXPECT_FALSE(db().has_table(table_of_next_schema));
      },
      steps::limits());
  EXPECT_NO_THROW(connect_next_release(db().url()).migrate());
  EXPECT_TRUE(db().has_table(table_of_next_schema));
}

}  // namespace
}  // namespace rowlock::test
