#include "core/schema.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

// What tables of each age mean to a client: contract/schema_status_test.cpp.

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

errc refusal(const std::vector<schema_record>& records) {
  const auto e = core::refusal_to_migrate(compare(files, records));
  return e ? static_cast<errc>(e->code().value()) : errc{};
}

TEST(schema_comparison, refuses_an_edited_file_whatever_else_is_the_matter) {
  EXPECT_EQ(refusal({record(1, "else")}), errc::database_error);
  EXPECT_EQ(refusal({record(1, "one"), record(2, "else")}), errc::database_error);
  EXPECT_EQ(refusal({record(1, "else"), record(2, "two"), record(3, "three", 3)}), errc::database_error);
}

TEST(schema_comparison, refuses_to_run_a_file_behind_a_later_one_and_to_serve_what_does_not_serve_us) {
  EXPECT_EQ(refusal({record(2, "two")}), errc::database_error);
  EXPECT_EQ(refusal({record(1, "one"), record(3, "three", 1)}), errc::database_error);
  EXPECT_EQ(refusal({record(1, "one"), record(2, "two"), record(3, "three", 3)}), errc::schema_newer);
  EXPECT_EQ(refusal({record(1, "one"), record(2, "two"), record(3, "three", 2)}), errc{});
}

TEST(schema_comparison, of_a_misfit_says_which_side_is_older) {
  EXPECT_EQ(core::misfit(1, 1, 2)->code(), errc::schema_older);
  EXPECT_EQ(core::misfit(3, 3, 2)->code(), errc::schema_newer);
  EXPECT_FALSE(core::misfit(2, 1, 2).has_value());
  EXPECT_FALSE(core::misfit(3, 2, 2).has_value());
}

}  // namespace
}  // namespace rowlock::test
