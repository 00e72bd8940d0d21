#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/databases.hpp"
#include "support/errors.hpp"
#include "support/recorder.hpp"

// The schema files as a database administrator runs them: by the shell of the database, without this library.

namespace rowlock::test {
namespace {

class schema_by_hand : public on_each_database {
 protected:
  client connect() const { return client::connect(db().url(), {.observer = silent()}); }

  int run(const std::string& input) const {
    const auto command = input + " | " + db().shell();
    return std::system(command.c_str());  // NOLINT(cert-env33-c): what a person types
  }
  int run_schema() const { return run("cat " + file_); }

  const std::string file_ = "'" ROWLOCK_SCHEMA_FOLDER "/" + std::string{GetParam().name} + "/0001_lock.sql'";
};
ROWLOCK_SUITE_ON_EACH_DATABASE(schema_by_hand);

TEST_P(schema_by_hand, is_enough_for_locking) {
  ASSERT_EQ(run_schema(), 0);
  auto locks = connect();
  EXPECT_NO_THROW(locks.check());
  EXPECT_TRUE(locks.try_acquire("orders/42").has_value());
}

TEST_P(schema_by_hand, may_be_run_again_and_changes_nothing) {
  ASSERT_EQ(run_schema(), 0);
  auto locks = connect();
  const auto held = locks.acquire("orders/42");
  ASSERT_EQ(run_schema(), 0);
  EXPECT_EQ(locks.find("orders/42").value().token, held.token());
}

TEST_P(schema_by_hand, is_finished_by_a_second_run_where_the_first_was_interrupted) {
  ASSERT_EQ(run("sed '/INSERT/,$d' " + file_), 0);
  EXPECT_TRUE(throws(errc::schema_missing, [&] { connect().check(); }));
  ASSERT_EQ(run_schema(), 0);
  EXPECT_NO_THROW(connect().check());
}

TEST_P(schema_by_hand, is_adopted_by_migrate) {
  ASSERT_EQ(run_schema(), 0);
  EXPECT_EQ(db().missing_checksums(), 1);
  connect().migrate();
  EXPECT_EQ(db().missing_checksums(), 0);
  EXPECT_NO_THROW(connect().migrate());
}

}  // namespace
}  // namespace rowlock::test
