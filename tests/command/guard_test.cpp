#include <gmock/gmock.h>

#include "command/command.hpp"
#include "command/terminal.hpp"
#include "support/databases.hpp"
#include "support/server_database.hpp"

// rowlock guard at a terminal. Its output is in transcripts/guard.txt.

namespace rowlock::test {
namespace {

class command_guard : public on_each_database {
 protected:
  command_guard() {
    locks_.migrate();
    static_cast<void>(locks_.set_guard(1h));
    dynamic_cast<server_database&>(db()).execute("UPDATE rowlock_guard SET incarnation = 'former'");
  }

  bool is_in_quarantine() { return locks_.guard().left.has_value(); }

  client locks_ = client::connect(db().url(), {.observer = silent()});
  const words end_{command::path(), "--database", db().url(), "guard", "--end-quarantine"};
};
INSTANTIATE_TEST_SUITE_P(on, command_guard, testing::ValuesIn(server_databases()), database_name);

TEST_P(command_guard, ends_a_quarantine_after_a_yes_and_nothing_else) {
  terminal unsure{end_};
  ASSERT_TRUE(unsure.shows("End it? [y/N] "));
  unsure.type("\n");
  EXPECT_EQ(unsure.report(), "exited 1");
  EXPECT_TRUE(unsure.shows("the quarantine was not ended"));
  terminal sure{end_};
  ASSERT_TRUE(sure.shows("End it? [y/N] "));
  EXPECT_TRUE(is_in_quarantine());
  sure.type("y\n");
  EXPECT_EQ(sure.report(), "exited 0");
  EXPECT_FALSE(is_in_quarantine());
}

}  // namespace
}  // namespace rowlock::test
