#include "server/server_test.hpp"
#include "server/steps.hpp"
#include "support/test_thread.hpp"

namespace rowlock::test {
namespace {

/// What a server, a database or a role may have as a default. rowlock relies on none of it.
struct server_default {
  const char* server;
  const char* name;
  const char* variable;
  const char* value;
};

std::ostream& operator<<(std::ostream& out, const server_default& d) { return out << d.name; }

constexpr const char* postgresql = "postgresql";
constexpr const char* mysql = "mysql";
constexpr server_default server_defaults[] = {
    {postgresql, "serializable", "default_transaction_isolation", "'serializable'"},
    {postgresql, "repeatable_read", "default_transaction_isolation", "'repeatable read'"},
    {postgresql, "read_only", "default_transaction_read_only", "on"},
    {postgresql, "deferrable", "default_transaction_deferrable", "on"},
    {postgresql, "time_zone_of_odd_minutes", "timezone", "'Asia/Kathmandu'"},
    {postgresql, "time_zone_behind", "timezone", "'America/St_Johns'"},
    {postgresql, "german_dates", "datestyle", "'German, DMY'"},
    {postgresql, "iso_intervals", "intervalstyle", "'iso_8601'"},
    {postgresql, "old_strings", "standard_conforming_strings", "off"},
    {postgresql, "short_lock_timeout", "lock_timeout", "1"},
    {postgresql, "no_durable_commit", "synchronous_commit", "off"},
    {postgresql, "latin_client", "client_encoding", "'LATIN1'"},
    {postgresql, "few_digits", "extra_float_digits", "-15"},
    {mysql, "serializable", "transaction_isolation", "'SERIALIZABLE'"},
    {mysql, "read_uncommitted", "transaction_isolation", "'READ-UNCOMMITTED'"},
    {mysql, "read_only", "transaction_read_only", "1"},
    {mysql, "no_autocommit", "autocommit", "0"},
    {mysql, "chained_transactions", "completion_type", "1"},
    {mysql, "time_zone_of_odd_minutes", "time_zone", "'+05:45'"},
    {mysql, "time_zone_behind", "time_zone", "'-09:30'"},
    {mysql, "ansi_quotes", "sql_mode", "'ANSI,NO_BACKSLASH_ESCAPES,HIGH_NOT_PRECEDENCE,PAD_CHAR_TO_FULL_LENGTH'"},
    {mysql, "lenient", "sql_mode", "''"},
    {mysql, "safe_updates", "sql_safe_updates", "1"},
    {mysql, "few_rows", "sql_select_limit", "1"},
    {mysql, "short_lock_wait", "lock_wait_timeout", "1"},
    {mysql, "short_idle_time", "wait_timeout", "1"},
    {mysql, "latin_server", "character_set_server", "latin1"},
    {mysql, "odd_start", "init_connect", "'SET autocommit = 0, NAMES latin1, sql_auto_is_null = 1'"},
    {mysql, "another_database", "init_connect", "'USE information_schema'"}};

class with_default : public on_each_with<server_test, server_default> {
 protected:
  void SetUp() override {
    connect().close();
    default_ = db().set_default(what().variable, what().value);
  }

 private:
  std::unique_ptr<obstacle> default_;
};
ROWLOCK_SUITE_WITH_EACH_DEFAULT(with_default, server_defaults);

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
  const auto one = attempt_at("orders/42", "1", 300ms);
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
  on_threads(8, [&](int) {
    for (int round = 0; round < 10; ++round) {
      const auto held = locks.acquire("counter");
      ++counter;
    }
  });
  EXPECT_EQ(counter, 80);
}

}  // namespace
}  // namespace rowlock::test
