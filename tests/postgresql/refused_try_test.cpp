#include "server/server_test.hpp"
#include "server/steps.hpp"
#include "support/postgresql_database.hpp"

namespace rowlock::test {
namespace {

/// A try that was refused, in a transaction that is still open.
class refused_try : public only_on<postgresql_database> {
 protected:
  template <class Look>
  void while_it_is_open(Look look) {
    steps other{db().url()};
    const auto one = attempt_at("orders/42", "other", long_lease);
    other.session().exclusively(
        [&] {
          EXPECT_EQ(other.acquire({&one, 1}).at(0).what, strategies::verdict::busy);
          look();
        },
        steps::limits());
  }
};

TEST_F(refused_try, does_not_delay_a_renewal) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", {.lease = 2s});
  while_it_is_open([&] { EXPECT_TRUE(is_renewed("orders/42")); });
  EXPECT_FALSE(held.lost().stop_requested());
}

TEST_F(refused_try, does_not_delay_a_release) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", {.lease = long_lease});
  while_it_is_open([&] {
    held.release();
    EXPECT_TRUE(is_vacant("orders/42"));
  });
}

TEST_F(refused_try, writes_nothing) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", {.lease = long_lease});
  while_it_is_open([&] {
    const auto with_a_number =
        "SELECT count(*) FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND usename = '" + db().name() + "'";
    EXPECT_EQ(db().number(with_a_number), 0) << "a transaction that locks or changes a row has a number";
  });
}

// It found none, and then its INSERT waits for whoever has the new row in a transaction.
TEST_F(refused_try, of_a_row_that_is_made_and_taken_meanwhile_is_no_failure) {
  auto locks = connect();
  for (const auto& how :
       {lock_options{.strategy = strategy::unique_index},
        lock_options{.strategy = strategy::unique_index, .fairness = fairness::fifo},
        lock_options{.strategy = strategy::for_update}, lock_options{.strategy = strategy::version_cas}}) {
    const std::string name{std::string{to_string(how.strategy)} + (how.fairness == fairness::fifo ? " in turn" : "")};
    auto gate = db().gate();
    background trying{[&](std::stop_token) { return locks.try_acquire(name, how); }};
    ASSERT_TRUE(eventually([&] { return db().at_gate() == 1; }));
    const auto write_at_once = [&](const char* sql, const char* end) {
      std::string out = "SET LOCAL session_replication_role = replica; ";  // past the gate
      return out.append(sql).append(db().quoted(name)).append(end);
    };
    db().execute(
        write_at_once("INSERT INTO rowlock_lock (name, version, expires_at) VALUES (", ", 1, clock_timestamp())"));
    const auto taken = db().transaction(write_at_once("UPDATE rowlock_lock SET version = 2 WHERE name = ", ""));
    gate.reset();
    EXPECT_FALSE(trying.get().has_value());
  }
}

// Whoever has the whole table locked is another matter.
TEST_F(refused_try, of_which_the_table_is_locked_is_a_failure) {
  auto locks = connect();
  for (const auto by : {strategy::unique_index, strategy::for_update, strategy::version_cas}) {
    const auto sealed = db().transaction("LOCK TABLE rowlock_lock IN SHARE MODE");
    const auto e = error_of([&] { return locks.try_acquire("orders/42", {.strategy = by}); });
    ASSERT_TRUE(is_error(e, errc::call_timed_out, {.is_retryable = true}));
  }
}

}  // namespace
}  // namespace rowlock::test
