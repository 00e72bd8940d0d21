#include "driver/postgresql/session.hpp"

#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/boot_clock.hpp"
#include "driver/postgresql/errors.hpp"
#include "driver/postgresql/values.hpp"
#include "support/background.hpp"
#include "support/errors.hpp"
#include "support/tcp_proxy.hpp"
#include "testkit/eventually.hpp"

// The PostgreSQL session, with steps of the test's own, against the server of ROWLOCK_TEST_POSTGRESQL_URL.

extern "C" const rowlock::driver::backend* rowlock_backend_postgresql();

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using driver::postgresql_session;
using test::error_of;
using test::mentions;

driver::limits within(duration d) { return {.deadline = base::now() + d}; }

std::string server_url() {
  const char* url = std::getenv("ROWLOCK_TEST_POSTGRESQL_URL");
  if (url == nullptr) throw std::runtime_error{"ROWLOCK_TEST_POSTGRESQL_URL is not set; ./test.sh starts a server"};
  return url;
}

/// The server's URL, in pieces.
struct url_parts {
  std::string user, password, host, port, database;
  std::string text() const {
    return "postgresql://" + user + ":" + password + "@" + host + ":" + port + "/" + database;
  }
};

url_parts server() {
  url_parts out;
  auto* options = PQconninfoParse(server_url().c_str(), nullptr);
  for (auto* o = options; o != nullptr && o->keyword != nullptr; ++o) {
    const std::string key = o->keyword;
    const std::string value = o->val != nullptr ? o->val : "";
    if (key == "user") out.user = value;
    if (key == "password") out.password = value;
    if (key == "host") out.host = value;
    if (key == "port") out.port = value.empty() ? "5432" : value;
    if (key == "dbname") out.database = value;
  }
  PQconninfoFree(options);
  return out;
}

