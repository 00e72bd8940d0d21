#include <gmock/gmock.h>
#include <rowlock/rowlock.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/databases.hpp"
#include "support/errors.hpp"
#include "support/next_release.hpp"
#include "support/recorder.hpp"
#include "support/strategies.hpp"

namespace rowlock::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using state = migration_state;

class status_of_schema : public on_each_database {
 protected:
  /// Of a release with one file more.
  client next(client_options options = {}) const { return connect_next_release(db().url(), std::move(options)); }
  static std::vector<state> states(client& locks) {
    std::vector<state> out;
    for (const auto& each : locks.schema_status().migrations) out.push_back(each.state);
    return out;
  }
  static std::int64_t time_of(const migration_status& each) {
    return each.applied_at.value().time_since_epoch().count();
  }

  using all = std::vector<state>;
  /// Of our files, then of others.
  all ours_and(state ours, const all& others) const {
    all out(static_cast<std::size_t>(ours_), ours);
    out.insert(out.end(), others.begin(), others.end());
    return out;
  }
  std::string next_file() const { return "000" + std::to_string(next_number_) + "_artificial.sql"; }

  const int next_number_ = next_schema(db().url());
  const int ours_ = next_number_ - 1;
  client old_ = connect_patiently(db().url());
  client next_ = next();
};
ROWLOCK_SUITE_ON_EACH_DATABASE(status_of_schema);

TEST_P(status_of_schema, without_tables_has_everything_pending_and_makes_none) {
  auto locks = next({.table_prefix = "special_"});
  const auto found = locks.schema_status();
  EXPECT_EQ(found.applied, 0);
  EXPECT_EQ(found.expected, next_number_);
  EXPECT_FALSE(found.fits);
  EXPECT_EQ(found.refusal, "");
  EXPECT_EQ(states(locks), ours_and(state::pending, {state::pending}));
  EXPECT_EQ(found.migrations.at(0).version, 1);
  EXPECT_EQ(found.migrations.at(0).file, "0001_rowlock.sql");
  for (const auto* table : {"lock", "waiter", "share", "edge", "migration"})
    EXPECT_THAT(found.migrations.at(0).sql, HasSubstr("CREATE TABLE IF NOT EXISTS special_" + std::string{table}));
  EXPECT_EQ(found.migrations.back().version, next_number_);
  EXPECT_EQ(found.migrations.back().file, next_file());
  EXPECT_THAT(found.migrations.back().sql, HasSubstr("CREATE TABLE IF NOT EXISTS special_artificial"));
  for (const auto& each : found.migrations) EXPECT_THAT(each.sql, Not(HasSubstr("rowlock_")));
  EXPECT_FALSE(db().has_table("special_migration"));
}

TEST_P(status_of_schema, that_was_migrated_fits_and_says_when) {
  const auto before = db().now();
  for (auto* locks : {&old_, &next_}) {
    locks->migrate();
    const auto found = locks->schema_status();
    EXPECT_EQ(found.applied, found.expected);
    EXPECT_EQ(found.serves_from, 1);
    EXPECT_TRUE(found.fits);
    EXPECT_EQ(states(*locks), all(static_cast<std::size_t>(found.expected), state::applied));
    constexpr std::int64_t a_second = 1'000'000;  // SQLite's own clock has milliseconds
    for (const auto& each : found.migrations) {
      EXPECT_GE(time_of(each), before - a_second);
      EXPECT_LE(time_of(each), db().now() + a_second);
    }
  }
}

TEST_P(status_of_schema, that_is_older_tells_what_is_missing_and_is_refused_with_the_command) {
  old_.migrate();
  const auto found = next_.schema_status();
  EXPECT_EQ(found.applied, ours_);
  EXPECT_FALSE(found.fits);
  EXPECT_EQ(found.refusal, "");
  EXPECT_EQ(states(next_), ours_and(state::applied, {state::pending}));
  const auto sentence = "has rowlock's schema " + std::to_string(ours_) + ", but this library expects " +
                        std::to_string(next_number_) + "; run client::migrate()";
  for (const auto by : all_strategies) {
    const lock_options options{.strategy = by};
    const error_traits as_expected{.is_retryable = false, .says = {sentence}};
    EXPECT_TRUE(is_error(error_of([&] { return next_.try_acquire("one", options); }), errc::schema_older, as_expected));
    EXPECT_TRUE(is_error(error_of([&] { return next_.acquire("two", options); }), errc::schema_older, as_expected));
  }
  EXPECT_TRUE(throws(errc::schema_older, [&] { next_.check(); }));
  next_.migrate();
  for (const auto by : all_strategies) EXPECT_TRUE(next_.try_acquire("one", {.strategy = by}).has_value());
}

