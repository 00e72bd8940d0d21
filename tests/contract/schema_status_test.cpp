#include <gmock/gmock.h>
#include <rowlock/rowlock.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include "sql/migration.hpp"
#include "support/databases.hpp"
#include "support/errors.hpp"
#include "support/recorder.hpp"

namespace rowlock::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using state = migration_state;

constexpr int newest = sheets::expected_schema;

/// The state of each file: the first, all others, and one that is not known.
std::vector<state> one_then(state first, state others, bool knows_all = true) {
  std::vector<state> out(newest, others);
  out.front() = first;
  if (!knows_all) out.push_back(state::unknown);
  return out;
}
std::vector<state> all(state each) { return one_then(each, each); }

class status_of_schema : public on_each_database {
 protected:
  client connect(client_options options = {}) const { return connect_patiently(db().url(), std::move(options)); }
  static std::vector<state> states(client& locks) {
    std::vector<state> out;
    for (const auto& each : locks.schema_status().migrations) out.push_back(each.state);
    return out;
  }
  static std::int64_t time_of(const migration_status& each) {
    return each.applied_at.value().time_since_epoch().count();
  }
};
ROWLOCK_SUITE_ON_EACH_DATABASE(status_of_schema);

TEST_P(status_of_schema, without_tables_has_everything_pending_and_makes_none) {
  auto locks = connect({.table_prefix = "special_"});
  const auto found = locks.schema_status();
  EXPECT_EQ(found.applied, 0);
  EXPECT_EQ(found.expected, newest);
  EXPECT_FALSE(found.fits);
  EXPECT_EQ(found.refusal, "");
  ASSERT_EQ(found.migrations.size(), newest);
  EXPECT_EQ(states(locks), all(state::pending));
  EXPECT_EQ(found.migrations[1].version, 2);
  EXPECT_EQ(found.migrations[1].file, "0002_waiter.sql");
  EXPECT_THAT(found.migrations[1].sql, HasSubstr("CREATE TABLE IF NOT EXISTS special_waiter"));
  EXPECT_EQ(found.migrations[2].file, "0003_waiter_note.sql");
  EXPECT_EQ(found.migrations[3].file, "0004_waiting.sql");
  EXPECT_EQ(found.migrations[4].file, "0005_granting.sql");
  EXPECT_EQ(found.migrations[5].file, "0006_sharing.sql");
  for (const auto& each : found.migrations) EXPECT_THAT(each.sql, Not(HasSubstr("rowlock_")));
  EXPECT_FALSE(db().has_table("special_migration"));
}

TEST_P(status_of_schema, that_was_migrated_fits_and_says_when) {
  const auto before = db().now();
  auto locks = connect();
  locks.migrate();
  const auto found = locks.schema_status();
  EXPECT_EQ(found.applied, found.expected);
  EXPECT_EQ(found.serves_from, 1);
  EXPECT_TRUE(found.fits);
  EXPECT_EQ(states(locks), all(state::applied));
  constexpr std::int64_t a_second = 1'000'000;  // SQLite's own clock has milliseconds
  for (const auto& each : found.migrations) {
    EXPECT_GE(time_of(each), before - a_second);
    EXPECT_LE(time_of(each), db().now() + a_second);
  }
}

TEST_P(status_of_schema, of_the_first_version_tells_what_is_missing) {
  auto locks = connect();
  locks.migrate();
  db().return_to_first_schema();
  const auto found = locks.schema_status();
  EXPECT_EQ(found.applied, 1);
  EXPECT_FALSE(found.fits);
  EXPECT_EQ(states(locks), one_then(state::applied, state::pending));
}

TEST_P(status_of_schema, of_the_second_version_tells_what_is_missing) {
  auto locks = connect();
  locks.migrate();
  db().return_to_second_schema();
  const auto found = locks.schema_status();
  EXPECT_EQ(found.applied, 2);
  EXPECT_FALSE(found.fits);
  EXPECT_EQ(found.refusal, "");
  auto expected = one_then(state::applied, state::pending);
  expected.at(1) = state::applied;
  EXPECT_EQ(states(locks), expected);
}