/// A TCP socket on the loopback interface, closed at the end.
class tcp_socket {
 public:
  tcp_socket() : number_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {}
  explicit tcp_socket(int number) : number_{number} {}
  tcp_socket(tcp_socket&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
  tcp_socket& operator=(tcp_socket&&) = delete;
  ~tcp_socket() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

  static sockaddr_in loopback(int port) {
    sockaddr_in out{};
    out.sin_family = AF_INET;
    out.sin_port = htons(static_cast<std::uint16_t>(port));
    out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return out;
  }
  void listen_with(int backlog) const {
    const auto at = loopback(0);
    if (bind(number_, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 || listen(number_, backlog) != 0)
      throw std::runtime_error{"cannot listen"};
  }
  std::string port() const {
    sockaddr_in at{};
    socklen_t size = sizeof at;
    getsockname(number_, reinterpret_cast<sockaddr*>(&at), &size);
    return std::to_string(ntohs(at.sin_port));
  }
  void connect_to(const std::string& to) const {
    const auto at = loopback(std::stoi(to));
    if (connect(number_, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0)
      throw std::runtime_error{"cannot connect"};
  }

 private:
  int number_;
};

/// Stands between one session and its server, and counts the messages that ask for an answer, those of the password's
/// exchange left out.
class relay {
 public:
  relay() {
    listening_.listen_with(1);
    thread_ = std::jthread{[this](const std::stop_token& stop) { work(stop); }};
  }
  std::string url() const {
    auto out = server();
    out.host = "127.0.0.1";
    out.port = listening_.port();
    return out.text() + "?sslmode=disable&gssencmode=disable";
  }
  int round_trips() const { return round_trips_; }

 private:
  static bool is_readable(int descriptor) {
    pollfd one{.fd = descriptor, .events = POLLIN, .revents = 0};
    return poll(&one, 1, 1) > 0;
  }
  void work(const std::stop_token& stop) {
    while (!is_readable(listening_.number()))
      if (stop.stop_requested()) return;
    const tcp_socket client{accept4(listening_.number(), nullptr, nullptr, SOCK_CLOEXEC)};
    const tcp_socket behind;
    behind.connect_to(server().port);
    while (!stop.stop_requested()) {
      if (is_readable(client.number()) && !carry(client, behind, true)) return;
      if (is_readable(behind.number()) && !carry(behind, client, false)) return;
    }
  }
  bool carry(const tcp_socket& from, const tcp_socket& to, bool counting) {
    std::array<char, 65536> buffer{};
    const auto size = read(from.number(), buffer.data(), buffer.size());
    if (size <= 0) return false;
    if (counting) count({buffer.data(), static_cast<std::size_t>(size)});
    return send(to.number(), buffer.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL) == size;
  }
  // The first message has no type; after it: a type and a length that counts itself.
  void count(std::string_view bytes) {
    pending_.append(bytes);
    for (;;) {
      const std::size_t type = is_started_ ? 1 : 0;
      if (pending_.size() < type + 4) return;
      std::size_t length = type;
      std::uint32_t own = 0;
      for (std::size_t i = 0; i < 4; ++i) own = own << 8U | static_cast<unsigned char>(pending_[type + i]);
      length += own;
      if (pending_.size() < length) return;
      if (is_started_ && (pending_[0] == 'S' || pending_[0] == 'Q')) ++round_trips_;
      is_started_ = true;
      pending_.erase(0, length);
    }
  }

  tcp_socket listening_;
  std::string pending_;
  bool is_started_ = false;
  std::atomic<int> round_trips_{0};
  std::jthread thread_;
};

class postgresql_session_test : public testing::Test {
 protected:
  using session = std::unique_ptr<postgresql_session>;

  session open(const std::string& url, driver::postgresql_options options = {},
               const driver::limits& until = within(10s)) {
    options.lost = [this](const driver::postgresql_backend_id& id) {
      const std::lock_guard lock{mutex_};
      lost_.push_back(id);
    };
    const driver::postgresql_address to{core::cut_url(url), "rowlock test:1"};
    return std::make_unique<postgresql_session>(to, std::move(options), watchdog_, until);
  }
  session open(driver::postgresql_options options = {}) { return open(server_url(), std::move(options)); }

  static std::vector<driver::row> ask(driver::session& on, const std::string& sql, const driver::request& with = {},
                                      const driver::limits& until = within(10s)) {
    const dialect::step step{.look = sql};
    return on.run(step, {&with, 1}, until);
  }
  static std::string word(driver::session& on, const std::string& sql, const driver::request& with = {}) {
    return driver::text(ask(on, sql, with).at(0).at(0));
  }
  static std::int64_t number(driver::session& on, const std::string& sql, const driver::request& with = {}) {
    return driver::integer(ask(on, sql, with).at(0).at(0));
  }
  static std::optional<error> failure(driver::session& on, const std::string& sql) {
    return error_of([&] { return ask(on, sql); });
  }
  static std::vector<driver::row> act(driver::session& on, const std::string& sql, const driver::limits& until) {
    const dialect::step step{.act = sql};
    const driver::request nothing{};
    return on.run(step, {&nothing, 1}, until);
  }
  static void end_backend(driver::session& by, std::int64_t pid) {
    EXPECT_EQ(number(by, "SELECT pg_terminate_backend($1::integer)", {pid}), 1);
  }
  static bool is_asleep(driver::session& by, std::int64_t pid) {
    return number(by, "SELECT count(*) FROM pg_stat_activity WHERE pid = $1::integer AND wait_event = 'PgSleep'",
                  {pid}) == 1;
  }
  static bool is_running(driver::session& by, std::int64_t pid) {
    return number(by, "SELECT count(*) FROM pg_stat_activity WHERE pid = $1::integer", {pid}) == 1;
  }
  std::size_t lost() {
    const std::lock_guard lock{mutex_};
    return lost_.size();
  }

  driver::call_watchdog watchdog_;
  std::mutex mutex_;
  std::vector<driver::postgresql_backend_id> lost_;
};

/// A table of the test's own, dropped at the end.
class with_table : public postgresql_session_test {
 protected:
  void SetUp() override {
    session_ = open();
    session_->script("DROP TABLE IF EXISTS driver_test; CREATE TABLE driver_test (name text PRIMARY KEY, n bigint)");
  }
  void TearDown() override { open()->script("DROP TABLE IF EXISTS driver_test"); }
  std::int64_t rows() { return number(*session_, "SELECT count(*) FROM driver_test"); }
  session session_;
};

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

const std::vector<std::string> hostile{"",
                                       " ",
                                       "\"",
                                       "\\",
                                       "'",
                                       "\\\"",
                                       "{a,b}",
                                       "NULL",
                                       "null",
                                       ",",
                                       "\n",
                                       "a\tb",
                                       "$1",
                                       "%s",
                                       "ünïcode",
                                       "日本",
                                       "🔒",
                                       "\\N",
                                       "--",
                                       "{}",
                                       "\x01",
                                       "\x7f",
                                       "'; DROP TABLE x; --"};

TEST_F(postgresql_session_test, sends_every_text_as_it_is) {
  const auto on = open();
  for (const auto& text : hostile) EXPECT_EQ(word(*on, "SELECT $1::text", {std::string_view{text}}), text);
  EXPECT_EQ(number(*on, "SELECT $1::text IS NULL", {}), 1);
  EXPECT_EQ(number(*on, "SELECT $1::bigint", {INT64_MIN}), INT64_MIN);
}

TEST_F(postgresql_session_test, sends_a_batch_as_arrays_in_order) {
  const auto on = open();
  const dialect::step step{.look = "SELECT 1", .many = "SELECT t, n FROM unnest($1::text[], $2::bigint[]) AS u (t, n)"};
  std::vector<driver::request> batch;
  for (const auto& text : hostile) batch.push_back({std::string_view{text}, static_cast<std::int64_t>(batch.size())});
  batch.push_back({std::monostate{}, std::monostate{}});
  batch.push_back({std::string_view{"last"}, INT64_MIN});
  const auto rows = on->run(step, batch, within(10s));
  ASSERT_EQ(rows.size(), batch.size());
  for (std::size_t i = 0; i < hostile.size(); ++i) {
    EXPECT_EQ(driver::text(rows[i][0]), hostile[i]);
    EXPECT_EQ(driver::integer(rows[i][1]), static_cast<std::int64_t>(i));
  }
  EXPECT_EQ(rows[hostile.size()], (driver::row{{}, {}}));
  EXPECT_EQ(rows.back(), (driver::row{std::string{"last"}, INT64_MIN}));
}

TEST_F(postgresql_session_test, takes_one_request_as_scalars) {
  const auto on = open();
  const dialect::step step{.look = "SELECT 'look'", .act = "SELECT 'act' || $1::text", .many = "SELECT 'many'"};
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
  EXPECT_TRUE(test::throws(errc::database_error, [&] { ask(*on, "SELECT $7::text"); }));
}

// --- round trips and transactions ------------------------------------------------------------------------------------

TEST_F(postgresql_session_test, needs_one_round_trip_to_set_up_and_one_for_each_run) {
  relay between;
  const auto on = open(between.url());
  EXPECT_EQ(between.round_trips(), 1);
  ask(*on, "SELECT $1::text", {std::string_view{"x"}});
  const int prepared = between.round_trips();
  EXPECT_EQ(prepared, 3);
  for (int i = 0; i < 5; ++i) ask(*on, "SELECT $1::text", {std::string_view{"x"}});
  EXPECT_EQ(between.round_trips(), prepared + 5);
}

TEST_F(postgresql_session_test, needs_one_round_trip_behind_a_pooler_too) {
  relay between;
  const auto on = open(between.url(), {.transaction_pooling = true});
  const int before = between.round_trips();
  ask(*on, "SELECT $1::text", {std::string_view{"x"}});
  EXPECT_EQ(between.round_trips(), before + 1);
}

TEST_F(with_table, a_batch_without_a_text_of_its_own_is_all_or_nothing) {
  const dialect::step insert{.act = "INSERT INTO driver_test VALUES ($1::text, 1) RETURNING n"};
  const std::vector<driver::request> twice{{std::string_view{"a"}}, {std::string_view{"b"}}, {std::string_view{"a"}}};
  const auto failed = error_of([&] { return session_->run(insert, twice, within(10s)); });
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->sqlstate(), "23505");
  EXPECT_FALSE(failed->outcome_is_unknown());
  EXPECT_EQ(rows(), 0);
  EXPECT_EQ(session_->run(insert, std::span{twice}.first(2), within(10s)).size(), 2U);
  EXPECT_EQ(rows(), 2);
}

TEST_F(with_table, exclusively_goes_on_after_a_missing_table) {
  session_->exclusively(
      [&] {
        session_->script("INSERT INTO driver_test VALUES ('a', 1); INSERT INTO driver_test VALUES ('b', 1)");
        EXPECT_TRUE(test::throws(errc::schema_missing, [&] { ask(*session_, "SELECT * FROM no_such_table"); }));
        EXPECT_THROW(session_->script("nonsense"), error);
        EXPECT_EQ(rows(), 2);
      },
      within(10s));
  EXPECT_EQ(rows(), 2);
}

TEST_F(with_table, exclusively_undoes_everything_when_its_body_throws) {
  EXPECT_THROW(session_->exclusively(
                   [&] {
                     session_->script("INSERT INTO driver_test VALUES ('a', 1)");
                     throw std::runtime_error{"no"};
                   },
                   within(10s)),
               std::runtime_error);
  EXPECT_EQ(rows(), 0);
}

TEST_F(with_table, exclusively_lets_one_in_at_a_time) {
  const auto other = open();
  session_->exclusively(
      [&] {
        const auto refused = error_of([&] {
          other->exclusively([] { ADD_FAILURE() << "two were in"; }, within(300ms));
          return 0;
        });
        ASSERT_TRUE(refused);
        EXPECT_EQ(refused->code(), errc::call_timed_out);
        EXPECT_FALSE(refused->connection_is_unusable());
      },
      within(10s));
  bool was_in = false;
  other->exclusively([&] { was_in = true; }, within(10s));
  EXPECT_TRUE(was_in);
}

TEST_F(with_table, exclusively_waits_longer_than_statements_may) {
  auto inside = std::make_shared<std::promise<void>>();
  test::background first{[&](const std::stop_token&) {
    session_->exclusively(
        [&] {
          inside->set_value();
          ask(*session_, "SELECT pg_sleep(0.4)");
        },
        within(10s));
    return 0;
  }};
  inside->get_future().wait();
  const auto other = open();
  EXPECT_NO_THROW(other->exclusively([] {}, within(20s)));
  EXPECT_EQ(first.get(), 0);
}

// --- settings --------------------------------------------------------------------------------------------------------

class with_defaults : public postgresql_session_test {
 protected:
  void SetUp() override {
    const auto on = open();
    on->script("DROP DATABASE IF EXISTS driver_defaults WITH (FORCE)");
    on->script("CREATE DATABASE driver_defaults");
    for (const char* setting :
         {"default_transaction_isolation = 'serializable'", "default_transaction_read_only = on",
          "default_transaction_deferrable = on", "timezone = 'Asia/Tokyo'", "synchronous_commit = off",
          "statement_timeout = 77777", "lock_timeout = 77777", "client_min_messages = error",
          "standard_conforming_strings = off", "jit = on", "idle_session_timeout = 77777"})
      on->script("ALTER DATABASE driver_defaults SET " + std::string{setting});
  }
  void TearDown() override { open()->script("DROP DATABASE IF EXISTS driver_defaults WITH (FORCE)"); }
  static std::string url() {
    auto to = server();
    to.database = "driver_defaults";
    return to.text();
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
  on->exclusively([&] { EXPECT_EQ(word(*on, "SHOW transaction_isolation"), "read committed"); }, within(10s));
  EXPECT_EQ(number(*on, "SELECT count(*) FROM pg_prepared_statements"), 0);
}

TEST_F(postgresql_session_test, leaves_an_application_name_in_the_url) {
  EXPECT_EQ(word(*open(server_url() + "?application_name=mine"), "SHOW application_name"), "mine");
}

TEST_F(postgresql_session_test, keeps_its_sockets_across_no_exec) {
  const auto on = open();
  int sockets = 0;
  for (int fd = 3; fd < 256; ++fd) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
    ++sockets;
    EXPECT_TRUE(fcntl(fd, F_GETFD) & FD_CLOEXEC);
  }
  EXPECT_EQ(sockets, 2);  // libpq's and its double
}

// --- limits ----------------------------------------------------------------------------------------------------------

TEST_F(postgresql_session_test, a_call_ends_at_its_deadline) {
  const auto on = open();
  const test::stopwatch watch;
  const auto cut = error_of([&] { return act(*on, "SELECT pg_sleep(60)", within(150ms)); });
  EXPECT_LT(watch.elapsed(), 1s);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->code(), errc::call_timed_out);
  EXPECT_TRUE(cut->is_retryable());
  EXPECT_TRUE(cut->connection_is_unusable());
  EXPECT_TRUE(cut->outcome_is_unknown());
  EXPECT_EQ(lost(), 1U);
  const auto after = failure(*on, "SELECT 1");
  ASSERT_TRUE(after);
  EXPECT_EQ(after->code(), errc::connection_failed);
  EXPECT_FALSE(after->outcome_is_unknown());
}

TEST_F(postgresql_session_test, the_outcome_of_a_look_is_never_unknown) {
  const auto on = open();
  const auto cut = error_of([&] { return ask(*on, "SELECT pg_sleep(60)", {}, within(50ms)); });
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->code(), errc::call_timed_out);
  EXPECT_FALSE(cut->outcome_is_unknown());
}

