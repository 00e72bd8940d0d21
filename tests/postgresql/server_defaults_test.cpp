#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "postgresql/server_test.hpp"
#include "postgresql/steps.hpp"

namespace rowlock::test {
namespace {

/// What a server, a database or a role may have as a default. rowlock relies on none of it.
struct server_default {
  const char* name;
  const char* setting;
};

std::ostream& operator<<(std::ostream& out, const server_default& d) { return out << d.name; }

constexpr server_default server_defaults[] = {{"serializable", "default_transaction_isolation = 'serializable'"},
                                              {"repeatable_read", "default_transaction_isolation = 'repeatable read'"},
                                              {"read_only", "default_transaction_read_only = on"},
                                              {"deferrable", "default_transaction_deferrable = on"},
                                              {"time_zone_of_odd_minutes", "timezone = 'Asia/Kathmandu'"},
                                              {"time_zone_behind", "timezone = 'America/St_Johns'"},
                                              {"german_dates", "datestyle = 'German, DMY'"},
                                              {"iso_intervals", "intervalstyle = 'iso_8601'"},
                                              {"old_strings", "standard_conforming_strings = off"},
                                              {"short_lock_timeout", "lock_timeout = 1"},
                                              {"no_durable_commit", "synchronous_commit = off"},
                                              {"latin_client", "client_encoding = 'LATIN1'"},
                                              {"few_digits", "extra_float_digits = -15"}};

class with_default : public server_test, public testing::WithParamInterface<server_default> {
 protected:
  void SetUp() override {
    connect().close();
    db().execute("ALTER ROLE " + db().name() + " SET " + GetParam().setting);
  }
};
INSTANTIATE_TEST_SUITE_P(a, with_default, testing::ValuesIn(server_defaults),
                         [](const auto& d) { return d.param.name; });

TEST_P(with_default, a_lock_lives_as_without) {
  auto locks = connect();
  locks.check();
  auto held = locks.try_acquire("Straße/42", {.lease = 2s, .note = "für später"});
  ASSERT_TRUE(held.has_value());
  EXPECT_FALSE(locks.try_acquire("Straße/42").has_value());
  EXPECT_TRUE(is_renewed("Straße/42"));
  const auto found = locks.find("Straße/42").value();
  EXPECT_EQ(found.note, "für später");
  EXPECT_EQ(found.token, held->token());
  EXPECT_LE(found.expires_in.value(), 2s);
  EXPECT_LT(found.held_for.value(), 10min) << "no time zone is part of it";
  held->extend(1h);
  const auto left = locks.find("Straße/42").value().expires_in.value();
  EXPECT_LE(left, 1h);
  EXPECT_GT(left, 55min);
  held->release();
  EXPECT_TRUE(is_vacant("Straße/42"));
}

TEST_P(with_default, a_lease_ends_when_it_should) {
  steps nobody{db().url()};  // who will not let go of it either
  const strategies::attempt one{
      .name = "orders/42", .owner = "a:1:1:1", .thread = "1", .acquisition = "1", .note = {}, .lease = 300ms};
  const auto abandoned = nobody.acquire({&one, 1}).at(0);
  ASSERT_EQ(abandoned.what, strategies::verdict::granted);
  const auto end = expiry("orders/42");
  const auto next = connect().try_acquire_for("orders/42", 10s);
  ASSERT_TRUE(next.has_value());
  EXPECT_GT(next->token(), abandoned.token);
  EXPECT_GE(db().row("orders/42").value().acquired_at.value(), end);
}

TEST_P(with_default, threads_take_turns) {
  auto locks = connect();
  int counter = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        for (int round = 0; round < 10; ++round) {
          const auto held = locks.acquire("counter");
          ++counter;
        }
      });
  }
  EXPECT_EQ(counter, 80);
}

class tables : public server_test {};

TEST_F(tables, are_found_and_made_by_search_path) {
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

TEST_F(tables, of_two_prefixes_are_two) {
  auto one = connect();
  auto two = connect({.table_prefix = "second_"});
  const auto held = one.acquire("orders/42", {.lease = 2s});
  auto also = two.try_acquire("orders/42", {.lease = 2s});
  ASSERT_TRUE(also.has_value());
  EXPECT_TRUE(db().has_table("second_lock"));
  EXPECT_EQ(db().number("SELECT count(*) FROM second_lock WHERE owner IS NOT NULL"), 1);
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_FALSE(also->lost().stop_requested());
  EXPECT_NO_THROW(also->release());
  EXPECT_TRUE(is_held_by("orders/42", held));
}

TEST_F(tables, that_are_missing_are_named_and_can_be_made_later) {
  auto locks = connect_to(db().url());
  const auto e = error_of([&] { return locks.try_acquire("orders/42").has_value(); });
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::schema_missing);
  EXPECT_TRUE(mentions(e, "migrate()"));
  connect().close();
  EXPECT_TRUE(locks.try_acquire("orders/42").has_value());
}

}  // namespace
}  // namespace rowlock::test