TEST_P(status_of_schema, that_was_run_by_hand_says_so_and_fits) {
  auto locks = connect();
  locks.migrate();
  db().forget_checksums();
  EXPECT_EQ(states(locks), all(state::by_hand));
  EXPECT_TRUE(locks.schema_status().fits);
  locks.migrate();
  EXPECT_EQ(states(locks), all(state::applied));
}

TEST_P(status_of_schema, with_an_edited_file_is_told_and_refused_before_anything_is_run) {
  auto locks = connect();
  locks.migrate();
  db().return_to_first_schema();
  db().edit_migration(1);
  EXPECT_EQ(states(locks), one_then(state::edited, state::pending));
  EXPECT_THAT(locks.schema_status().refusal, HasSubstr("0001_lock.sql"));
  const auto e = error_of([&] {
    locks.migrate();
    return true;
  });
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::database_error);
  EXPECT_EQ(e->what(), locks.schema_status().refusal);
  EXPECT_FALSE(e->is_retryable());
  EXPECT_FALSE(db().has_table("rowlock_waiter")) << "the file behind the edited one was run";
}

TEST_P(status_of_schema, with_an_edited_file_at_the_end_is_refused_before_anything_is_adopted) {
  auto locks = connect();
  locks.migrate();
  db().forget_checksums();
  db().edit_migration(newest);
  EXPECT_TRUE(throws(errc::database_error, [&] { locks.migrate(); }));
  EXPECT_EQ(db().missing_checksums(), newest - 1);
  auto expected = all(state::by_hand);
  expected.back() = state::edited;
  EXPECT_EQ(states(locks), expected);
  EXPECT_TRUE(locks.try_acquire("orders/42").has_value()) << "the tables are there";
}

TEST_P(status_of_schema, with_a_file_left_out_is_refused) {
  auto locks = connect();
  locks.migrate();
  db().return_to_first_schema();
  db().record_migration(newest + 1, 1);
  EXPECT_EQ(states(locks), one_then(state::applied, state::pending, false));
  EXPECT_FALSE(locks.schema_status().fits);
  EXPECT_TRUE(throws(errc::database_error, [&] { locks.migrate(); }));
  EXPECT_FALSE(db().has_table("rowlock_waiter"));
}

TEST_P(status_of_schema, that_is_newer_and_serves_us_fits_and_is_left_alone) {
  auto locks = connect();
  locks.migrate();
  db().record_migration(newest + 1, 2);
  const auto found = locks.schema_status();
  EXPECT_EQ(found.applied, newest + 1);
  EXPECT_EQ(found.expected, newest);
  EXPECT_EQ(found.serves_from, 2);
  EXPECT_TRUE(found.fits);
  EXPECT_EQ(states(locks), one_then(state::applied, state::applied, false));
  EXPECT_EQ(found.migrations.back().sql, "");
  EXPECT_NO_THROW(locks.migrate());
  EXPECT_EQ(db().missing_checksums(), 1) << "what is not known is not adopted";
}

TEST_P(status_of_schema, that_is_newer_and_does_not_serve_us_is_told_and_not_touched) {
  auto locks = connect();
  locks.migrate();
  db().forget_checksums();
  db().record_migration(newest + 1, newest + 1);
  const auto found = locks.schema_status();
  EXPECT_FALSE(found.fits);
  EXPECT_THAT(found.refusal, HasSubstr("no longer served"));
  EXPECT_TRUE(throws(errc::schema_newer, [&] { locks.migrate(); }));
  EXPECT_EQ(db().missing_checksums(), newest + 1);
}

TEST_P(status_of_schema, is_not_told_after_close) {
  auto locks = connect();
  locks.close();
  EXPECT_TRUE(throws(errc::client_closed, [&] { static_cast<void>(locks.schema_status()); }));
}

}  // namespace
}  // namespace rowlock::test