TEST_F(postgresql_session_test, nothing_is_sent_when_no_time_is_left) {
  const auto on = open();
  const auto late = error_of([&] { return act(*on, "SELECT 1", within(-1ms)); });
  ASSERT_TRUE(late);
  EXPECT_EQ(late->code(), errc::call_timed_out);
  EXPECT_FALSE(late->connection_is_unusable());
  EXPECT_FALSE(late->outcome_is_unknown());
  EXPECT_EQ(number(*on, "SELECT 1::bigint"), 1);
}

TEST_F(postgresql_session_test, a_call_ends_soon_after_stop) {
  const auto by = open();
  const auto on = open();
  std::stop_source source;
  test::background call{[&](const std::stop_token&) {
    return error_of(
        [&] { return act(*on, "SELECT pg_sleep(60)", {.deadline = base::now() + 60s, .stop = source.get_token()}); });
  }};
  ASSERT_TRUE(test::eventually([&] { return is_asleep(*by, on->id().pid); }));
  const test::stopwatch watch;
  source.request_stop();
  const auto stopped = call.get();
  EXPECT_LT(watch.elapsed(), 500ms);
  ASSERT_TRUE(stopped);
  EXPECT_EQ(stopped->code(), errc::cancelled);
  EXPECT_TRUE(stopped->connection_is_unusable());
  EXPECT_TRUE(stopped->outcome_is_unknown());
}

