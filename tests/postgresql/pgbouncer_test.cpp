#include <cstdlib>

#include "server/server_test.hpp"
#include "support/postgresql_database.hpp"
#include "support/test_thread.hpp"

namespace rowlock::test {
namespace {

/// Through PgBouncer in transaction mode: what two transactions of a client meet may be two of the server's sessions.
class pgbouncer : public only_on<postgresql_database> {
 protected:
  void SetUp() override {
    if (std::getenv("ROWLOCK_TEST_PGBOUNCER_URL") == nullptr)
      GTEST_SKIP() << "ROWLOCK_TEST_PGBOUNCER_URL is not set, as where a server was given";
  }
  client connect_pooled(client_options options = {}) {
    options.transaction_pooling = true;
    auto locks = connect_to(db().url_through_pgbouncer(), std::move(options));
    locks.migrate();
    return locks;
  }
  /// For sessions that begin from now on.
  void set_default(const std::string& setting) { db().execute("ALTER ROLE " + db().name() + " SET " + setting); }

  std::int64_t listeners() {
    return db().number("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%LISTEN rowlock%' AND usename = '" +
                       db().name() + "'");
  }

  void expect_life() {
    auto locks = connect_pooled();
    auto others = connect_pooled();
    expect_whole_life(locks, others);
    const auto held = locks.acquire("orders/42", {.lease = 2s});
    EXPECT_TRUE(is_renewed("orders/42"));
  }
};

TEST_F(pgbouncer, carries_the_whole_life_of_a_lock) { expect_life(); }

TEST_F(pgbouncer, carries_it_where_the_default_is_serializable) {
  set_default("default_transaction_isolation = 'serializable'");
  expect_life();
}

TEST_F(pgbouncer, carries_it_where_the_default_is_read_only) {
  connect().close();
  set_default("default_transaction_read_only = on");
  auto locks = connect_to(db().url_through_pgbouncer(), {.transaction_pooling = true});
  EXPECT_NO_THROW(locks.acquire("orders/42").release());
}

TEST_F(pgbouncer, carries_the_freeing_of_what_others_have) {
  auto locks = connect_pooled();
  auto desk = connect_pooled();
  for (const auto by : {strategy::unique_index, strategy::for_update}) {
    lock_options options{.strategy = by};
    if (by == strategy::unique_index) options.lease = 3s;
    const auto held = locks.acquire("orders/42", options);
    EXPECT_TRUE(desk.force_release("orders/42"));
    EXPECT_TRUE(desk.try_acquire("orders/42").has_value());
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_EQ(held.why_lost(), by == strategy::for_update ? loss_reason::session_ended : loss_reason::forced);
  }
}

TEST_F(pgbouncer, carries_the_lists_of_who_waits) {
  auto locks = connect_pooled();
  db().add_waiters("orders/42", 2);
  db().add_waiters("orders/43", 1);
  EXPECT_EQ(locks.waiters("orders/42").size(), 2U);
  EXPECT_EQ(locks.list_waiters("orders/").size(), 3U);
  EXPECT_EQ(locks.list_waiters("orders/43").size(), 1U);
  EXPECT_TRUE(locks.list_waiters("orders/44").empty());
}

TEST_F(pgbouncer, carries_many_threads) {
  for (const auto* isolation : {"read committed", "serializable"}) {
    set_default("default_transaction_isolation = '" + std::string{isolation} + "'");
    db().terminate_sessions();  // so that the pooler opens new sessions
    auto locks = connect_pooled();
    int counter = 0;
    {
      std::vector<test_thread> threads;
      for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
          for (int round = 0; round < 25; ++round) {
            const auto held = locks.acquire("counter");
            ++counter;
          }
        });
    }
    EXPECT_EQ(counter, 200) << isolation;
  }
}

TEST_F(pgbouncer, carries_a_lock_through_the_end_of_its_sessions) {
  auto locks = connect_pooled();
  const auto held = locks.acquire("orders/42", {.lease = 3s});
  db().terminate_sessions();
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_FALSE(held.lost().stop_requested()) << to_string(held.why_lost());
}

TEST_F(pgbouncer, leaves_nothing_in_the_servers_sessions) {
  auto locks = connect_pooled({.connections = 1});
  locks.acquire("orders/42").release();
  ASSERT_EQ(db().connections(), 1) << "the next one meets the same session";
  const auto found = pq_connection{db().url_through_pgbouncer()}.run(
      "SELECT count(*), current_setting('lock_timeout'), current_setting('synchronous_commit') "
      "FROM pg_prepared_statements");
  EXPECT_EQ(found.text(0, 0), "0");
  EXPECT_EQ(found.text(0, 1), "0");
  EXPECT_EQ(found.text(0, 2), "on");
}

/// Another program leaves a setting in the session that clients meet next. A second schema has rowlock's tables, too.
class pgbouncer_after_others : public pgbouncer {
 protected:
  void SetUp() override {
    pgbouncer::SetUp();
    if (IsSkipped()) return;
    connect().close();
    db().execute("CREATE SCHEMA " + other() + " AUTHORIZATION " + db().name());
    connect_to(db().url() + "?options=-csearch_path%3D" + other()).migrate();
    db().terminate_sessions();  // so that the pooler has one session from now on
  }
  void TearDown() override { db().execute("DROP SCHEMA IF EXISTS " + other() + " CASCADE"); }

  std::string other() { return db().name() + "_b"; }
  void leave(const std::string& script) { pq_connection{db().url_through_pgbouncer()}.run_script(script); }
  client connect_unmigrated() {
    return connect_to(db().url_through_pgbouncer(), {.connections = 1, .transaction_pooling = true});
  }

