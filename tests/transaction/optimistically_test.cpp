#include <stdexcept>

#include "support/slowness.hpp"
#include "support/tcp_proxy.hpp"
#include "transaction/transaction_test.hpp"

namespace rowlock::test {
namespace {

class optimistically : public transaction_test {
 protected:
  /// What the driver says where the server reports a conflict.
  std::string conflict() const {
    if (is_on("postgresql")) return "DO $$ BEGIN RAISE EXCEPTION 'not now' USING ERRCODE = '40001'; END $$";
    return "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'not now'";
  }
  /// No transaction is left open on the connection: a new one can begin, and what is written alone is there at once.
  void expect_nothing_open() {
    const auto before = value(3);
    tx().statement("UPDATE own SET n = n + 1 WHERE id = 3");
    EXPECT_EQ(value(3), before + 1) << "it is not committed";
    tx().begin();
    EXPECT_EQ(tx().number("SELECT n FROM own WHERE id = 3"), before + 1);
    tx().rollback();
    if (is_on("mysql")) {
      EXPECT_EQ(tx().number("SELECT @@autocommit"), 1);
    }
    EXPECT_TRUE(can_have_soon("orders/42")) << "a wait that has ended may be granted it first, and let go of it";
  }
  void TearDown() override { expect_nothing_open(); }

  /// Counts in runs_ how often the body is run.
  void run(const caller::silent_body& body, const retry_options& options = {}) { run_by(tx(), body, options); }
  void run_by(caller& by, const caller::silent_body& body, const retry_options& options = {}) {
    runs_ = 0;
    const auto counted = [&] {
      ++runs_;
      body();
    };
    by.optimistically_without_result(locks(), "orders/42", counted, options);
  }
  /// Another client has it for a moment.
  void disturb() { others().acquire("orders/42").release(); }

  int runs_ = 0;
};
ROWLOCK_SUITE_IN(optimistically, each_place());
ROWLOCK_SUITE_LIKE_IN(optimistically_on_postgresql, optimistically, on("postgresql", each_place()));
ROWLOCK_SUITE_LIKE_IN(optimistically_on_servers, optimistically, on_servers(each_place()));
ROWLOCK_SUITE_LIKE_IN(optimistically_not_on_postgresql, optimistically, not_on("postgresql", each_place()));
ROWLOCK_SUITE_LIKE_IN(optimistically_on_mysql, optimistically, on("mysql", each_place()));

/// With a caller whose statements may be replaced by others that fail.
class optimistically_on_mysql_with_failures : public optimistically {
 protected:
  void fail(const std::string& statement) {
    proxy_.replace(statement, statement.substr(0, statement.size() - 1) + "X");
  }
  void fail_no_more() { proxy_.replace({}, {}); }
  caller& far() { return *far_; }
  void run(const caller::silent_body& body) { run_by(far(), body); }

