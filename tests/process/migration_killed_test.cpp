#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "process/roles.hpp"
#include "support/errors.hpp"
#include "support/on_each_database_with.hpp"
#include "support/recorder.hpp"
#include "testkit/child_process.hpp"
#include "testkit/eventually.hpp"

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

/// patient_migrator URL: migrates, however long that takes.
int migrate_patiently(const std::vector<std::string>& arguments) {
  client::connect(arguments.at(0), {.call_timeout = 60s, .observer = silent()}).migrate();
  return 0;
}

const role_registration patient_migrator_role{"patient_migrator", migrate_patiently};

/// The first of the files that are missing.
enum class file : std::uint8_t { second = 2, third = 3 };
constexpr file files[] = {file::second, file::third};
std::string name_of(file f) { return f == file::second ? "second" : "third"; }

/// Of that file, the row that marks it as applied being under way.
class half_a_migration : public on_each_database_with<file> {
 protected:
  half_a_migration() {
    held_ = locks_.acquire("held", {.lease = 1h});  // nobody renews meanwhile
    db().enqueue("held");
    what() == file::second ? db().return_to_first_schema() : db().return_to_second_schema();
  }

  client connect(client_options options = {}) const {
    options.observer = silent();
    return client::connect(db().url(), std::move(options));
  }
  bool keeps_tables_of_half_a_file() const { return is_on("mysql"); }
  int number() const { return static_cast<int>(what()); }
  migration_state state() const {
    return connect().schema_status().migrations.at(static_cast<std::size_t>(number()) - 1).state;
  }

  client locks_ = connect();
  held_lock held_;
};
ROWLOCK_SUITE_ON_EACH_DATABASE_WITH_EACH(half_a_migration, files);

TEST_P(half_a_migration, that_is_under_way_is_not_taken_for_a_whole_one) {
  const auto gate = db().migration_gate();
  const child_process migrator{"patient_migrator", {db().url()}};
  ASSERT_TRUE(eventually([&] { return db().is_at_migration_gate(); }));
  EXPECT_EQ(state(), migration_state::pending);
  EXPECT_TRUE(throws(errc::schema_older, [&] { connect().check(); }));
  const auto e = error_of([&] {
    connect({.call_timeout = 300ms}).migrate();
    return true;
  });
  ASSERT_TRUE(e.has_value()) << "two migrate at once";
  EXPECT_EQ(e->code(), errc::call_timed_out) << e->what();
  EXPECT_TRUE(e->is_retryable());
}

TEST_P(half_a_migration, whose_process_was_killed_is_finished_by_the_next) {
  const auto row = db().row("held").value();
  auto gate = db().migration_gate();
  child_process migrator{"patient_migrator", {db().url()}};
  ASSERT_TRUE(eventually([&] { return db().is_at_migration_gate(); }));
  migrator.kill();
  db().end_sessions();

  const auto found = connect().schema_status();
  EXPECT_EQ(found.applied, number() - 1);
  EXPECT_FALSE(found.fits);
  EXPECT_EQ(found.refusal, "");
  EXPECT_EQ(state(), migration_state::pending);
  EXPECT_EQ(db().has_table("rowlock_waiter"), what() == file::third || keeps_tables_of_half_a_file());
  EXPECT_TRUE(throws(errc::schema_older, [&] { connect().check(); }));

  gate.reset();
  connect().migrate();
  EXPECT_EQ(state(), migration_state::applied);
  EXPECT_EQ(db().missing_checksums(), 0);
  EXPECT_NO_THROW(connect().check());
  EXPECT_EQ(db().row("held").value().acquisition, row.acquisition);
  EXPECT_FALSE(held_.lost().stop_requested());
  const auto token = held_.token();
  held_.release();
  EXPECT_GT(connect().acquire("held").token(), token);
  EXPECT_EQ(connect().waiters("held").size(), what() == file::third ? 1U : 0U);
}

}  // namespace
}  // namespace rowlock::test
