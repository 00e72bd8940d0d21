#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "command/command.hpp"
#include "support/databases.hpp"
#include "support/server_database.hpp"

// On servers, as a role that may do less than the one that has the lock.

namespace rowlock::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

class command_as_guest : public on_each_database {
 protected:
  command_as_guest() { locks_.migrate(); }

  void let_guest(const std::string& privileges) {
    url_ = dynamic_cast<server_database&>(db()).url_of_guest(privileges);
  }

  outcome ask(const words& arguments) const {
    return command::finish({.words = words{command::path(), "--database", url_} + arguments});
  }

  client locks_ = client::connect(db().url(), {.observer = silent()});

 private:
  std::string url_;
};

INSTANTIATE_TEST_SUITE_P(on, command_as_guest, testing::ValuesIn(server_databases()), database_name);

TEST_P(command_as_guest, release_is_77_where_the_session_is_another_role_s_and_names_it) {
  let_guest("SELECT, INSERT, UPDATE, DELETE");
  const auto held = locks_.acquire("job", {.strategy = strategy::for_update});
  const auto session = locks_.find("job").value().thread;
  const auto result = ask({"release", "--force", "--yes", "job"});
  EXPECT_TRUE(refused(result, 77));
  EXPECT_THAT(result.err, HasSubstr(session));
  EXPECT_FALSE(held.lost().stop_requested());
}

TEST_P(command_as_guest, release_frees_another_role_s_lease) {
  let_guest("SELECT, INSERT, UPDATE, DELETE");
  const auto held = locks_.acquire("job", {.lease = 1h});
  EXPECT_EQ(ask({"release", "--force", "--yes", "job"}).end, exited(0));
  EXPECT_FALSE(locks_.find("job").has_value());
}

TEST_P(command_as_guest, that_may_only_read_looks_and_is_77_where_it_would_do_more) {
  let_guest("SELECT");
  const auto held = locks_.acquire("job", {.lease = 1h});
  for (const auto& arguments : std::vector<words>{{"show", "job"}, {"list"}, {"metrics"}, {"guard"}})
    EXPECT_EQ(ask(arguments).end, exited(0)) << testing::PrintToString(arguments);
  EXPECT_EQ(ask({"waiters", "job"}).end, exited(1));
  const auto checked = ask({"check"});
  EXPECT_EQ(checked.end, exited(77)) << checked;
  EXPECT_THAT(checked.out, AllOf(ContainsRegex("connection +ok "), ContainsRegex("privileges +failed ")));
  EXPECT_TRUE(refused(ask({"guard", "--quarantine", "60s"}), 77));
  EXPECT_FALSE(locks_.guard().quarantine.has_value());
}

}  // namespace
}  // namespace rowlock::test
