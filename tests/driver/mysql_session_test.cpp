#include "driver/mysql/session.hpp"

#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "driver/mysql/errors.hpp"
#include "driver/server_session_test.hpp"
#include "support/background.hpp"
#include "support/loopback.hpp"
#include "support/slowness.hpp"

// The session of MySQL and MariaDB, with steps of the test's own, against the server of ROWLOCK_TEST_MYSQL_URL.

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using driver::mysql_address;
using driver::mysql_session;
using test::error_of;
using test::hostile;
using test::is_error;
using test::mentions;
using test::throws;
using test::within;

mysql_address address_in(std::string_view url) { return driver::read_mysql_url(core::cut_url(url)); }

mysql_address server() { return address_in(test::address_in("ROWLOCK_TEST_MYSQL_URL").url()); }

// --- addresses -------------------------------------------------------------------------------------------------------

TEST(mysql_address_test, has_all_parts_of_a_url) {
  const auto found = address_in(
      "mariadb://us%65r:p%40ss%3A%2F@db.example:3307/sh%20op?ssl-mode=verify_identity&ssl-ca=/etc/"
      "ca%3F.pem&ssl-cipher=x");
  EXPECT_EQ(found.user, "user");
  EXPECT_EQ(found.password, "p@ss:/");
  EXPECT_EQ(found.host, "db.example");
  EXPECT_EQ(found.port, 3307);
  EXPECT_EQ(found.database, "sh op");
  EXPECT_EQ(found.tls, driver::encryption::verify_identity);
  EXPECT_EQ(found.ca, "/etc/ca?.pem");
  EXPECT_EQ(found.ciphers, "x");
  EXPECT_TRUE(found.must_be_encrypted());
}

TEST(mysql_address_test, has_defaults) {
  const auto found = address_in("mysql:///shop");
  EXPECT_EQ(found.user, "");
  EXPECT_EQ(found.host, "localhost");
  EXPECT_EQ(found.port, 3306);
  EXPECT_FALSE(found.must_be_encrypted());
  EXPECT_EQ(address_in("mysql://app@[::1]/shop").host, "::1");
  EXPECT_EQ(address_in("mysql://app@[::1]:3307/shop").port, 3307);
  EXPECT_EQ(address_in("mysql://app@db/shop?socket=/run/db.sock").socket, "/run/db.sock");
}

// --- texts and values ------------------------------------------------------------------------------------------------

TEST(mysql_values, gives_each_kind_of_server_its_own_text) {
  const std::string_view text = "A ?2 /*M!100600 M ?1 */ B /*!80000 Y ?3 ?1 */ ?2";
  const auto mariadb = driver::for_server(text, driver::mysql_kind::mariadb);
  EXPECT_EQ(mariadb.sql, "A ?  M ?  B  ?");
  EXPECT_EQ(mariadb.arguments, (std::vector<std::size_t>{1, 0, 1}));
  const auto mysql = driver::for_server(text, driver::mysql_kind::mysql);
  EXPECT_EQ(mysql.sql, "A ?  B  Y ? ?  ?");
  EXPECT_EQ(mysql.arguments, (std::vector<std::size_t>{1, 2, 0, 1}));
  const std::string_view nested = "A /*!80000 B /*M!100600 C */ /*!80000 D */ E */ F /*M!100600 G /*!80000 H */ I */";
  EXPECT_EQ(driver::for_server(nested, driver::mysql_kind::mysql).sql, "A  B   D  E  F ");
  EXPECT_EQ(driver::for_server(nested, driver::mysql_kind::mariadb).sql, "A  F  G  I ");
}

TEST(mysql_values, cuts_a_script_into_statements) {
  EXPECT_EQ(driver::statements_of("-- a; b\nCREATE x (\n  y -- why;\n);\n\nINSERT z;  \n-- end\n"),
            (std::vector<std::string>{"\nCREATE x (\n  y \n)\n", "\nINSERT z\n"}));
  EXPECT_EQ(driver::statements_of("DO 1").size(), 1U);
  EXPECT_TRUE(driver::statements_of("-- nothing\n").empty());
}

// --- what errors mean ------------------------------------------------------------------------------------------------

