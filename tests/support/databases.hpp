#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "support/database.hpp"

namespace rowlock::test {

/// A database that is compiled in.
struct database_kind {
  std::string_view name;  // also that of its folder in schema/
  std::unique_ptr<database> (*open)();
};

std::ostream& operator<<(std::ostream& out, const database_kind& kind);

/// All databases. To add one, add a line in databases.cpp.
const std::vector<database_kind>& databases();
/// All databases that are servers.
std::vector<database_kind> server_databases();
/// The database of this name; none if it is not compiled in.
std::vector<database_kind> databases_named(std::string_view name);

/// A test that runs on each database, in a place of its own.
class on_each_database : public testing::TestWithParam<database_kind> {
 protected:
  database& db() const { return *database_; }

 private:
  std::unique_ptr<database> database_ = GetParam().open();
};

std::string database_name(const testing::TestParamInfo<database_kind>& info);

#define ROWLOCK_SUITE_ON_EACH_DATABASE(suite) \
  INSTANTIATE_TEST_SUITE_P(on, suite, testing::ValuesIn(databases()), database_name)

}  // namespace rowlock::test
