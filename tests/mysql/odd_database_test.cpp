#include "server/server_test.hpp"
#include "support/mysql_database.hpp"

namespace rowlock::test {
namespace {

/// A database whose name has to be quoted, and looks like a parameter.
class odd_database : public only_on<mysql_database> {
 protected:
  void SetUp() override { db().execute("CREATE DATABASE `" + db().name() + " ``?1`"); }
  void TearDown() override { db().execute("DROP DATABASE `" + db().name() + " ``?1`"); }
  client connect_there() {
    auto to = db().administrator();
    to.database = db().name() + " `?1";
    return connect_to(to.url());
  }
};

TEST_F(odd_database, leads_a_whole_life) {
  auto locks = connect_there();
  auto others = connect_there();
  locks.migrate();
  expect_whole_life(locks, others);
}

}  // namespace
}  // namespace rowlock::test