TEST(mysql_errors, say_what_now) {
  struct expected {
    std::vector<int> codes;
    errc means;
    bool retryable, unusable;
    const char* advice = "";
  };
  const expected all[] = {
      {{1213}, errc::deadlock, true, false},
      {{1205}, errc::call_timed_out, true, false},
      {{1020, 3101}, errc::serialization_failure, true, false},
      {{1146, 1049}, errc::schema_missing, false, false},
      {{1054}, errc::schema_older, false, false},
      {{1142, 1044}, errc::permission_denied, false, false, "SET DEFAULT ROLE"},
      {{1045}, errc::permission_denied, false, true, "check the user and the password"},
      {{1251}, errc::permission_denied, false, true, "use MariaDB's library with MariaDB"},
      {{1524}, errc::permission_denied, false, true, "ALTER USER"},
      {{2059}, errc::permission_denied, false, true, "install the plugin's file"},
      {{2061}, errc::permission_denied, false, true, "ssl-mode=REQUIRED"},
      {{3118, 1130}, errc::permission_denied, false, true},
      {{1040}, errc::connection_failed, true, true, "raise max_connections"},
      {{1290, 1047, 1037, 1038, 1135, 1243, 1615, 1180, 3100, 1156, 1835, 2013, 2027, 5013, 1927},
       errc::connection_failed,
       true,
       true},
      {{1461}, errc::connection_failed, true, false},
      {{1021, 1114}, errc::database_error, false, false, "; free some space on the disk of the server"},
      {{1064}, errc::database_error, false, false}};
  for (const auto& e : all)
    for (const int code : e.codes) {
      const auto found =
          driver::mysql_error({.code = code, .sqlstate = "HY000", .message = "so"}, "MySQL", "acquiring");
      EXPECT_TRUE(is_error(found, e.means,
                           {.is_retryable = e.retryable,
                            .outcome_is_unknown = false,
                            .connection_is_unusable = e.unusable,
                            .says = {"acquiring failed on MySQL: so", e.advice}}))
          << code;
      EXPECT_EQ(found.native_code(), code);
      EXPECT_EQ(found.sqlstate(), "HY000");
    }
}

TEST(mysql_errors, do_not_know_what_became_of_a_failed_commit_or_of_a_write_on_a_lost_connection) {
  const auto is_unknown = [](int code, bool lost, bool writing) {
    return driver::mysql_error({.code = code, .message = "so", .connection_lost = lost, .writing = writing}, "MySQL",
                               "x")
        .outcome_is_unknown();
  };
  for (const int in_a_commit : {1180, 3100, 3101}) {
    EXPECT_TRUE(is_unknown(in_a_commit, false, true)) << in_a_commit;
    EXPECT_FALSE(is_unknown(in_a_commit, false, false)) << in_a_commit;
  }
  EXPECT_TRUE(is_unknown(1156, true, true));
  EXPECT_TRUE(is_unknown(2013, true, true));
  EXPECT_FALSE(is_unknown(2013, true, false));
  EXPECT_TRUE(is_unknown(0, true, true));
}

// --- the session -----------------------------------------------------------------------------------------------------

class mysql_session_test : public test::server_session_test<mysql_session, std::string> {
 protected:
  session open() { return open_on(server()); }
  session open_on(const mysql_address& to, const driver::limits& until = within(10s)) {
    return std::make_unique<mysql_session>(to, driver::mysql_options{.lost = note_lost()}, watchdog_, until);
  }
  std::optional<error> failure_to_open(const mysql_address& to, const driver::limits& until = within(10s)) {
    return error_of([&] { return open_on(to, until); });
  }
};

TEST_F(mysql_session_test, reads_numbers_nothing_and_text) {
  const auto on = open();
  const auto row = ask(*on, "SELECT CAST(9223372036854775807 AS SIGNED), -3, TRUE, NULL, '', 'x'").at(0);
  EXPECT_EQ(row, (driver::row{INT64_MAX, std::int64_t{-3}, std::int64_t{1}, {}, std::string{}, std::string{"x"}}));
}

TEST_F(mysql_session_test, sends_every_text_as_it_is) {
  const auto on = open();
  for (const auto& text : hostile)
    EXPECT_EQ(word(*on, "SELECT HEX(?1)", {std::string_view{text}}),
              word(*on, "SELECT HEX(CAST(?1 AS BINARY))", {std::string_view{text}}));
  for (const auto& text : hostile) EXPECT_EQ(word(*on, "SELECT ?1", {std::string_view{text}}), text);
  EXPECT_EQ(word(*on, "SELECT ?1", {std::string_view{}}), "");
  EXPECT_EQ(number(*on, "SELECT ?1 IS NULL", {std::string_view{}}), 0);
  EXPECT_EQ(number(*on, "SELECT ?1 IS NULL", {}), 1);
  EXPECT_EQ(number(*on, "SELECT CAST(?1 AS SIGNED)", {INT64_MIN}), INT64_MIN);
}

