#include "server/server_test.hpp"
#include "support/postgresql_database.hpp"

namespace rowlock::test {
namespace {

class search_path : public only_on<postgresql_database> {};

TEST_F(search_path, says_where_tables_are_found_and_made) {
  const auto other = db().name() + "_other";
  db().execute("CREATE SCHEMA " + other + " AUTHORIZATION " + db().name());
  auto here = connect();
  auto there = connect_to(db().url() + "?options=-csearch_path%3D" + other);
  there.migrate();
  const auto held = here.acquire("orders/42");
  const auto held_there = there.try_acquire("orders/42");
  EXPECT_TRUE(held_there.has_value()) << "another table, another lock";
  EXPECT_EQ(db().number("SELECT count(*) FROM " + other + ".rowlock_lock"), 1);
  here.close();
  there.close();
  db().execute("DROP SCHEMA " + other + " CASCADE");
}

}  // namespace
}  // namespace rowlock::test