TEST_F(postgresql_session_test, a_healthy_server_answers_in_spite_of_a_stop) {
  const auto on = open();
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(act(*on, "SELECT 1::bigint", {.deadline = base::now() + 10s, .stop = source.get_token()}).size(), 1U);
  EXPECT_EQ(number(*on, "SELECT 1::bigint"), 1);
}

TEST_F(postgresql_session_test, a_call_ends_when_the_network_drops_its_packets) {
  auto to = server();
  test::tcp_proxy between{to.host, static_cast<std::uint16_t>(std::stoi(to.port))};
  to.host = "127.0.0.1";
  to.port = std::to_string(between.port());
  const auto on = open(to.text());
  between.black_hole(true);
  const test::stopwatch watch;
  const auto cut = error_of([&] { return act(*on, "SELECT 1", within(150ms)); });
  EXPECT_LT(watch.elapsed(), 1s);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->code(), errc::call_timed_out);
  EXPECT_TRUE(cut->outcome_is_unknown());
}

TEST_F(postgresql_session_test, a_call_ends_although_the_server_process_is_stopped) {
  const auto by = open();
  const auto on = open();
  const auto pid = static_cast<pid_t>(on->id().pid);
  if (kill(pid, SIGSTOP) != 0) GTEST_SKIP() << "the server's processes are another user's";
  const test::stopwatch watch;
  const auto cut = error_of([&] { return act(*on, "SELECT 1", within(150ms)); });
  EXPECT_LT(watch.elapsed(), 1s);
  kill(pid, SIGCONT);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->code(), errc::call_timed_out);
}

