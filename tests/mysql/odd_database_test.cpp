#include <string>

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
  auto held = locks.acquire("orders/42");
  EXPECT_FALSE(others.try_acquire("orders/42").has_value());
  held.extend(1min);
  background waiter{[&](std::stop_token stop) { return others.acquire("orders/42", {}, stop); }};
  EXPECT_TRUE(eventually([&] { return locks.waiters("orders/42").size() == 1; }));
  held.release();
  waiter.get().release();
  locks.acquire("orders/42", {.strategy = strategy::for_update}).release();
  locks.acquire_shared("orders/42").release();
  EXPECT_TRUE(locks.list().empty());
}

}  // namespace
}  // namespace rowlock::test
