#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "server/private_server.hpp"
#include "support/server_database.hpp"

namespace rowlock::test {

/// A kind of server that is compiled in.
struct server_kind {
  std::string_view name;
  std::unique_ptr<server_database> (*open)();                     // on the server that was started for the tests
  std::unique_ptr<private_server> (*start)(const fake_machine*);  // for one test alone; on that machine

  std::unique_ptr<private_server> start_one() const { return start(nullptr); }
};

/// The same, each where set_default() may be called: no other test uses it at the same time.
std::vector<server_kind> servers_for_defaults();

/// Those of them that are of that kind, and the others.
std::vector<server_kind> on(std::string_view kind, std::vector<server_kind> of);
std::vector<server_kind> not_on(std::string_view kind, std::vector<server_kind> of);

std::ostream& operator<<(std::ostream& out, const server_kind& kind);

/// All there are. To add one is to add a line in servers.cpp.
const std::vector<server_kind>& servers();

std::string server_name(const testing::TestParamInfo<server_kind>& info);

/// For suites that have something else with a name for a parameter, too.
template <class What>
std::string server_name_and(const testing::TestParamInfo<std::tuple<server_kind, What>>& info) {
  return std::string{std::get<server_kind>(info.param).name} + "_" + std::get<What>(info.param).name;
}

#define ROWLOCK_SUITE_ON_EACH_SERVER(suite) ROWLOCK_SUITE_ON_SERVERS(suite, servers())
#define ROWLOCK_SUITE_ON_SERVERS(suite, some)           \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite); \
  INSTANTIATE_TEST_SUITE_P(on, suite, testing::ValuesIn(some), server_name)
/// The same of another suite, for tests that need other servers.
// NOLINTBEGIN(bugprone-macro-parentheses): names of classes
#define ROWLOCK_SUITE_LIKE_ON_SERVERS(suite, like, some) \
  class suite : public like {};                          \
  ROWLOCK_SUITE_ON_SERVERS(suite, some)
// NOLINTEND(bugprone-macro-parentheses)
#define ROWLOCK_SUITE_ON_EACH_SERVER_WITH_EACH(suite, values)                                                    \
  INSTANTIATE_TEST_SUITE_P(on, suite, testing::Combine(testing::ValuesIn(servers()), testing::ValuesIn(values)), \
                           server_name_and<std::remove_cvref_t<decltype((values)[0])>>)

/// Each of the defaults with the server that it names, if that is compiled in.
template <class Default, std::size_t Number>
auto on_its_server(const Default (&all)[Number]) {
  std::vector<std::tuple<server_kind, Default>> out;
  for (const auto& kind : servers_for_defaults())
    for (const auto& one : all)
      if (kind.name == one.server) out.emplace_back(kind, one);
  return out;
}
#define ROWLOCK_SUITE_WITH_EACH_DEFAULT(suite, defaults)                         \
  INSTANTIATE_TEST_SUITE_P(a, suite, testing::ValuesIn(on_its_server(defaults)), \
                           server_name_and<std::remove_cvref_t<decltype((defaults)[0])>>)

}  // namespace rowlock::test
