#include "mysql/speaking.hpp"
#include "server/greeting_server.hpp"
#include "server/server_test.hpp"

namespace rowlock::test {
namespace {

struct release {
  const char* name;
  const char* greets_as;
  const char* version;
};

std::ostream& operator<<(std::ostream& out, const release& r) { return out << r.name; }

/// Lets its client in, says its version when asked for variables, and that all is well to everything else.
void greet(const greeting_server::line& with, const release& as) {
  with.say(greeting(as.greets_as));
  if (with.hear().empty()) return;
  with.say(done(2));
  const auto variables =
      table({{"lower_case_table_names", "0"}, {"version", as.version}});  // the connector's, and ours
  for (auto heard = with.hear(); !heard.empty(); heard = with.hear())
    with.say(heard.find(" VARIABLES") == std::string::npos ? done(1) : variables);
}

class old_mysql : public testing::TestWithParam<release> {};
INSTANTIATE_TEST_SUITE_P(of, old_mysql,
                         testing::Values(release{"mysql_5_7", "5.7.44-log", "5.7.44-log"},
                                         release{"mariadb_10_5", "5.5.5-10.5.23-MariaDB", "10.5.23-MariaDB"}),
                         [](const auto& r) { return r.param.name; });

TEST_P(old_mysql, is_refused_with_a_sentence) {
  const greeting_server old{[](const greeting_server::line& with) { greet(with, GetParam()); }};
  const auto e = error_of([&] {
    client::connect("mysql://somebody@127.0.0.1:" + std::to_string(old.port()) + "/some", {.observer = silent()})
        .close();
  });
  ASSERT_TRUE(is_error(e, errc::unsupported,
                       {.is_retryable = false, .says = {GetParam().version, "MySQL 8.0 or MariaDB 10.6"}}));
}

}  // namespace
}  // namespace rowlock::test
