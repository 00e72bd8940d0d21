#include "server/server_test.hpp"
#include "support/postgresql_database.hpp"
#include "support/pq_connection.hpp"

namespace rowlock::test {
namespace {

class search_path : public only_on<postgresql_database> {
 public:
  ~search_path() override { db().execute("DROP SCHEMA IF EXISTS " + other() + " CASCADE"); }

 protected:
  std::string other() { return "\"" + db().name() + " $1 \"\"b'\""; }
  void make_other() { db().execute("CREATE SCHEMA " + other() + " AUTHORIZATION " + db().name()); }
  /// For sessions that begin from now on.
  void set_path(const std::string& to) { db().execute("ALTER ROLE " + db().name() + " SET search_path = " + to); }
  std::int64_t tables_in_other() {
    return db().number(
        "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relname "
        "LIKE 'rowlock%' AND c.relkind = 'r' AND starts_with(n.nspname, '" +
        db().name() + " $1 ')");
  }
};

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

// Names of schemas may be any.
TEST_F(search_path, leads_a_whole_life_in_any_schema) {
  make_other();
  set_path(other());
  for (const bool pools : {false, true}) {
    auto locks = connect_to(db().url(), {.transaction_pooling = pools});
    auto others = connect_to(db().url());
    locks.migrate();
    ASSERT_GE(tables_in_other(), 5);
    expect_whole_life(locks, others);
  }
}

TEST_F(search_path, of_the_first_connection_holds_for_all) {
  make_other();
  connect_to(db().url() + "?options=-csearch_path%3D" + "%22" + db().name() + "%5C%20%241%5C%20%22%22b%27%22")
      .migrate();
  ASSERT_GE(tables_in_other(), 5);
  auto first = connect();
  auto second = connect();
  const auto held = first.acquire("orders/42", {.lease = 3s});
  set_path(other());
  db().terminate_sessions();
  EXPECT_FALSE(second.try_acquire("orders/42").has_value());
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_EQ(held.why_lost(), loss_reason::none);
}

// What is made later, by hand perhaps, is found where it is.
TEST_F(search_path, is_followed_as_long_as_there_are_no_tables) {
  make_other();
  set_path(other() + ", " + db().name());
  auto locks = connect_to(db().url());
  EXPECT_TRUE(throws(errc::schema_missing, [&] { return locks.acquire("orders/42").token(); }));
  connect_to(db().url() + "?options=-csearch_path%3D" + db().name()).migrate();
  EXPECT_NO_THROW(locks.acquire("orders/42").release());
  EXPECT_TRUE(is_vacant("orders/42"));
  locks.migrate();
  EXPECT_EQ(tables_in_other(), 0);
}

TEST_F(search_path, that_names_no_schema_is_no_place_for_tables) {
  set_path("nowhere");
  auto locks = connect_to(db().url());
  const auto e = error_of([&] { locks.migrate(); });
  ASSERT_TRUE(is_error(e, errc::schema_missing, {.says = {"search_path"}}));
}

}  // namespace
}  // namespace rowlock::test