TEST_F(postgresql_session_test, connecting_ends_where_nobody_answers) {
  tcp_socket silent;
  silent.listen_with(8);
  auto to = server();
  to.host = "127.0.0.1";
  to.port = silent.port();
  const test::stopwatch watch;
  const auto late = error_of([&] { return open(to.text(), {}, within(150ms)); });
  EXPECT_LT(watch.elapsed(), 1s);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->code(), errc::connection_failed);
  EXPECT_TRUE(late->is_retryable());
  EXPECT_FALSE(mentions(late, to.password));
}

TEST_F(postgresql_session_test, connecting_ends_where_packets_vanish) {
  tcp_socket full;
  full.listen_with(0);
  std::vector<tcp_socket> fill(4);  // of a full backlog nothing more is answered
  for (const auto& one : fill) {
    fcntl(one.number(), F_SETFL, O_NONBLOCK);
    const auto at = tcp_socket::loopback(std::stoi(full.port()));
    static_cast<void>(connect(one.number(), reinterpret_cast<const sockaddr*>(&at), sizeof at));  // some get no answer
  }
  auto to = server();
  to.host = "127.0.0.1";
  to.port = full.port();
  const test::stopwatch watch;
  const auto late = error_of([&] { return open(to.text(), {}, within(150ms)); });
  EXPECT_LT(watch.elapsed(), 1s);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->code(), errc::connection_failed);
}

