#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/errors.hpp"
#include "support/recorder.hpp"
#include "support/sqlite_database.hpp"
#include "support/temp_folder.hpp"

// The schema files as a database administrator runs them: by the sqlite3 shell, without this library.

namespace rowlock::test {
namespace {

class schema_by_hand : public testing::Test {
 protected:
  std::string file() const { return (folder_ / "locks.db").string(); }
  client connect() const { return client::connect("sqlite:" + file(), {.observer = silent()}); }

  int run(const std::string& input) const {
    const std::string command = input + " | sqlite3 -bail '" + file() + "'";
    return std::system(command.c_str());  // NOLINT(cert-env33-c): what a person types
  }
  int run_schema() const { return run("cat '" ROWLOCK_SCHEMA_FOLDER "/sqlite/0001_lock.sql'"); }

 private:
  temp_folder folder_;
};

TEST_F(schema_by_hand, is_enough_for_locking) {
  ASSERT_EQ(run_schema(), 0);
  auto locks = connect();
  EXPECT_NO_THROW(locks.check());
  EXPECT_TRUE(locks.try_acquire("orders/42").has_value());
}

TEST_F(schema_by_hand, may_be_run_again_and_changes_nothing) {
  ASSERT_EQ(run_schema(), 0);
  auto locks = connect();
  const auto held = locks.acquire("orders/42");
  ASSERT_EQ(run_schema(), 0);
  EXPECT_EQ(locks.find("orders/42").value().token, held.token());
}

TEST_F(schema_by_hand, is_finished_by_a_second_run_where_the_first_was_interrupted) {
  ASSERT_EQ(run("sed '/INSERT/,$d' '" ROWLOCK_SCHEMA_FOLDER "/sqlite/0001_lock.sql'"), 0);
  EXPECT_TRUE(throws(errc::schema_missing, [&] { connect().check(); }));
  ASSERT_EQ(run_schema(), 0);
  EXPECT_NO_THROW(connect().check());
}

TEST_F(schema_by_hand, is_adopted_by_migrate) {
  ASSERT_EQ(run_schema(), 0);
  sqlite_database db{file()};
  EXPECT_EQ(db.missing_checksums(), 1);
  connect().migrate();
  EXPECT_EQ(db.missing_checksums(), 0);
  EXPECT_NO_THROW(connect().migrate());
}

}  // namespace
}  // namespace rowlock::test
