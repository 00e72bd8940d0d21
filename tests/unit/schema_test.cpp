#include "core/schema.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace rowlock::test {
namespace {

using core::compare;
using core::schema_file;
using core::schema_record;

constexpr std::array files{schema_file{.version = 1, .name = "0001_first.sql", .checksum = "one"},
                           schema_file{.version = 2, .name = "0002_second.sql", .checksum = "two"}};

schema_record record(int version, const std::string& checksum, int serves_from = 1) {
  return {.version = version, .checksum = checksum, .serves_from = serves_from};
}

std::vector<migration_state> states(const schema_status& found) {
  std::vector<migration_state> out;
  out.reserve(found.migrations.size());
  for (const auto& each : found.migrations) out.push_back(each.state);
  return out;
}

errc refusal(const std::vector<schema_record>& records) {
  const auto e = core::refusal_to_migrate(compare(files, records));
  return e ? static_cast<errc>(e->code().value()) : errc{};
}

using state = migration_state;

TEST(schema_comparison, of_nothing_has_everything_pending) {
  const auto found = compare(files, {});
  EXPECT_EQ(found.applied, 0);
  EXPECT_EQ(found.expected, 2);
  EXPECT_EQ(found.serves_from, 0);
  EXPECT_FALSE(found.fits);
  EXPECT_EQ(found.refusal, "");
  EXPECT_EQ(states(found), (std::vector{state::pending, state::pending}));
  EXPECT_FALSE(found.migrations.at(0).applied_at.has_value());
}

TEST(schema_comparison, of_the_same_fits) {
  const auto found = compare(files, std::vector{record(1, "one"), record(2, "two")});
  EXPECT_EQ(found.applied, 2);
  EXPECT_EQ(found.serves_from, 1);
  EXPECT_TRUE(found.fits);
  EXPECT_EQ(found.refusal, "");
  EXPECT_EQ(states(found), (std::vector{state::applied, state::applied}));
}

TEST(schema_comparison, of_what_was_run_by_hand_fits) {
  const auto found = compare(files, std::vector{record(1, "one"), record(2, "")});
  EXPECT_TRUE(found.fits);
  EXPECT_EQ(states(found), (std::vector{state::applied, state::by_hand}));
}

TEST(schema_comparison, of_an_older_one_does_not_fit_and_may_be_migrated) {
  const auto found = compare(files, std::vector{record(1, "one")});
  EXPECT_FALSE(found.fits);
  EXPECT_EQ(found.refusal, "");
  EXPECT_EQ(states(found), (std::vector{state::applied, state::pending}));
}

TEST(schema_comparison, of_an_edited_file_is_refused_by_its_name_and_still_fits) {
  const auto found = compare(files, std::vector{record(1, "one"), record(2, "else")});
  EXPECT_TRUE(found.fits);
  EXPECT_EQ(states(found), (std::vector{state::applied, state::edited}));
  EXPECT_NE(found.refusal.find("0002_second.sql"), std::string::npos) << found.refusal;
}

TEST(schema_comparison, refuses_an_edited_file_whatever_else_is_the_matter) {
  EXPECT_EQ(refusal({record(1, "else")}), errc::database_error);
  EXPECT_EQ(refusal({record(1, "else"), record(2, "two"), record(3, "three", 3)}), errc::database_error);
}

TEST(schema_comparison, of_a_newer_one_that_serves_us_fits) {
  const auto found = compare(files, std::vector{record(1, "one"), record(2, "two"), record(3, "three", 2)});
  EXPECT_TRUE(found.fits);
  EXPECT_EQ(found.applied, 3);
  EXPECT_EQ(found.serves_from, 2);
  EXPECT_EQ(found.refusal, "");
  EXPECT_EQ(states(found), (std::vector{state::applied, state::applied, state::unknown}));
  EXPECT_EQ(found.migrations.at(2).file, "");
}

TEST(schema_comparison, of_a_newer_one_that_does_not_serve_us_is_refused) {
  const std::vector newer{record(1, "one"), record(2, "two"), record(3, "three", 3)};
  EXPECT_FALSE(compare(files, newer).fits);
  EXPECT_EQ(refusal(newer), errc::schema_newer);
}

TEST(schema_comparison, refuses_to_run_a_file_behind_a_later_one) {
  const std::vector left_out{record(1, "one"), record(3, "three", 1)};
  EXPECT_FALSE(compare(files, left_out).fits);
  EXPECT_EQ(refusal(left_out), errc::database_error);
  EXPECT_NE(compare(files, left_out).refusal.find("0002_second.sql"), std::string::npos);
  EXPECT_EQ(refusal({record(2, "two")}), errc::database_error);
}

TEST(schema_comparison, of_a_misfit_says_which_side_is_older) {
  EXPECT_EQ(core::misfit(1, 1, 2)->code(), errc::schema_older);
  EXPECT_EQ(core::misfit(3, 3, 2)->code(), errc::schema_newer);
  EXPECT_FALSE(core::misfit(2, 1, 2).has_value());
  EXPECT_FALSE(core::misfit(3, 2, 2).has_value());
}

TEST(migration_state_test, every_state_has_its_name) {
  EXPECT_EQ(to_string(state::pending), "pending");
  EXPECT_EQ(to_string(state::applied), "applied");
  EXPECT_EQ(to_string(state::by_hand), "by_hand");
  EXPECT_EQ(to_string(state::edited), "edited");
  EXPECT_EQ(to_string(state::unknown), "unknown");
}

}  // namespace
}  // namespace rowlock::test