 private:
  tcp_proxy proxy_{server().host(), server().port()};
  std::unique_ptr<caller> far_ = open_caller(server().url_through(proxy_.port()), GetParam().isolation);
};
ROWLOCK_SUITE_IN(optimistically_on_mysql_with_failures, on("mysql", usual_places()));

TEST_P(optimistically, commits_what_the_body_does_and_returns_what_it_returns) {
  const auto read = tx().optimistically(locks(), "orders/42", [&](attempt which) {
    EXPECT_EQ(which.number, 1);
    tx().statement(write_own);
    return tx().number(read_own) + 41;
  });
  EXPECT_EQ(read, 42);
  for (int i = 0; i < 2; ++i) run([&] { tx().statement(write_own); });
  EXPECT_EQ(value(), 3);
}

TEST_P(optimistically, gives_the_name_a_new_version) {
  const auto first = others().acquire("orders/42").token();
  run([] {});
  EXPECT_GT(db().row("orders/42")->version, first.value());
  EXPECT_GT(others().acquire("orders/42").token().value(), first.value() + 1);
}

TEST_P(optimistically, lets_what_the_body_throws_pass_and_rolls_back) {
  const auto throw_own = [&] {
    tx().statement(write_own);
    throw std::domain_error{"no more"};
  };
  EXPECT_THROW(run(throw_own), std::domain_error);
  EXPECT_EQ(runs_, 1);
  expect_nothing_open();
  EXPECT_ANY_THROW(run([&] {
    tx().statement(write_own);
    tx().statement("SELECT n FROM not_there");
  }));
  EXPECT_EQ(runs_, 1);
  EXPECT_EQ(value(), 0);
}

TEST_P(optimistically_on_servers, runs_again_where_somebody_had_the_name_meanwhile) {
  for (const bool is_new : {true, false}) {
    const auto before = value();
    std::vector<int> attempts;
    tx().optimistically(locks(), "orders/42", [&](attempt which) {
      attempts.push_back(which.number);
      if (which.number <= 2) disturb();
      tx().statement(write_own);
      return 0;
    });
    EXPECT_EQ(attempts, (std::vector{1, 2, 3})) << "new: " << is_new;
    EXPECT_EQ(value(), before + 1) << "only one of them is committed";
  }
}

TEST_P(optimistically_on_servers, runs_again_whoever_had_the_name) {
  const auto other = open();
  const std::vector<std::function<void()>> ways{
      [&] { others().acquire("orders/42", {.strategy = strategy::for_update}).release(); },
      [&] { others().acquire("orders/42", {.strategy = strategy::version_cas}).release(); },
      [&] { others().acquire_shared("orders/42").release(); },
      [&] {
        other->begin();
        other->lock_in(others(), "orders/42");
        other->commit();
      },
      [&] { other->optimistically_without_result(others(), "orders/42", [] {}); }};
  for (std::size_t way = 0; way < ways.size(); ++way) {
    run([&] {
      if (runs_ == 1) ways[way]();
    });
    EXPECT_EQ(runs_, 2) << "way " << way;
  }
}

TEST_P(optimistically, gives_up_where_the_name_is_held_throughout) {
  auto held = others().acquire("orders/42");
  for (const auto& limits : {retry_options{.attempts = 3}, retry_options{.attempts = 1'000'000, .within = 300ms}}) {
    const stopwatch watch;
    EXPECT_TRUE(throws(errc::contention, [&] { run([] {}, limits); }));
    EXPECT_LT(watch.elapsed(), on_this_machine(5s));
    EXPECT_LE(runs_, limits.attempts);
  }
  EXPECT_NO_THROW(held.release());
}

// With more of them it would wait in turn, and have the name to itself.
TEST_P(optimistically_on_servers, gives_up_after_so_many_attempts) {
  const auto write_in_vain = [&] {
    tx().statement(write_own);
    disturb();
  };
  EXPECT_TRUE(throws(errc::contention, [&] { run(write_in_vain, {.attempts = 3}); }));
  EXPECT_EQ(runs_, 3);
  EXPECT_EQ(value(), 0);
}

// A body that locks the name in its own transaction has changed the version, as anybody else would have.
TEST_P(optimistically, does_not_commit_where_the_body_itself_has_changed_the_version) {
  make_rows({"orders/42"});
  const auto before = db().row("orders/42")->version;
  const auto change = [&] {
    tx().statement(write_own);
    tx().statement("UPDATE rowlock_lock SET version = version + 1 WHERE name = 'orders/42'");
  };
  EXPECT_TRUE(throws(errc::contention, [&] { run(change, {.attempts = 2}); }));
  EXPECT_EQ(value(), 0);
  EXPECT_EQ(db().row("orders/42")->version, before);
}

TEST_P(optimistically_on_postgresql, does_not_run_the_body_while_a_transaction_has_the_name) {
  const auto other = locked_elsewhere();
  EXPECT_TRUE(throws(errc::contention, [&] { run([] { ADD_FAILURE() << "it is run"; }, {.attempts = 2}); }));
  other->rollback();
}

TEST_P(optimistically, goes_on_when_the_name_is_let_go) {
  auto held = others().acquire("orders/42");
  background runner{[&](const std::stop_token& /*stop*/) {
    run([&] { tx().statement(write_own); }, {.attempts = 1'000'000, .within = 25s});
    return true;
  }};
  EXPECT_FALSE(runner.is_done_within(a_moment));
  EXPECT_NO_THROW(held.release());
  EXPECT_TRUE(runner.get());
  EXPECT_EQ(value(), 1);
}

TEST_P(optimistically, does_not_run_the_body_where_there_is_no_attempt_or_the_thread_itself_has_the_name) {
  const auto run_it = [&](int attempts) { run([] { FAIL() << "it is run"; }, {.attempts = attempts}); };
  EXPECT_TRUE(throws(errc::invalid_option, [&] { run_it(0); }));
  mutex order{locks(), "orders/42"};
  order.lock();
  EXPECT_TRUE(throws(errc::would_deadlock, [&] { run_it(1); }));
  order.unlock();
}

TEST_P(optimistically_on_servers, runs_again_where_the_database_reports_a_conflict) {
  std::vector<int> attempts;
  tx().optimistically(locks(), "orders/42", [&](attempt which) {
    attempts.push_back(which.number);
    tx().statement(write_own);
    if (which.number < 3) tx().statement(conflict());
    return 0;
  });
  EXPECT_EQ(attempts, (std::vector{1, 2, 3}));
  EXPECT_EQ(value(), 1);
}

TEST_P(optimistically, runs_again_where_a_call_of_this_library_reports_a_conflict) {
  for (const auto code : {errc::serialization_failure, errc::stale_snapshot, errc::deadlock}) {
    run([&] {
      if (runs_ == 1) throw error{code, "not now"};
    });
    EXPECT_EQ(runs_, 2) << make_error_code(code).message();
  }
  EXPECT_TRUE(throws(errc::lock_lost, [&] { run([] { throw error{errc::lock_lost, "no more"}; }); }));
}

TEST_P(optimistically, refuses_a_body_that_acquires_the_same_name) {
  const auto other = open();
  const std::vector<std::function<void()>> ways{
      [&] { static_cast<void>(locks().acquire("orders/42")); },
      [&] { static_cast<void>(locks().try_acquire("orders/42")); },
      [&] { static_cast<void>(locks().acquire("orders/42", {.as = holder::named("a job")})); },
      [&] { static_cast<void>(locks().acquire_shared("orders/42")); },
      [&] {
        static_cast<void>(locks().acquire_all({"orders/41", "orders/42"}));
      },
      [&] {
        static_cast<void>(locks().acquire_any({"orders/42", "orders/41"}));
      },
      [&] {
        mutex{locks(), "orders/42"}.lock();
      },
      [&] { tx().lock_in(locks(), "orders/42"); },
      [&] { other->optimistically_without_result(locks(), "orders/42", [] { FAIL() << "it is run"; }); }};
  for (std::size_t way = 0; way < ways.size(); ++way) {
    const auto write_and_acquire = [&] {
      tx().statement(write_own);
      ways[way]();
    };
    EXPECT_TRUE(throws(errc::would_deadlock, [&] { run(write_and_acquire); })) << "way " << way;
    EXPECT_EQ(runs_, 1) << "way " << way;
  }
  EXPECT_EQ(value(), 0);
  EXPECT_NO_THROW(locks().acquire("orders/42").release()) << "it is over";
}

// The fourth attempt is made under a lease of the client.
TEST_P(optimistically_on_servers, refuses_a_body_that_acquires_the_same_name_at_last) {
  const auto acquire_at_last = [&] {
    if (runs_ <= 3) return disturb();
    static_cast<void>(locks().acquire("orders/42"));
  };
  EXPECT_TRUE(throws(errc::would_deadlock, [&] { run(acquire_at_last); }));
}

TEST_P(optimistically_not_on_postgresql, needs_a_connection_without_a_transaction) {
  if (is_on("mysql") && tx().text("SELECT VERSION()").find("MariaDB") == std::string::npos)
    GTEST_SKIP() << "MySQL does not tell";
  tx().begin();
  tx().statement(write_own);
  EXPECT_TRUE(throws(errc::wrong_transaction_state, [&] { run([] { FAIL() << "it is run"; }); }));
  EXPECT_EQ(value(), 0) << "it is not committed by the way";
  tx().statement(write_own);
  tx().commit();
  EXPECT_EQ(value(), 2) << "the transaction is as it was";
}

TEST_P(optimistically_on_mysql, leaves_autocommit_off_where_it_was_off) {
  tx().begin();
  run([&] { tx().statement(write_own); });
  EXPECT_EQ(value(), 1);
  EXPECT_EQ(tx().number("SELECT @@autocommit"), 0);
  EXPECT_THROW(run([] { throw std::domain_error{"no more"}; }), std::domain_error);
  EXPECT_EQ(tx().number("SELECT @@autocommit"), 0);
  tx().rollback();
}

TEST_P(optimistically_on_mysql_with_failures, does_not_run_the_body_if_autocommit_stays_on) {
  fail("autocommit=0");
  const auto e = error_of([&] {
    run([&] { far().statement(write_own); });
    return true;
  });
  EXPECT_TRUE(e.has_value());
  EXPECT_EQ(value(), 0);
  fail_no_more();
  run([&] { far().statement(write_own); });
  EXPECT_EQ(value(), 1);
}

TEST_P(optimistically_on_mysql_with_failures, does_not_commit_what_it_could_not_roll_back) {
  const auto write_and_fail = [&] {
    far().statement(write_own);
    throw std::domain_error{"no more"};
  };
  fail("ROLLBACK");
  EXPECT_THROW(run(write_and_fail), std::domain_error);
  EXPECT_EQ(value(), 0);
}

}  // namespace
}  // namespace rowlock::test
