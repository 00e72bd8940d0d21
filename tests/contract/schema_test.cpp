#include <barrier>

#include "contract/contract.hpp"
#include "support/next_release.hpp"
#include "support/slowness.hpp"

namespace rowlock::test {
namespace {

class schema : public contract {};
ROWLOCK_CONTRACT_SUITE(schema, usual_pairs());
class schema_of_rows : public schema {};
ROWLOCK_CONTRACT_SUITE(schema_of_rows, rows(usual_pairs()));

TEST_P(schema, missing_is_an_error_at_first_use_that_names_the_command) {
  auto locks = connect_bare();
  const auto says_so = [](const std::optional<error>& e) {
    return is_error(e, errc::schema_missing, {.is_retryable = false, .says = {"migrate"}});
  };
  EXPECT_TRUE(says_so(error_of([&] { return locks.try_acquire("orders/42", with()); })));
  EXPECT_TRUE(says_so(error_of([&] { return locks.acquire("orders/42", with()); }))) << "waiting would not help";
  EXPECT_TRUE(says_so(error_of([&] { return locks.try_acquire_for("orders/42", 1h, with()); })));
  EXPECT_TRUE(says_so(error_of([&] { return locks.list(); })));
  EXPECT_TRUE(says_so(error_of([&] { return locks.find("orders/42"); })));
  EXPECT_TRUE(throws(errc::schema_missing, [&] { locks.check(); }));
  mutex order{locks, "orders/42", with()};
  EXPECT_TRUE(throws(errc::schema_missing, [&] { order.lock(); }));
  EXPECT_TRUE(throws(errc::schema_missing, [&] { static_cast<void>(order.try_lock()); }));
}

TEST_P(schema_of_rows, a_waiter_is_told_when_it_goes) {
  auto locks = connect();
  auto other = connect();
  auto held = other.acquire("orders/42", with());
  background waiter{[&](std::stop_token stop) { locks.acquire("orders/42", with(), stop).release(); }};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  db().drop_tables();
  EXPECT_TRUE(throws(errc::schema_missing, [&] { waiter.get(); }));
  EXPECT_TRUE(error_of([&] { held.release(); }).has_value());
}

TEST_P(schema, migrating_twice_changes_nothing) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", with());
  const auto newest = db().newest_migration();
  EXPECT_EQ(newest, locks.schema_status().expected);
  locks.migrate();
  connect_bare().migrate();
  EXPECT_EQ(db().newest_migration(), newest);
  EXPECT_FALSE(can_have(locks, "orders/42")) << "what is held stays held";
}

TEST_P(schema, migrated_by_many_threads_of_one_client_and_of_many_at_once) {
  auto shared = connect_bare();
  std::barrier start{8};
  on_threads(8, [&](int i) {
    start.arrive_and_wait();
    const auto e = error_of([&] {
      auto own = connect_bare();
      auto& locks = i % 2 == 0 ? own : shared;
      locks.migrate();
      return locks.acquire("orders/42", with());
    });
    EXPECT_FALSE(e) << e->what();
  });
  EXPECT_TRUE(can_have(shared, "orders/42"));
}

TEST_P(schema, made_late_or_dropped_or_interrupted_is_noticed_and_can_be_made_again) {
  auto locks = connect_bare();
  const auto is_missing = [&] {
    return throws(errc::schema_missing, [&] { static_cast<void>(locks.try_acquire("orders/42", with())); });
  };
  EXPECT_TRUE(is_missing());
  connect_bare().migrate();
  EXPECT_TRUE(can_have(locks, "orders/42"));
  EXPECT_NO_THROW(locks.check());
  db().drop_tables();
  EXPECT_TRUE(is_missing());
  locks.migrate();
  EXPECT_TRUE(can_have(locks, "orders/42"));
  for (int each = db().newest_migration(); each > 0; --each) db().forget_migration(each);
  locks = connect_bare();
  EXPECT_TRUE(is_missing()) << "no file is recorded";
  locks.migrate();
  EXPECT_TRUE(can_have(locks, "orders/42")) << "an interrupted run is finished by another";
}

// The locks of whoever has not been upgraded yet stay what they were. Those by transactions:
// tests/server/upgrade_test.cpp.
TEST_P(schema_of_rows, older_is_brought_up_to_date_while_locks_are_held) {
  auto first = connect();
  auto held = first.acquire("orders/42", with());
  const auto row = db().row("orders/42").value();
  first.acquire("orders/43", with()).release();
  client locks = connect_next_release(db().url(), with_room({}));
  locks.migrate();
  EXPECT_EQ(db().newest_migration(), next_schema(db().url()));
  EXPECT_EQ(db().missing_checksums(), 0);
  EXPECT_NO_THROW(locks.check());
  EXPECT_EQ(db().row("orders/42").value().acquisition, row.acquisition);
  EXPECT_TRUE(can_have(locks, "orders/43"));
  EXPECT_TRUE(can_have(first, "orders/43"));
  background waiter{[&](std::stop_token stop) { return locks.acquire("orders/42", with(), stop); }};
  EXPECT_TRUE(eventually([&] { return db().tickets() == 1; }));
  EXPECT_FALSE(held.lost().stop_requested());
  const auto token = held.token();
  held.release();
  EXPECT_GT(waiter.get().token(), token);
}

TEST_P(schema, each_prefix_has_tables_of_its_own) {
  auto usual = connect();
  auto special = connect_bare({.table_prefix = "special_"});
  EXPECT_TRUE(throws(errc::schema_missing, [&] { static_cast<void>(special.try_acquire("orders/42", with())); }));
  special.migrate();
  EXPECT_TRUE(db().has_table("rowlock_lock"));
  EXPECT_TRUE(db().has_table("special_lock"));
  const auto held = usual.acquire("orders/42", with());
  auto also = special.try_acquire("orders/42", with());
  ASSERT_TRUE(also.has_value()) << "two prefixes do not exclude each other";
  const auto third = special.acquire("orders/43", with({.lease = brisk_lease}));
  EXPECT_EQ(usual.list().size(), 1U);
  EXPECT_EQ(special.list().size(), 2U);
  EXPECT_TRUE(!GetParam().has_lease || eventually([&] { return special.stats().renewals > 1; }));
  EXPECT_FALSE(third.lost().stop_requested());
  EXPECT_NO_THROW(also->release());
  EXPECT_FALSE(can_have(usual, "orders/42"));
  usual.release_all();
  EXPECT_FALSE(third.lost().stop_requested());
}

TEST_P(schema, the_longest_and_the_shortest_prefix) {
  for (const auto& prefix : {std::string{"_"}, std::string{"a"}, "a" + std::string(31, '9')}) {
    auto locks = connect({.table_prefix = prefix});
    EXPECT_TRUE(db().has_table(prefix + "lock")) << prefix;
    EXPECT_TRUE(can_have(locks, "orders/42")) << prefix;
  }
}

}  // namespace
}  // namespace rowlock::test
