#include "driver/postgresql_session_test.hpp"

#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/background.hpp"
#include "support/pq_connection.hpp"
#include "support/tcp_proxy.hpp"

extern "C" const rowlock::driver::backend* rowlock_backend_postgresql();

namespace rowlock::test {
namespace {

// --- values ----------------------------------------------------------------------------------------------------------

TEST_F(postgresql_session_test, reads_numbers_nothing_and_text) {
  const auto on = open();
  const auto row = ask(*on,
                       "SELECT 9223372036854775807::bigint, -3::integer, 2::smallint, true, false, NULL::bigint, "
                       "NULL::text, '', 'x', 1.5::numeric")
                       .at(0);
  const driver::row expected{INT64_MAX, std::int64_t{-3}, std::int64_t{2},  std::int64_t{1},   std::int64_t{0}, {},
                             {},        std::string{},    std::string{"x"}, std::string{"1.5"}};
  EXPECT_EQ(row, expected);
}

TEST_F(postgresql_session_test, sends_every_text_as_it_is) {
  const auto on = open();
  for (const auto& text : hostile) EXPECT_EQ(word(*on, "SELECT $1::text", {std::string_view{text}}), text);
  EXPECT_EQ(number(*on, "SELECT $1::text IS NULL", {}), 1);
  EXPECT_EQ(number(*on, "SELECT $1::bigint", {INT64_MIN}), INT64_MIN);
}

TEST_F(postgresql_session_test, sends_a_batch_as_arrays_in_order) {
  expect_batch_as_it_is(*open(), "SELECT t, n FROM unnest($1::text[], $2::bigint[]) AS u (t, n)");
}

TEST_F(postgresql_session_test, takes_one_request_as_scalars) {
  const auto on = open();
  const sheets::step step{.read = "SELECT 'look'", .write = "SELECT 'act' || $1::text", .batch = "SELECT 'many'"};
  const driver::request one{std::string_view{"!"}};
  EXPECT_EQ(driver::text(on->run(step, {&one, 1}, within(10s)).at(0).at(0)), "act!");
  EXPECT_TRUE(on->run(step, {}, within(10s)).empty());
}

TEST(postgresql_values, counts_the_parameters_of_a_text) {
  EXPECT_EQ(driver::parameters_in("SELECT 1"), 0U);
  EXPECT_EQ(driver::parameters_in("SELECT $1, $3, $2"), 3U);
  EXPECT_EQ(driver::parameters_in("SELECT $10, '$'"), 10U);
}

TEST_F(postgresql_session_test, refuses_a_text_with_more_parameters_than_a_request_has) {
  const auto on = open();
  EXPECT_TRUE(throws(errc::database_error, [&] { ask(*on, "SELECT $7::text"); }));
}

// --- round trips and transactions ------------------------------------------------------------------------------------

TEST_F(postgresql_session_test, needs_one_round_trip_to_set_up_and_one_for_each_run) {
  const auto to = server();
  tcp_proxy between{to.host, to.port.value_or(5432)};
  auto by_way = server_at(between.port());
  by_way.options = "sslmode=disable&gssencmode=disable";
  const auto round_trips_of = [&](auto what) {
    const int before = between.round_trips();
    what();
    return between.round_trips() - before;
  };
  session on;
  const auto run = [&] { ask(*on, "SELECT $1::text", {std::string_view{"x"}}); };
  const int to_log_in = round_trips_of([&] { const pq_connection plain{by_way.url()}; });
  EXPECT_EQ(round_trips_of([&] { on = open(by_way.url()); }), to_log_in + 1);
  EXPECT_EQ(round_trips_of(run), 2) << "it is prepared";
  for (int i = 0; i < 5; ++i) EXPECT_EQ(round_trips_of(run), 1);
  on = open(by_way.url(), {.transaction_pooling = true});
  EXPECT_EQ(round_trips_of(run), 1);
}

TEST_F(with_table, a_batch_without_a_text_of_its_own_is_all_or_nothing) {
  const sheets::step insert{.write = "INSERT INTO driver_test VALUES ($1::text, 1) RETURNING n"};
  const std::vector<driver::request> twice{{std::string_view{"a"}}, {std::string_view{"b"}}, {std::string_view{"a"}}};
  const auto failed = error_of([&] { return session_->run(insert, twice, within(10s)); });
  EXPECT_FALSE(failed.value().outcome_is_unknown());
  EXPECT_EQ(failed->sqlstate(), "23505");
  EXPECT_EQ(rows(), 0);
  EXPECT_EQ(session_->run(insert, std::span{twice}.first(2), within(10s)).size(), 2U);
  EXPECT_EQ(rows(), 2);
}

TEST_F(with_table, exclusively_goes_on_after_a_missing_table) {
  exclusively(*session_, [&] {
    session_->script("INSERT INTO driver_test VALUES ('a', 1); INSERT INTO driver_test VALUES ('b', 1)");
    EXPECT_TRUE(throws(errc::schema_missing, [&] { ask(*session_, "SELECT * FROM no_such_table"); }));
    EXPECT_THROW(session_->script("nonsense"), error);
    EXPECT_EQ(rows(), 2);
  });
  EXPECT_EQ(rows(), 2);
}

TEST_F(with_table, exclusively_undoes_everything_when_its_body_throws) {
  const auto fails = [&] {
    session_->script("INSERT INTO driver_test VALUES ('a', 1)");
    throw std::runtime_error{"no"};
  };
  EXPECT_THROW(exclusively(*session_, fails), std::runtime_error);
  EXPECT_EQ(rows(), 0);
}

// A session that is refused is of use, unless the machine left it no time for the rollback, which is a tenth of the
// wait.
TEST_F(with_table, exclusively_lets_one_in_at_a_time) {
  auto other = open();
  exclusively(*session_, [&] {
    const stopwatch since;
    const auto refused = error_of([&] { other->exclusively([] { ADD_FAILURE() << "two were in"; }, within(2s)); });
    EXPECT_EQ(refused.value().code(), errc::call_timed_out) << refused->what();
    if (since.elapsed() < 2s) expect_end(refused, errc::call_timed_out, false, false);
    if (refused->connection_is_unusable()) other = open();
  });
  bool was_in = false;
  exclusively(*other, [&] { was_in = true; });
  EXPECT_TRUE(was_in);
}

TEST_F(with_table, exclusively_waits_longer_than_statements_may) {
  auto inside = std::make_shared<std::promise<void>>();
  background first{[&](const std::stop_token&) {
    exclusively(*session_, [&] {
      inside->set_value();
      ask(*session_, "SELECT pg_sleep(0.4)");
    });
    return 0;
  }};
  inside->get_future().wait();
  const auto other = open();
  EXPECT_NO_THROW(other->exclusively([] {}, within(20s)));
  EXPECT_EQ(first.get(), 0);
}

// --- settings --------------------------------------------------------------------------------------------------------

/// Made by a connection without limits of time: others make databases, too, and wait for each other.
class with_defaults : public postgresql_session_test {
 protected:
  void SetUp() override {
    drop();
    const pq_connection on{server_url()};
    on.run("CREATE DATABASE driver_defaults");
    for (const char* setting :
         {"default_transaction_isolation = 'serializable'", "default_transaction_read_only = on",
          "default_transaction_deferrable = on", "timezone = 'Asia/Tokyo'", "synchronous_commit = off",
          "statement_timeout = 77777", "lock_timeout = 77777", "client_min_messages = error",
          "standard_conforming_strings = off", "jit = on", "idle_session_timeout = 77777"})
      on.run("ALTER DATABASE driver_defaults SET " + std::string{setting});
  }
  void TearDown() override { drop(); }
  static void drop() { pq_connection{server_url()}.run("DROP DATABASE IF EXISTS driver_defaults WITH (FORCE)"); }
  static std::string url() {
    auto to = server();
    to.database = "driver_defaults";
    return to.url();
  }
};

TEST_F(with_defaults, sets_what_it_needs_whatever_the_defaults) {
  const auto on = open(url(), {.call_timeout = 5s});
  const std::vector<std::pair<std::string, std::string>> expected{{"default_transaction_isolation", "read committed"},
                                                                  {"transaction_isolation", "read committed"},
                                                                  {"default_transaction_read_only", "off"},
                                                                  {"default_transaction_deferrable", "off"},
                                                                  {"TimeZone", "UTC"},
                                                                  {"synchronous_commit", "on"},
                                                                  {"statement_timeout", "5500ms"},
                                                                  {"lock_timeout", "100ms"},
                                                                  {"idle_in_transaction_session_timeout", "5500ms"},
                                                                  {"client_min_messages", "warning"},
                                                                  {"standard_conforming_strings", "on"},
                                                                  {"plan_cache_mode", "force_generic_plan"},
                                                                  {"enable_seqscan", "off"},
                                                                  {"enable_hashjoin", "off"},
                                                                  {"enable_mergejoin", "off"},
                                                                  {"jit", "off"},
                                                                  {"idle_session_timeout", "0"},
                                                                  {"client_encoding", "UTF8"},
                                                                  {"application_name", "rowlock test:1"}};
  for (const auto& [name, value] : expected)
    EXPECT_EQ(word(*on, "SELECT current_setting($1::text)", {std::string_view{name}}), value) << name;
}

TEST_F(with_defaults, keeps_a_stronger_synchronous_commit) {
  open()->script("ALTER DATABASE driver_defaults SET synchronous_commit = remote_apply");
  EXPECT_EQ(word(*open(url()), "SHOW synchronous_commit"), "remote_apply");
}

TEST_F(with_defaults, sets_nothing_behind_a_pooler_but_the_transactions_isolation) {
  const auto on = open(url(), {.transaction_pooling = true});
  EXPECT_EQ(word(*on, "SHOW TimeZone"), "Asia/Tokyo");
  EXPECT_EQ(word(*on, "SHOW transaction_isolation"), "read committed");
  EXPECT_EQ(word(*on, "SHOW transaction_read_only"), "off");
  EXPECT_EQ(word(*on, "SHOW default_transaction_isolation"), "serializable");
  exclusively(*on, [&] { EXPECT_EQ(word(*on, "SHOW transaction_isolation"), "read committed"); });
  EXPECT_EQ(number(*on, "SELECT count(*) FROM pg_prepared_statements"), 0);
}

TEST_F(postgresql_session_test, leaves_an_application_name_in_the_url) {
  EXPECT_EQ(word(*open(server_url() + "?application_name=mine"), "SHOW application_name"), "mine");
}

TEST_F(postgresql_session_test, keeps_its_sockets_across_no_exec) {
  const auto on = open();
  EXPECT_EQ(connected_sockets(), 2) << "libpq's and its double";
}

// --- the database ----------------------------------------------------------------------------------------------------

TEST_F(postgresql_session_test, a_database_ends_the_sessions_that_it_lost) {
  const auto text = server_url();
  const auto database = rowlock_backend_postgresql()->open(core::cut_url(text), {.application_name = "rowlock"});
  const auto by = database->connect(within(10s));
  auto on = database->connect(within(10s));
  const auto pid = number(*on, "SELECT pg_backend_pid()");
  EXPECT_THROW(act(*on, "SELECT pg_sleep(60)", within(50ms)), error);
  on.reset();
  EXPECT_TRUE(is_asleep(*by, pid));
  database->end_lost_sessions(*by, within(10s));
  EXPECT_TRUE(eventually([&] { return !is_running(*by, pid); }));
  EXPECT_NO_THROW(database->end_lost_sessions(*by, within(10s)));
}

TEST_F(postgresql_session_test, a_backend_answers_to_both_schemes) {
  const auto schemes = rowlock_backend_postgresql()->schemes;
  EXPECT_EQ(std::vector<std::string_view>(schemes.begin(), schemes.end()),
            (std::vector<std::string_view>{"postgresql", "postgres"}));
}

}  // namespace
}  // namespace rowlock::test
