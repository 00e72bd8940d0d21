#include <cstdlib>

#include "support/postgresql_database.hpp"
#include "support/tcp_proxy.hpp"
#include "transaction/transaction_test.hpp"

// What the client remembers of a caller's session on PostgreSQL may be wrong, and what it has prepared there may be
// gone: nothing but time is lost.

namespace rowlock::test {
namespace {

/// Whether it was used before, and by which driver.
struct session_kind {
  const char* name = "";
  bool is_known = false;
  decltype(&open_postgresql_caller) open = nullptr;
};

std::ostream& operator<<(std::ostream& out, const session_kind& what) { return out << what.name; }

constexpr session_kind kinds_of_sessions[] = {{"postgresql_new", false, open_postgresql_caller},
                                              {"postgresql_known", true, open_postgresql_caller},
                                              {"postgresql_new_in_one_message", false, open_libpq_caller},
                                              {"postgresql_known_in_one_message", true, open_libpq_caller}};

class callers_session : public testing::TestWithParam<session_kind> {
 protected:
  callers_session() {
    locks_.migrate();
    tx_->statement("CREATE TABLE own (id INTEGER PRIMARY KEY, n BIGINT NOT NULL)");
    tx_->statement("INSERT INTO own (id, n) VALUES (1, 0)");
    if (GetParam().is_known) use(4);
  }

  postgresql_database& db() { return database_; }
  client& locks() { return locks_; }
  client& others() { return others_; }
  caller& tx() { return *tx_; }

  /// All that the session is used for, so often.
  void use(int times) {
    for (int i = 0; i < times; ++i) {
      const auto held = locks_.acquire("warm");
      tx_->begin();
      tx_->lock_in(locks_, "orders/42");
      tx_->confirm(held);
      tx_->statement(write_own);
      tx_->commit();
    }
  }
  void expect_of_use() {
    use(3);
    EXPECT_FALSE(others_.find("orders/42").has_value());
  }
  std::int64_t prepared() { return tx_->number("SELECT count(*) FROM pg_prepared_statements"); }

  static constexpr const char* write_own = "UPDATE own SET n = n + 1 WHERE id = 1";
  static constexpr const char* read_own = "SELECT n FROM own WHERE id = 1";