TEST_F(postgresql_session_test, connecting_ends_soon_after_stop) {
  tcp_socket silent;
  silent.listen_with(8);
  auto to = server();
  to.host = "127.0.0.1";
  to.port = silent.port();
  std::stop_source source;
  test::background call{[&](const std::stop_token&) {
    return error_of([&] { return open(to.text(), {}, {.deadline = base::now() + 60s, .stop = source.get_token()}); });
  }};
  EXPECT_FALSE(call.is_done_within(test::a_moment));
  const test::stopwatch watch;
  source.request_stop();
  const auto stopped = call.get();
  EXPECT_LT(watch.elapsed(), 500ms);
  ASSERT_TRUE(stopped);
  EXPECT_EQ(stopped->code(), errc::cancelled);
}

TEST_F(postgresql_session_test, each_of_several_hosts_has_its_share_of_the_time) {
  tcp_socket silent;
  silent.listen_with(8);
  auto to = server();
  to.host = "127.0.0.1:" + silent.port() + "," + to.host;
  EXPECT_EQ(number(*open(to.text(), {}, within(2s)), "SELECT 1::bigint"), 1);
}

// --- errors ----------------------------------------------------------------------------------------------------------

TEST_F(postgresql_session_test, tells_why_it_cannot_connect) {
  auto to = server();
  to.password = "not-the-password";
  const auto wrong_password = error_of([&] { return open(to.text()); });
  ASSERT_TRUE(wrong_password);
  EXPECT_EQ(wrong_password->code(), errc::permission_denied);
  EXPECT_EQ(wrong_password->sqlstate(), "28P01");
  EXPECT_FALSE(mentions(wrong_password, to.password));

  to = server();
  to.database = "no_such_database";
  const auto no_database = error_of([&] { return open(to.text()); });
  ASSERT_TRUE(no_database);
  EXPECT_EQ(no_database->code(), errc::connection_failed);
  EXPECT_EQ(no_database->sqlstate(), "3D000");
  EXPECT_TRUE(mentions(no_database, "no_such_database"));

  to = server();
  {
    tcp_socket unused;
    unused.listen_with(1);
    to.port = unused.port();
  }
  const auto no_server = error_of([&] { return open(to.text()); });
  ASSERT_TRUE(no_server);
  EXPECT_EQ(no_server->code(), errc::connection_failed);
  EXPECT_TRUE(no_server->is_retryable());
  EXPECT_TRUE(mentions(no_server, to.port));
}

TEST_F(postgresql_session_test, refuses_urls_without_repeating_them) {
  for (const char* url :
       {"postgresql:locks", "postgresql://u:hunter2@[::1/db", "postgresql://u:hunter2@h/db?nonsense=1",
        "postgresql://u:hunter%zz2@h/db", "postgres:host=h password=hunter2"}) {
    const auto refused = error_of([&] { return open(url); });
    ASSERT_TRUE(refused) << url;
    EXPECT_EQ(refused->code(), errc::invalid_url);
    EXPECT_FALSE(mentions(refused, "hunter")) << refused->what();
  }
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
  const auto found = error_of([&] { return act(*on, sql, within(10s)); });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->sqlstate(), expected.sqlstate);
  EXPECT_EQ(found->code(), expected.code) << found->what();
  EXPECT_EQ(found->is_retryable(), expected.retryable);
  EXPECT_EQ(found->connection_is_unusable(), expected.unusable);
  EXPECT_FALSE(found->outcome_is_unknown());
  EXPECT_TRUE(mentions(found, expected.advice)) << found->what();
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
  const auto late = error_of([&] { return act(*on, "SELECT pg_sleep(60)", within(20s)); });
  ASSERT_TRUE(late);
  EXPECT_EQ(late->code(), errc::call_timed_out);
  EXPECT_EQ(late->sqlstate(), "57014");
  EXPECT_FALSE(late->connection_is_unusable());
}

