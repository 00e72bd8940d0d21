#pragma once

#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <memory>
#include <string>
#include <tuple>

#include "support/databases.hpp"
#include "support/recorder.hpp"
#include "support/strategies.hpp"

namespace rowlock::test {

/// A test that runs on each database with each value of a parameter, in a place of its own with tables.
template <class What>
class on_each_database_with : public testing::TestWithParam<std::tuple<database_kind, What>> {
 protected:
  on_each_database_with() { connect().migrate(); }

  database& db() const { return *database_; }
  bool is_on(std::string_view kind) const { return std::get<database_kind>(this->GetParam()).name == kind; }
  const What& what() const { return std::get<What>(this->GetParam()); }

  client connect(client_options options = {}) const { return connect_patiently(db().url(), std::move(options)); }

 private:
  std::unique_ptr<database> database_ = std::get<database_kind>(this->GetParam()).open();
};

inline std::string name_of(strategy s) { return std::string{to_string(s)}; }
inline std::string name_of(const strategy_pair& pair) { return pair.name(); }

template <class What>
std::string database_name_and(const testing::TestParamInfo<std::tuple<database_kind, What>>& info) {
  return std::string{std::get<database_kind>(info.param).name} + "_" + name_of(std::get<What>(info.param));
}

#define ROWLOCK_SUITE_ON_EACH_DATABASE_WITH_EACH(suite, values)                                                    \
  INSTANTIATE_TEST_SUITE_P(on, suite, testing::Combine(testing::ValuesIn(databases()), testing::ValuesIn(values)), \
                           database_name_and<std::remove_cvref_t<decltype((values)[0])>>)

}  // namespace rowlock::test
