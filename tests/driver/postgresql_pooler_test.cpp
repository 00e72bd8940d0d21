#include "driver/postgresql_session_test.hpp"

#include <cstdlib>
#include <string>

namespace rowlock::test {
namespace {

class behind_pgbouncer : public postgresql_session_test {
 protected:
  void SetUp() override {
    const char* url = std::getenv("ROWLOCK_TEST_PGBOUNCER_URL");
    if (url == nullptr) GTEST_SKIP() << "ROWLOCK_TEST_PGBOUNCER_URL is not set, as with a server that was given";
    url_ = url;
  }
  std::string url_;
};

TEST_F(behind_pgbouncer, runs_steps_batches_and_scripts) {
  const auto on = open(url_, {.transaction_pooling = true});
  EXPECT_EQ(number(*on, "SELECT $1::bigint", {std::int64_t{7}}), 7);
  exclusively(*on, [&] {
    on->script("CREATE TEMPORARY TABLE pooled (n bigint) ON COMMIT DROP; INSERT INTO pooled VALUES (1)");
    EXPECT_TRUE(throws(errc::schema_missing, [&] { ask(*on, "SELECT * FROM no_such_table"); }));
    EXPECT_EQ(number(*on, "SELECT count(*) FROM pooled"), 1);
  });
  EXPECT_EQ(number(*on, "SELECT count(*) FROM pg_prepared_statements"), 0);
}

TEST_F(behind_pgbouncer, names_the_pooling_option_when_prepared_statements_vanish) {
  const auto on = open(url_);
  ask(*on, "SELECT 1");
  on->script("DEALLOCATE ALL");
  const auto gone = failure(*on, "SELECT 1");
  if (!gone) GTEST_SKIP() << "this PgBouncer keeps prepared statements, as it can since 1.21";
  EXPECT_TRUE(gone->connection_is_unusable()) << gone->what();
  if (gone->sqlstate() == "08P01") GTEST_SKIP() << "this PgBouncer keeps them, but not across DEALLOCATE ALL";
  EXPECT_EQ(gone->sqlstate(), "26000");
  EXPECT_TRUE(mentions(gone, "client_options::transaction_pooling")) << gone->what();
}

TEST_F(behind_pgbouncer, with_the_option_does_not_name_it) {
  const auto on = open(url_, {.transaction_pooling = true});
  const auto unknown = failure(*on, "EXECUTE never_prepared");
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->sqlstate(), "26000");
  EXPECT_FALSE(mentions(unknown, "transaction_pooling")) << unknown->what();
}

TEST_F(behind_pgbouncer, calls_end_at_their_deadline) {
  const auto on = open(url_, {.transaction_pooling = true});
  expect_end(failure_to_act(*on, "SELECT pg_sleep(60)", within(100ms)), errc::call_timed_out, true, true);
  EXPECT_TRUE(lost().empty());  // its process may be serving somebody else by now
}

}  // namespace
}  // namespace rowlock::test