TEST_P(status_of_schema, that_was_run_by_hand_says_so_and_fits) {
  next_.migrate();
  db().forget_checksums();
  EXPECT_EQ(states(next_), ours_and(state::by_hand, {state::by_hand}));
  EXPECT_TRUE(next_.schema_status().fits);
  EXPECT_TRUE(next_.try_acquire("orders/42").has_value()) << "it is good enough for work";
  next_.migrate();
  EXPECT_EQ(states(next_), ours_and(state::applied, {state::applied}));
}

TEST_P(status_of_schema, with_an_edited_file_is_told_and_refused_before_anything_is_run) {
  old_.migrate();
  db().edit_migration(1);
  auto expected = ours_and(state::applied, {state::pending});
  expected.front() = state::edited;
  EXPECT_EQ(states(next_), expected);
  EXPECT_THAT(next_.schema_status().refusal, HasSubstr("0001_rowlock.sql"));
  const auto e = error_of([&] { next_.migrate(); });
  ASSERT_TRUE(is_error(e, errc::database_error, {.is_retryable = false}));
  EXPECT_EQ(e->what(), next_.schema_status().refusal);
  EXPECT_FALSE(db().has_table(table_of_next_schema)) << "the file behind the edited one was run";
}

TEST_P(status_of_schema, with_an_edited_file_at_the_end_is_refused_before_anything_is_adopted) {
  next_.migrate();
  db().forget_checksums();
  db().edit_migration(next_number_);
  EXPECT_TRUE(throws(errc::database_error, [&] { next_.migrate(); }));
  EXPECT_EQ(db().missing_checksums(), ours_);
  EXPECT_EQ(states(next_), ours_and(state::by_hand, {state::edited}));
  EXPECT_TRUE(next_.try_acquire("orders/42").has_value()) << "the tables are there";
}

TEST_P(status_of_schema, with_a_file_left_out_is_refused) {
  old_.migrate();
  db().record_migration(next_number_ + 1, 1);
  EXPECT_EQ(states(next_), ours_and(state::applied, {state::pending, state::unknown}));
  EXPECT_FALSE(next_.schema_status().fits);
  EXPECT_THAT(next_.schema_status().refusal, HasSubstr(next_file()));
  EXPECT_TRUE(throws(errc::database_error, [&] { next_.migrate(); }));
  EXPECT_FALSE(db().has_table(table_of_next_schema));
}

TEST_P(status_of_schema, that_is_newer_and_serves_us_fits_and_is_left_alone) {
  next_.migrate();
  db().forget_checksums();
  const auto found = old_.schema_status();
  EXPECT_EQ(found.applied, next_number_);
  EXPECT_EQ(found.expected, ours_);
  EXPECT_EQ(found.serves_from, 1);
  EXPECT_TRUE(found.fits);
  EXPECT_EQ(found.refusal, "");
  EXPECT_EQ(states(old_), ours_and(state::by_hand, {state::unknown}));
  EXPECT_EQ(found.migrations.back().version, next_number_);
  EXPECT_EQ(found.migrations.back().file, "");
  EXPECT_EQ(found.migrations.back().sql, "");
  EXPECT_NO_THROW(old_.migrate());
  EXPECT_NO_THROW(old_.check());
  EXPECT_TRUE(old_.try_acquire("orders/42").has_value());
  EXPECT_EQ(db().missing_checksums(), 1) << "what is not known is not adopted";
}

TEST_P(status_of_schema, that_is_newer_and_does_not_serve_us_is_told_and_not_touched) {
  connect_next_release(db().url(), {}, next_number_).migrate();
  db().forget_checksums();
  const auto found = old_.schema_status();
  EXPECT_EQ(found.serves_from, next_number_);
  EXPECT_FALSE(found.fits);
  EXPECT_THAT(found.refusal, HasSubstr("no longer served"));
  EXPECT_TRUE(throws(errc::schema_newer, [&] { old_.migrate(); })) << "an old library must not touch it";
  EXPECT_TRUE(throws(errc::schema_newer, [&] { old_.check(); }));
  EXPECT_TRUE(throws(errc::schema_newer, [&] { static_cast<void>(old_.try_acquire("orders/42")); }));
  EXPECT_EQ(db().missing_checksums(), next_number_);
}

}  // namespace
}  // namespace rowlock::test