// The server has sent a row by then, and a statement that writes is undone.
TEST_F(mysql_session_test, answers_no_row_of_a_statement_that_fails) {
  driver::connector_connection on{server(), 10s, 10s, {}};
  const std::string sql = "SELECT 9223372036854775807 + n FROM (SELECT 0 AS n UNION ALL SELECT 1) two";
  std::vector<driver::row> rows;
  EXPECT_ANY_THROW(on.prepare(sql)->execute({}, rows));
  EXPECT_ANY_THROW(on.execute_with_types(sql, rows));
  EXPECT_ANY_THROW(on.execute(sql, rows));
  EXPECT_EQ(rows.size(), 0U);
  on.execute("SELECT 1", rows);
  EXPECT_EQ(rows.size(), 1U);
}

TEST_F(mysql_session_test, sends_a_batch_as_a_table) {
  expect_batch_as_it_is(*open(),
                        "SELECT t, n FROM JSON_TABLE(?1, '$[*]' COLUMNS (i FOR ORDINALITY, "
                        "t VARCHAR(100) CHARACTER SET utf8mb4 PATH '$[0]', n BIGINT PATH '$[1]')) w ORDER BY i");
}

TEST_F(mysql_session_test, does_not_act_on_what_was_answered) {
  const auto on = open();
  const driver::request one{};
  const sheets::step answered{.read = "SELECT 'look'", .write = "SIGNAL SQLSTATE '45000'"};
  EXPECT_EQ(driver::text(on->run(answered, {&one, 1}, within(10s)).at(0).at(0)), "look");
  const sheets::step told{.write = "DO 1", .read_back = "SELECT 'told'"};
  EXPECT_EQ(driver::text(on->run(told, {&one, 1}, within(10s)).at(0).at(0)), "told");
  EXPECT_TRUE(on->run(told, {}, within(10s)).empty());
}

TEST_F(mysql_session_test, does_not_take_a_step_for_failed_whose_first_statement_was_committed) {
  const auto on = open();
  act(*on, "CREATE TEMPORARY TABLE written (n INT)", within(10s));
  const driver::request one{};
  const auto is_unknown = [&](const sheets::step& step) {
    const auto e = error_of([&] { return on->run(step, {&one, 1}, within(10s)); });
    return e.has_value() && e->outcome_is_unknown();
  };
  EXPECT_TRUE(is_unknown({.write = "INSERT INTO written VALUES (1)", .read_back = "SELECT no_column FROM written"}));
  EXPECT_EQ(number(*on, "SELECT COUNT(*) FROM written"), 1);
  EXPECT_FALSE(is_unknown({.write = "INSERT INTO written VALUES (1), (NULL, 2)", .read_back = "SELECT 1"}));
  EXPECT_FALSE(is_unknown({.write = "DELETE FROM written WHERE n = 2", .read_back = "SELECT no_column FROM written"}));
  on->begin(within(10s));
  EXPECT_FALSE(is_unknown({.write = "INSERT INTO written VALUES (2)", .read_back = "SELECT no_column FROM written"}));
  on->rollback(within(10s));
}

// What makes rows costs more. MariaDB does not answer whether it has made one.
TEST_F(mysql_session_test, asks_for_a_row_that_exists_without_making_one) {
  const auto on = open();
  if (number(*on, "SELECT VERSION() LIKE '%MariaDB%'") == 0) return;
  act(*on, "CREATE TEMPORARY TABLE asked (name VARCHAR(10) PRIMARY KEY, n INT NOT NULL)", within(10s));
  constexpr std::int64_t made = 1000;  // and 1 for an existing row; a new one cannot be answered
  const sheets::step asking{
      .write =
          "INSERT INTO asked VALUES (?1, -1) ON DUPLICATE KEY UPDATE n = n + 1 "
          "RETURNING name, IF(n < 0, 9223372036854775807 - n, n)",
      .making = "INSERT INTO asked VALUES (?1, 1000) ON DUPLICATE KEY UPDATE n = n + 1000 RETURNING name, n"};
  const auto ask_for = [&](std::string_view name) {
    const driver::request one{name};
    return driver::integer(on->run(asking, {&one, 1}, within(10s)).at(0).at(1));
  };
  EXPECT_EQ(ask_for("a"), made);
  for (int i = 1; i <= 5; ++i) EXPECT_EQ(ask_for("a"), made + i);
  EXPECT_EQ(ask_for("b"), made);
  EXPECT_EQ(ask_for("b"), 2 * made) << "the next may be new, too";
  for (int i = 1; i <= 5; ++i) EXPECT_EQ(ask_for("b"), 2 * made + i);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(ask_for(std::to_string(i)), made);
  auto last = ask_for("a");
  int makings = 0;
  for (; makings < 100; ++makings)
    if (const auto before = std::exchange(last, ask_for("a")); last == before + 1) break;
  EXPECT_GE(makings, 2) << "after many that were new";
  EXPECT_LE(makings, 64);
  EXPECT_EQ(ask_for("a"), last + 1);
}