 private:
  postgresql_database database_;
  client locks_ = client::connect(database_.url(), {.observer = silent()});
  client others_ = client::connect(database_.url(), {.observer = silent()});
  std::unique_ptr<caller> tx_ = GetParam().open(database_.url(), "read committed");
};
INSTANTIATE_TEST_SUITE_P(that_is, callers_session, testing::ValuesIn(kinds_of_sessions),
                         [](const auto& info) { return std::string{info.param.name}; });

// An earlier call leaves a savepoint. To roll back to it would release what that call has locked, and let the program
// commit all the same.
TEST_P(callers_session, whose_transaction_has_failed_stays_failed) {
  const auto held = locks().acquire("orders/43");
  const std::function<void()> calls[] = {[&] { tx().lock_in(locks(), "orders/42"); }, [&] { tx().confirm(held); },
                                         [&] { static_cast<void>(tx().try_lock_in(locks(), "orders/42")); },
                                         [&] { static_cast<void>(tx().try_lock_in_for(locks(), "orders/42", 100ms)); }};
  for (const bool has_locked : {false, true}) {  // at first on a session that the client has not used yet
    tx().begin();
    if (has_locked) {
      tx().lock_in(locks(), "orders/42");
      tx().confirm(held);
      tx().statement(write_own);
    }
    EXPECT_ANY_THROW(tx().statement("SELECT 1 / 0"));
    for (const auto& call : calls) {
      EXPECT_TRUE(throws(errc::wrong_transaction_state, call));
      EXPECT_ANY_THROW(tx().statement("SELECT 7"));
    }
    tx().rollback();
  }
  expect_of_use();
}

TEST_P(callers_session, that_has_lost_what_was_prepared_is_of_use) {
  for (const auto* how : {"DEALLOCATE ALL", "DISCARD ALL"}) {
    tx().statement(how);
    expect_of_use();
  }
  const auto held = locks().acquire("orders/43");
  tx().begin();
  tx().statement("DEALLOCATE ALL");
  tx().lock_in(locks(), "orders/42");
  tx().statement("DEALLOCATE ALL");
  tx().confirm(held);
  tx().commit();
  expect_of_use();
}

TEST_P(callers_session, that_two_clients_use_is_of_use) {
  for (int i = 0; i < 4; ++i)
    for (auto* const by : {&locks(), &others()}) {
      tx().begin();
      tx().lock_in(*by, "orders/42");
      tx().lock_in(*by, "orders/43");
      tx().commit();
    }
  expect_of_use();
}

TEST_P(callers_session, adds_one_round_trip_where_the_driver_takes_several_statements) {
  tcp_proxy proxy{db().host(), db().port()};
  const auto by = GetParam().open(db().url_through(proxy.port()), "read committed");
  const auto added_by = [&](const auto& call) {
    const auto before = proxy.round_trips();
    call();
    return proxy.round_trips() - before;
  };
  for (int i = 0; i < 3; ++i) {
    const auto held = locks().acquire("orders/43");
    by->begin();
    by->statement(read_own);
    const auto by_lock_in = added_by([&] { by->lock_in(locks(), "orders/42"); });
    const auto by_confirm = added_by([&] { by->confirm(held); });
    by->commit();
    if (i < 2) continue;  // it is not prepared yet
    EXPECT_EQ(by_lock_in, by->takes_several() ? 1 : 2);
    EXPECT_EQ(by_confirm, by->takes_several() ? 1 : 2);
  }
}

TEST_P(callers_session, has_few_statements_prepared) {
  use(10);
  EXPECT_LE(prepared(), 3);
  EXPECT_EQ(tx().number("SELECT count(*) FROM pg_prepared_statements WHERE name NOT LIKE 'rowlock: %'"), 0);
}

TEST_P(callers_session, has_none_prepared_behind_a_pooler) {
  const auto before = prepared();
  auto pooled = client::connect(db().url(), {.transaction_pooling = true, .observer = silent()});
  for (int i = 0; i < 4; ++i) {
    const auto held = pooled.acquire("orders/43");
    tx().begin();
    tx().lock_in(pooled, "orders/42");
    tx().confirm(held);
    tx().commit();
  }
  EXPECT_EQ(prepared(), before);
}

// To ask in the transaction, where it keeps its snapshot, would make it too old to see what the holder does.
TEST_P(callers_session, that_keeps_a_snapshot_this_time_waits_before_it_takes_it) {
  for (int i = 0; i < 2; ++i) {
    auto held = others().acquire("orders/42");
    tx().statement("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    tx().begin();
    EXPECT_FALSE(tx().try_lock_in(locks(), "orders/42").has_value());
    open_caller(db().url(), "read committed")->statement(write_own);
    held.release();
    EXPECT_NO_THROW(tx().lock_in(locks(), "orders/42"));
    const auto read = tx().number(read_own);
    tx().statement("UPDATE own SET n = " + std::to_string(read + 1) + " WHERE id = 1");
    EXPECT_NO_THROW(tx().commit());
    tx().statement("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED");
    expect_of_use();
  }
}

// Also where a statement was prepared under another path.
TEST_P(callers_session, that_looks_elsewhere_finds_the_clients_tables) {
  for (const auto* path : {"pg_catalog", "public"}) {
    const auto held = locks().acquire("orders/43");
    tx().begin();
    tx().statement(std::string{"SET LOCAL search_path = "} + path);
    EXPECT_NO_THROW(tx().lock_in(locks(), "orders/42")) << path;
    EXPECT_NO_THROW(tx().confirm(held)) << path;
    EXPECT_FALSE(others().try_acquire("orders/42").has_value()) << path;
    tx().commit();
    expect_of_use();
  }
}

TEST_P(callers_session, finds_tables_that_were_made_anew) {
  locks().acquire("orders/42").release();
  db().drop_tables();
  tx().begin();
  EXPECT_ANY_THROW(tx().lock_in(locks(), "orders/42"));
  EXPECT_EQ(tx().number("SELECT 7"), 7) << "the transaction is of use";
  tx().commit();
  locks().migrate();
  expect_of_use();
}

TEST_P(callers_session, whose_transaction_only_reads_is_refused_and_of_use) {
  tx().begin();
  tx().statement("SET TRANSACTION READ ONLY");
  EXPECT_TRUE(throws(errc::wrong_transaction_state, [&] { tx().lock_in(locks(), "orders/42"); }));
  EXPECT_GE(tx().number(read_own), 0) << "the transaction is of use";
  tx().commit();
  expect_of_use();
}

TEST_P(callers_session, behind_a_pooler_that_nobody_has_told_of_is_of_use) {
  if (std::getenv("ROWLOCK_TEST_PGBOUNCER_URL") == nullptr)
    GTEST_SKIP() << "ROWLOCK_TEST_PGBOUNCER_URL is not set, as where a server was given";
  const auto one = GetParam().open(db().url_through_pgbouncer(), "read committed");
  const auto two = GetParam().open(db().url_through_pgbouncer(), "read committed");
  for (int i = 0; i < 8; ++i) {
    two->begin();
    if (i % 2 != 0) two->statement("SELECT 7");  // the next one gets another session of the server
    const auto held = locks().acquire("orders/43");
    one->begin();
    one->lock_in(locks(), "orders/42");
    one->confirm(held);
    one->statement(write_own);
    one->commit();
    two->rollback();
  }
  expect_of_use();
}

}  // namespace
}  // namespace rowlock::test