TEST_F(with_table, waits_for_a_row_only_shortly) {
  session_->script("INSERT INTO driver_test VALUES ('a', 1)");
  const auto other = open();
  session_->exclusively(
      [&] {
        act(*session_, "UPDATE driver_test SET n = 2", within(10s));
        const auto late = error_of([&] { return act(*other, "UPDATE driver_test SET n = 3", within(10s)); });
        ASSERT_TRUE(late);
        EXPECT_EQ(late->sqlstate(), "55P03");
        EXPECT_EQ(late->code(), errc::call_timed_out);
        EXPECT_FALSE(late->connection_is_unusable());
      },
      within(10s));
}

TEST_F(postgresql_session_test, a_session_that_is_ended_while_it_writes_leaves_the_outcome_unknown) {
  const auto by = open();
  const auto on = open();
  test::background call{
      [&](const std::stop_token&) { return error_of([&] { return act(*on, "SELECT pg_sleep(60)", within(60s)); }); }};
  ASSERT_TRUE(test::eventually([&] { return is_asleep(*by, on->id().pid); }));
  end_backend(*by, on->id().pid);
  const auto ended = call.get();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->code(), errc::connection_failed);
  EXPECT_EQ(ended->sqlstate(), "57P01");
  EXPECT_TRUE(ended->is_retryable());
  EXPECT_TRUE(ended->connection_is_unusable());
  EXPECT_TRUE(ended->outcome_is_unknown());
  EXPECT_EQ(lost(), 1U);
}

TEST_F(postgresql_session_test, a_session_that_was_ended_while_idle_does_not_come_back_by_itself) {
  const auto by = open();
  const auto on = open();
  end_backend(*by, on->id().pid);
  // It is off the list before its socket is closed.
  ASSERT_TRUE(test::eventually([&] { return kill(static_cast<pid_t>(on->id().pid), 0) != 0 && errno == ESRCH; }));
  for (int i = 0; i < 2; ++i) {
    const auto gone = error_of([&] { return act(*on, "SELECT 1", within(10s)); });
    ASSERT_TRUE(gone);
    EXPECT_EQ(gone->code(), errc::connection_failed);
    EXPECT_TRUE(gone->is_retryable());
    EXPECT_TRUE(gone->connection_is_unusable());
    EXPECT_FALSE(gone->outcome_is_unknown());
  }
}

TEST_F(with_table, a_session_lost_inside_a_transaction_has_done_nothing) {
  const auto by = open();
  const auto lost = error_of([&] {
    session_->exclusively(
        [&] {
          session_->script("INSERT INTO driver_test VALUES ('a', 1)");
          end_backend(*by, session_->id().pid);
          act(*session_, "INSERT INTO driver_test VALUES ('b', 1)", within(10s));
        },
        within(10s));
    return 0;
  });
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->code(), errc::connection_failed);
  EXPECT_TRUE(lost->connection_is_unusable());
  EXPECT_FALSE(lost->outcome_is_unknown());
  session_ = open();
  EXPECT_EQ(rows(), 0);
}

TEST_F(postgresql_session_test, blames_no_pooler_for_prepared_statements_that_vanish_without_one) {
  const auto on = open();
  ask(*on, "SELECT 1");
  on->script("DEALLOCATE ALL");
  const auto gone = failure(*on, "SELECT 1");
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->sqlstate(), "26000");
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
  EXPECT_TRUE(test::throws(errc::unsupported, [&] { on->change_count(within(10s)); }));
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
    EXPECT_TRUE(test::eventually([&] { return word(*open(), "SHOW synchronous_standby_names") == names; }));
  }
};

