#include "driver/postgresql_session_test.hpp"

#include <signal.h>
#include <rowlock/interop/pqxx.hpp>

#include <cerrno>
#include <ostream>
#include <stop_token>
#include <string>

#include "driver/postgresql/errors.hpp"
#include "support/background.hpp"
#include "support/loopback.hpp"

namespace rowlock::test {
namespace {

TEST_F(postgresql_session_test, tells_why_it_cannot_connect) {
  const auto failure_at = [&](const server_address& to, errc code, const char* sqlstate) {
    auto e = error_of([&] { return open(to.url()); });
    EXPECT_TRUE(is_error(e, code)) << sqlstate;
    EXPECT_EQ(e.value().sqlstate(), sqlstate);
    return e;
  };
  auto to = server();
  to.password = "not-the-password";
  EXPECT_FALSE(mentions(failure_at(to, errc::permission_denied, "28P01"), to.password));
  to = server();
  to.database = "no_such_database";
  EXPECT_TRUE(mentions(failure_at(to, errc::connection_failed, "3D000"), to.database));
  to = server_at(port_of(listening_socket()));  // which is closed again
  const auto no_server = failure_at(to, errc::connection_failed, "");
  EXPECT_TRUE(no_server->is_retryable());
  EXPECT_TRUE(mentions(no_server, std::to_string(*to.port)));
}

// By a limit on idling or on the whole, in class 25 as if the transaction were in a wrong state.
TEST(transaction_of_a_caller, that_the_server_has_ended_needs_a_new_connection) {
  const auto meaning_of = [](const char* sqlstate) {
    return error_of([&] { detail::rethrow_postgresql("so", sqlstate, true, false, "locking"); });
  };
  for (const char* ended : {"25P03", "25P04"}) {
    const auto e = meaning_of(ended);
    EXPECT_TRUE(e && e->code() == errc::connection_failed && e->connection_is_unusable()) << ended;
  }
  EXPECT_TRUE(throws(errc::wrong_transaction_state, [&] { throw error{*meaning_of("25001")}; }));
}

struct expected_error {
  const char* sql;
  const char* sqlstate;
  errc code;
  bool retryable;
  bool unusable;
  const char* advice = "";
};

void PrintTo(const expected_error& e, std::ostream* to) { *to << e.sqlstate; }  // NOLINT: GoogleTest's name

class postgresql_errors_test : public postgresql_session_test, public testing::WithParamInterface<expected_error> {};

TEST_P(postgresql_errors_test, mean_what_they_are) {
  const expected_error& expected = GetParam();
  const auto on = open();
  const std::string raise =
      "DO $$BEGIN RAISE EXCEPTION USING ERRCODE = '" + std::string{expected.sqlstate} + "'; END$$";
  const std::string sql = *expected.sql == '\0' ? raise : expected.sql;
  const auto found = failure_to_act(*on, sql, within(10s));
  ASSERT_TRUE(is_error(found, expected.code,
                       {.is_retryable = expected.retryable,
                        .outcome_is_unknown = false,
                        .connection_is_unusable = expected.unusable,
                        .says = {expected.advice}}));
  EXPECT_EQ(found->sqlstate(), expected.sqlstate);
  EXPECT_EQ(number(*on, "SELECT 1::bigint"), 1);
}

// What has no statement here is raised by its SQLSTATE alone.
INSTANTIATE_TEST_SUITE_P(
    , postgresql_errors_test,
    testing::Values(expected_error{"SELECT * FROM no_such_table", "42P01", errc::schema_missing, false, false},
                    expected_error{"CREATE TABLE no_such_schema.t ()", "3F000", errc::schema_missing, false, false},
                    expected_error{"SELECT nothing FROM pg_class", "42703", errc::schema_older, false, false},
                    expected_error{"", "42501", errc::permission_denied, false, false, "; grant it to this role"},
                    expected_error{"", "40001", errc::serialization_failure, true, false},
                    expected_error{"", "40P01", errc::deadlock, true, false},
                    expected_error{"", "55P03", errc::call_timed_out, true, false},
                    expected_error{"", "57014", errc::call_timed_out, true, false},
                    expected_error{"", "53100", errc::connection_failed, true, false,
                                   "; free some space on the disk of the server"},
                    expected_error{"", "53200", errc::connection_failed, true, true},
                    expected_error{"", "54000", errc::connection_failed, true, false},
                    expected_error{"", "0A000", errc::database_error, false, true},
                    expected_error{"", "25006", errc::connection_failed, true, true},
                    expected_error{"SELECT 1 / 0", "22012", errc::database_error, false, false},
                    expected_error{"nonsense", "42601", errc::database_error, false, false}),
    [](const auto& of) { return "sqlstate_" + std::string{of.param.sqlstate}; });

TEST_F(postgresql_session_test, statements_have_a_limit_on_the_server_too) {
  const auto on = open({.call_timeout = 1ms});
  const auto late = failure_to_act(*on, "SELECT pg_sleep(60)", within(20s));
  EXPECT_EQ(expect_end(late, errc::call_timed_out, false, false).sqlstate(), "57014");
}

TEST_F(with_table, waits_for_a_row_only_shortly) {
  session_->script("INSERT INTO driver_test VALUES ('a', 1)");
  const auto other = open();
  exclusively(*session_, [&] {
    act(*session_, "UPDATE driver_test SET n = 2", within(10s));
    const auto late = failure_to_act(*other, "UPDATE driver_test SET n = 3", within(10s));
    EXPECT_EQ(expect_end(late, errc::call_timed_out, false, false).sqlstate(), "55P03");
  });
}

TEST_F(postgresql_session_test, a_session_that_is_ended_while_it_writes_leaves_the_outcome_unknown) {
  const auto by = open();
  const auto on = open();
  background call{[&](const std::stop_token&) { return failure_to_act(*on, "SELECT pg_sleep(60)", within(60s)); }};
  ASSERT_TRUE(eventually([&] { return is_asleep(*by, on->id().pid); }));
  end_backend(*by, on->id().pid);
  const auto ended = call.get();
  const auto end = expect_end(ended, errc::connection_failed, true, true);
  EXPECT_EQ(end.sqlstate(), "57P01");
  EXPECT_TRUE(end.is_retryable());
  EXPECT_EQ(lost().size(), 1U);
}

TEST_F(postgresql_session_test, a_session_that_was_ended_while_idle_does_not_come_back_by_itself) {
  const auto by = open();
  const auto on = open();
  end_backend(*by, on->id().pid);
  // It is off the list before its socket is closed.
  ASSERT_TRUE(eventually([&] { return kill(static_cast<pid_t>(on->id().pid), 0) != 0 && errno == ESRCH; }));
  for (int i = 0; i < 2; ++i) {
    const auto gone = failure_to_act(*on, "SELECT 1", within(10s));
    EXPECT_TRUE(expect_end(gone, errc::connection_failed, true, false).is_retryable());
  }
}

TEST_F(with_table, a_session_lost_inside_a_transaction_has_done_nothing) {
  const auto by = open();
  const auto lost = error_of([&] {
    exclusively(*session_, [&] {
      session_->script("INSERT INTO driver_test VALUES ('a', 1)");
      end_backend(*by, session_->id().pid);
      act(*session_, "INSERT INTO driver_test VALUES ('b', 1)", within(10s));
    });
  });
  expect_end(lost, errc::connection_failed, true, false);
  session_ = open();
  EXPECT_EQ(rows(), 0);
}

TEST_F(postgresql_session_test, blames_no_pooler_for_prepared_statements_that_vanish_without_one) {
  const auto on = open();
  ask(*on, "SELECT 1");
  on->script("DEALLOCATE ALL");
  const auto gone = failure(*on, "SELECT 1");
  EXPECT_EQ(gone.value().sqlstate(), "26000");
  EXPECT_TRUE(gone->connection_is_unusable());
  EXPECT_TRUE(mentions(gone, "lost its prepared statements"));
  EXPECT_FALSE(mentions(gone, "transaction_pooling"));
  EXPECT_FALSE(mentions(gone, "PgBouncer"));
}

TEST_F(postgresql_session_test, speaks_the_servers_language_and_still_knows_what_it_means) {
  EXPECT_EQ(driver::sqlstate_in("FEHLER:  40001: konnte Zugriff nicht serialisieren"), "40001");
  EXPECT_EQ(driver::sqlstate_in("ERROR:  no state"), "");
  EXPECT_EQ(driver::plain_words("ERROR:  42P01: no such table\nLOCATION:  parserOpenTable, x.c:1"), "no such table");
  EXPECT_EQ(driver::plain_words("cannot reach postgresql://u:hunter2@h/db"), "cannot reach postgresql://***@h/db");
}

TEST_F(postgresql_session_test, does_not_count_what_others_commit) {
  const auto on = open();
  EXPECT_TRUE(throws(errc::unsupported, [&] { on->change_count(within(10s)); }));
}

// --- a standby that does not answer ----------------------------------------------------------------------------------

class with_missing_standby : public with_table {
 protected:
  void SetUp() override {
    with_table::SetUp();
    session_->script("INSERT INTO driver_test VALUES ('a', 1)");
    set("nobody");
  }
  void TearDown() override {
    set("");
    with_table::TearDown();
  }
  void set(const std::string& names) {
    const auto by = open();
    by->script("SET synchronous_commit = local");
    by->script("ALTER SYSTEM SET synchronous_standby_names = '" + names + "'");
    ask(*by, "SELECT pg_reload_conf()");
    EXPECT_TRUE(eventually([&] { return word(*open(), "SHOW synchronous_standby_names") == names; }));
  }
};

TEST_F(with_missing_standby, a_commit_that_nobody_confirmed_is_of_unknown_outcome) {
  const auto by = open();
  session_ = open();
  background call{[&](const std::stop_token&) {
    return failure_to_act(*session_, "UPDATE driver_test SET n = n + 1", within(60s));
  }};
  const auto cancel =
      "SELECT count(*) FILTER (WHERE pg_cancel_backend(pid)) FROM pg_stat_activity "
      "WHERE pid = $1::integer AND wait_event = 'SyncRep'";
  EXPECT_TRUE(eventually([&] { return number(*by, cancel, {session_->id().pid}) == 1; }));
  expect_end(call.get(), errc::outcome_unknown, false, true);
}

}  // namespace
}  // namespace rowlock::test