TEST_F(mysql_session_test, sets_what_it_relies_on) {
  const auto on = open();
  const auto variable = [&](const std::string& name) {
    return driver::text(ask(*on, "SHOW VARIABLES LIKE '" + name + "'").at(0).at(1));
  };
  EXPECT_EQ(variable("time_zone"), "+00:00");
  EXPECT_EQ(variable("autocommit"), "ON");
  EXPECT_EQ(variable("character_set_client"), "utf8mb4");
  EXPECT_EQ(variable("sql_mode"), "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION");
  EXPECT_EQ(
      driver::text(
          ask(*on, "SHOW VARIABLES WHERE Variable_name IN ('tx_isolation', 'transaction_isolation')").at(0).at(1)),
      "READ-COMMITTED");
}

// --- time limits -----------------------------------------------------------------------------------------------------

TEST_F(mysql_session_test, a_call_ends_at_its_deadline_and_the_session_with_it) {
  const auto on = open();
  const test::stopwatch watch;
  // Whoever sleeps would notice that nobody waits any more.
  const auto e = failure_to_act(*on, "DO BENCHMARK(1000000000000, SHA2('', 512))", within(150ms));
  EXPECT_LT(watch.elapsed(), test::on_this_machine(5s));
  EXPECT_TRUE(expect_end(e, errc::call_timed_out, true, true).is_retryable());
  EXPECT_FALSE(on->looks_alive());
  EXPECT_TRUE(throws(errc::connection_failed, [&] { ask(*on, "SELECT 1"); }));

  ASSERT_EQ(lost().size(), 1U);
  const auto other = open();
  const auto holders = [&] { return number(*other, "SELECT IS_USED_LOCK('" + lost().at(0) + "') IS NOT NULL"); };
  EXPECT_EQ(holders(), 1) << "the server does not know yet";
  other->end_session(lost().at(0), within(10s));
  EXPECT_TRUE(test::eventually([&] { return holders() == 0; }));
  other->end_session(lost().at(0), within(10s));  // gone already
}

TEST_F(mysql_session_test, a_read_that_was_cut_has_no_unknown_outcome) {
  const auto on = open();
  const auto e = error_of([&] { return ask(*on, "SELECT SLEEP(30)", {}, within(150ms)); });
  expect_end(e, errc::call_timed_out, true, false);
}

TEST_F(mysql_session_test, a_call_ends_soon_after_a_stop) {
  const auto on = open();
  const auto id = number(*on, "SELECT CONNECTION_ID()");
  std::stop_source stop;
  test::background<std::optional<error>> call{[&](const std::stop_token&) {
    return failure_to_act(*on, "DO SLEEP(30)", {.deadline = base::now() + 60s, .stop = stop.get_token()});
  }};
  const auto other = open();
  ASSERT_TRUE(test::eventually([&] {
    return number(*other, "SELECT COUNT(*) FROM information_schema.processlist WHERE id = ?1 AND info = 'DO SLEEP(30)'",
                  {id}) == 1;
  }));
  stop.request_stop();
  expect_end(call.get(), errc::cancelled, true, true);
}

TEST_F(mysql_session_test, sends_nothing_when_no_time_is_left) { expect_nothing_sent_without_time(*open()); }

TEST_F(mysql_session_test, notices_that_it_was_ended_while_nobody_used_it) {
  const auto on = open();
  const auto other = open();
  const auto id = number(*on, "SELECT CONNECTION_ID()");
  other->script("KILL " + std::to_string(id));
  EXPECT_TRUE(test::eventually([&] { return !on->looks_alive(); }));
  expect_end(failure_to_act(*on, "DO 1", within(10s)), errc::connection_failed, true, false);
}

// --- connecting ------------------------------------------------------------------------------------------------------

TEST_F(mysql_session_test, says_why_it_cannot_connect) {
  const auto failure_at = [&](std::string mysql_address::*part, const char* value, errc code) {
    auto to = server();
    to.*part = value;
    const auto e = failure_to_open(to);
    EXPECT_TRUE(is_error(e, code, {.outcome_is_unknown = false})) << value;
    return e.value();
  };
  const auto password = failure_at(&mysql_address::password, "not this", errc::permission_denied);
  EXPECT_EQ(password.native_code(), 1045);
  EXPECT_FALSE(mentions(password, "not this"));
  const auto database = failure_at(&mysql_address::database, "rowlock_no_such_database", errc::connection_failed);
  EXPECT_TRUE(mentions(database, "create it")) << database.what();
  EXPECT_FALSE(database.is_retryable());
  failure_at(&mysql_address::host, "nowhere.invalid", errc::connection_failed);
  failure_at(&mysql_address::socket, "/nonexistent/socket", errc::connection_failed);
}