TEST_F(with_missing_standby, a_commit_that_nobody_confirmed_is_of_unknown_outcome) {
  const auto by = open();
  session_ = open();
  test::background call{[&](const std::stop_token&) {
    return error_of([&] { return act(*session_, "UPDATE driver_test SET n = n + 1", within(60s)); });
  }};
  const auto cancel =
      "SELECT count(*) FILTER (WHERE pg_cancel_backend(pid)) FROM pg_stat_activity "
      "WHERE pid = $1::integer AND wait_event = 'SyncRep'";
  EXPECT_TRUE(test::eventually([&] { return number(*by, cancel, {session_->id().pid}) == 1; }));
  const auto unknown = call.get();
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->code(), errc::outcome_unknown);
  EXPECT_TRUE(unknown->outcome_is_unknown());
  EXPECT_FALSE(unknown->connection_is_unusable());
}

// --- PgBouncer -------------------------------------------------------------------------------------------------------

class behind_pgbouncer : public postgresql_session_test {
 protected:
  void SetUp() override {
    const char* url = std::getenv("ROWLOCK_TEST_PGBOUNCER_URL");
    if (url == nullptr) GTEST_SKIP() << "ROWLOCK_TEST_PGBOUNCER_URL is not set, as with a server that was given";
    url_ = url;
  }
  std::string url_;
};

TEST_F(behind_pgbouncer, runs_steps_batches_and_scripts) {
  const auto on = open(url_, {.transaction_pooling = true});
  EXPECT_EQ(number(*on, "SELECT $1::bigint", {std::int64_t{7}}), 7);
  on->exclusively(
      [&] {
        on->script("CREATE TEMPORARY TABLE pooled (n bigint) ON COMMIT DROP; INSERT INTO pooled VALUES (1)");
        EXPECT_TRUE(test::throws(errc::schema_missing, [&] { ask(*on, "SELECT * FROM no_such_table"); }));
        EXPECT_EQ(number(*on, "SELECT count(*) FROM pooled"), 1);
      },
      within(10s));
  EXPECT_EQ(number(*on, "SELECT count(*) FROM pg_prepared_statements"), 0);
}

TEST_F(behind_pgbouncer, names_the_pooling_option_when_prepared_statements_vanish) {
  const auto on = open(url_);
  ask(*on, "SELECT 1");
  on->script("DEALLOCATE ALL");
  const auto gone = failure(*on, "SELECT 1");
  if (!gone) GTEST_SKIP() << "this PgBouncer keeps prepared statements, as it can since 1.21";
  EXPECT_TRUE(gone->connection_is_unusable()) << gone->what();
  if (gone->sqlstate() == "08P01") GTEST_SKIP() << "this PgBouncer keeps them, but not across DEALLOCATE ALL";
  EXPECT_EQ(gone->sqlstate(), "26000");
  EXPECT_TRUE(mentions(gone, "client_options::transaction_pooling")) << gone->what();
}

TEST_F(behind_pgbouncer, with_the_option_does_not_name_it) {
  const auto on = open(url_, {.transaction_pooling = true});
  const auto unknown = failure(*on, "EXECUTE never_prepared");
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->sqlstate(), "26000");
  EXPECT_FALSE(mentions(unknown, "transaction_pooling")) << unknown->what();
}

TEST_F(behind_pgbouncer, calls_end_at_their_deadline) {
  const auto on = open(url_, {.transaction_pooling = true});
  const auto cut = error_of([&] { return act(*on, "SELECT pg_sleep(60)", within(100ms)); });
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->code(), errc::call_timed_out);
  EXPECT_TRUE(cut->outcome_is_unknown());
  EXPECT_EQ(lost(), 0U);  // its process may be serving somebody else by now
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
  EXPECT_TRUE(test::eventually([&] { return !is_running(*by, pid); }));
  EXPECT_NO_THROW(database->end_lost_sessions(*by, within(10s)));
}

TEST_F(postgresql_session_test, a_backend_answers_to_both_schemes) {
  const auto schemes = rowlock_backend_postgresql()->schemes;
  EXPECT_EQ(std::vector<std::string_view>(schemes.begin(), schemes.end()),
            (std::vector<std::string_view>{"postgresql", "postgres"}));
}

}  // namespace
}  // namespace rowlock