  /// Whether clients from before and from after that agree about who has the name.
  void expect_one_holder(const std::string& left_behind) {
    auto first = connect_unmigrated();
    auto second = connect_unmigrated();
    second.acquire("others").release();
    const auto held = first.acquire("orders/42", {.lease = 2s});
    leave(left_behind);
    EXPECT_FALSE(second.try_acquire("orders/42").has_value());
    auto third = connect_unmigrated();
    EXPECT_FALSE(third.try_acquire("orders/42").has_value());
    EXPECT_EQ(third.list("orders/").size(), 1U);
    EXPECT_TRUE(is_renewed("orders/42"));
    EXPECT_EQ(held.why_lost(), loss_reason::none);
    ASSERT_EQ(db().connections(), 1) << "all meet the same session";
  }
};

TEST_F(pgbouncer_after_others, finds_its_tables_behind_another_search_path) {
  expect_one_holder("SET search_path = " + other());
}
TEST_F(pgbouncer_after_others, finds_its_tables_behind_no_search_path) { expect_one_holder("SET search_path = ''"); }
TEST_F(pgbouncer_after_others, finds_its_tables_behind_temporary_ones) {
  expect_one_holder(
      "CREATE TEMP TABLE rowlock_lock (LIKE rowlock_lock INCLUDING ALL); CREATE TEMP TABLE "
      "rowlock_waiter (LIKE rowlock_waiter INCLUDING ALL)");
}

TEST_F(pgbouncer_after_others, migrates_where_its_own_path_says) {
  db().drop_tables();
  db().execute("CREATE ACCESS METHOD " + db().name() + "_heap TYPE TABLE HANDLER heap_tableam_handler");
  leave("SET search_path = " + other() + "; SET default_table_access_method = " + db().name() + "_heap");
  connect_unmigrated().migrate();
  EXPECT_EQ(db().text("SELECT a.amname FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE c.oid = '" + db().name() +
                      ".rowlock_lock'::regclass"),
            "heap");
  db().execute("DROP ACCESS METHOD " + db().name() + "_heap");
}

TEST_F(pgbouncer, is_not_asked_to_listen) {
  const recorder told;
  auto holder = connect();
  auto locks = connect_pooled({.observer = told.observer()});
  auto held = holder.acquire("orders/42", {.lease = 1min});
  background waiter{waiting(locks)};
  ASSERT_TRUE(is_waited_for("orders/42"));
  let_pass(1s);
  EXPECT_EQ(listeners(), 0);
  held.release();
  EXPECT_TRUE(is_held_by("orders/42", waiter.get()));
  EXPECT_EQ(told.warnings().size(), 0U);
  EXPECT_EQ(locks.stats().polling_fallbacks, 0U) << "it was asked for";
}

// One client with one connection meets its prepared statements again, unless the pooler gives it the session in which
// its listener was: then it is told which option is missing, perhaps before it has waited at all.
TEST_F(pgbouncer, without_the_option_is_noticed_by_one_who_would_listen) {
  const recorder told;
  auto holder = connect();
  auto locks = connect_to(db().url_through_pgbouncer(), {.connections = 1, .observer = told.observer()});
  int waits = 0;
  for (int tries = 0; waits < 2 && tries < 20; ++tries) {
    auto held = holder.acquire("orders/42", {.lease = 1min});
    background waiter{waiting(locks)};
    const auto is_refused = [&] { return waiter.is_done_within(0s); };
    EXPECT_TRUE(eventually([&] { return is_refused() || db().tickets("orders/42") == 1; }));
    EXPECT_TRUE(eventually([&] { return is_refused() || told.warned("transaction_pooling"); }));
    held.release();
    std::optional<held_lock> got;
    const auto e = error_of([&] { return got = waiter.get(), true; });
    EXPECT_TRUE(got ? is_held_by("orders/42", *got) : mentions(e, "transaction_pooling"));
    if (got) ++waits;
  }
  EXPECT_EQ(waits, 2);
  EXPECT_EQ(told.warnings().size(), 1U);
  EXPECT_EQ(locks.stats().polling_fallbacks, 1U);
  locks.close();
  const auto polling = told.all<events::polling>();
  ASSERT_EQ(polling.size(), 1U);
  EXPECT_TRUE(mentions(polling[0].cause, "transaction_pooling"));  // of the ring, or of a statement that had gone
}

// Each of two clients prepares in whatever session it meets, and then meets another.
TEST_F(pgbouncer, without_the_option_is_told_which_one_is_missing) {
  connect_pooled().close();
  std::vector<client> all;
  std::optional<error> broken;
  for (int i = 0; i < 4; ++i) all.push_back(connect_to(db().url_through_pgbouncer()));
  const auto all_at_once = [&] {
    std::vector<test_thread> threads;
    for (auto& each : all)
      threads.emplace_back([&] { error_of([&] { return each.try_acquire("others").has_value(); }); });
  };
  const auto breaks = [&] {
    all_at_once();
    for (auto& each : all)
      if (auto e = error_of([&] { return each.try_acquire("orders/42").has_value(); })) broken.emplace(*e);
    return broken.has_value();
  };
  if (!eventually(5s, breaks)) GTEST_SKIP() << "this PgBouncer keeps prepared statements, as it can since 1.21";
  EXPECT_TRUE(mentions(broken, "client_options::transaction_pooling")) << broken->what();
  EXPECT_TRUE(broken->sqlstate() == "26000" || broken->sqlstate() == "42P05") << broken->sqlstate();
}

}  // namespace
}  // namespace rowlock::test