// MariaDB says whether it can, MySQL with what.
TEST_F(mysql_session_test, is_encrypted_if_that_was_asked_for_or_not_opened_at_all) {
  auto to = server();
  to.tls = driver::encryption::required;
  bool is_offered = false;
  for (const auto& each : ask(*open(), "SHOW VARIABLES WHERE Variable_name IN ('have_ssl', 'ssl_cert')")) {
    const auto value = driver::text(each.at(1));
    is_offered = is_offered || (driver::text(each.at(0)) == "have_ssl" ? value == "YES" : !value.empty());
  }
  if (is_offered) {
    EXPECT_NE(driver::text(ask(*open_on(to), "SHOW SESSION STATUS LIKE 'Ssl_cipher'").at(0).at(1)), "");
    return;
  }
  EXPECT_TRUE(is_error(failure_to_open(to), errc::connection_failed));
}

TEST_F(mysql_session_test, gives_up_on_a_server_that_never_answers) {
  auto mute = test::listening_socket();
  auto to = server();
  to.host = "127.0.0.1";
  to.port = test::port_of(mute);
  const test::stopwatch watch;
  EXPECT_TRUE(throws(errc::connection_failed, [&] { open_on(to, within(200ms)); }));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(throws(errc::cancelled, [&] { open_on(to, {.deadline = base::now() + 60s, .stop = stop.get_token()}); }));
  EXPECT_LT(watch.elapsed(), test::on_this_machine(3s));
  mute.close();  // else the thread that was left behind would take its time
}

TEST_F(mysql_session_test, leaves_no_socket_open_across_exec) {
  const auto on = open();
  EXPECT_GT(connected_sockets(), 0);
}

// Each call is cut at its own time: the socket that is shut is the session's own.
TEST_F(mysql_session_test, knows_its_socket_while_others_connect_to_the_same_server) {
  const auto to = server();
  std::atomic<bool> is_over{false};
  const std::jthread others{[&] {
    while (!is_over) {
      const auto socket = test::tcp_socket();
      static_cast<void>(test::connect(socket, test::loopback(to.port)));
      char greeting = 0;
      static_cast<void>(read(socket.get(), &greeting, 1));
    }
  }};
  std::vector<std::jthread> own;
  std::atomic<int> cut{0};
  for (int i = 0; i < 4; ++i)
    own.emplace_back([&] {
      for (int round = 0; round < 5; ++round) {
        const auto on = open();
        const auto bystander = open();
        const auto e = failure_to_act(*on, "DO SLEEP(30)", within(50ms));
        if (e && e->code() == errc::call_timed_out && bystander->looks_alive() && number(*bystander, "SELECT 7") == 7)
          ++cut;
      }
    });
  own.clear();
  is_over = true;
  EXPECT_EQ(cut, 20);
}

// --- migrating -------------------------------------------------------------------------------------------------------

TEST_F(mysql_session_test, lets_one_migrate_at_a_time) {
  const auto on = open();
  const auto other = open();
  // MySQL would round it to a second, and be cut. The connection itself is cut after 6 s.
  const auto wait = std::min<duration>(test::on_this_machine(600ms), 5s);
  on->exclusively([&] { EXPECT_TRUE(throws(errc::call_timed_out, [&] { other->exclusively([] {}, within(wait)); })); },
                  within(wait + 10s));
  bool was_run = false;
  exclusively(*other, [&] { was_run = true; });
  EXPECT_TRUE(was_run);
  EXPECT_THROW(exclusively(*on, [] { throw std::runtime_error{"half-way"}; }), std::runtime_error);
  exclusively(*other, [] {});
}

TEST_F(mysql_session_test, runs_a_script_statement_by_statement) {
  const auto on = open();
  on->script(
      "DROP TABLE IF EXISTS driver_test;\nCREATE TABLE driver_test (n INT);\nINSERT INTO driver_test\nVALUES (1), "
      "(2);\n");
  EXPECT_EQ(number(*on, "SELECT COUNT(*) FROM driver_test"), 2);
  const auto e = error_of([&] { on->script("DROP TABLE driver_test;\nNO SUCH STATEMENT;\n"); });
  EXPECT_EQ(e.value().native_code(), 1064);
}

}  // namespace
}  // namespace rowlock
