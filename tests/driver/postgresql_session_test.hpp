#pragma once

#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <arpa/inet.h>
#include <libpq-fe.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/boot_clock.hpp"
#include "driver/postgresql/session.hpp"
#include "driver/postgresql/values.hpp"
#include "support/errors.hpp"
#include "testkit/eventually.hpp"

// The PostgreSQL session, with steps of the test's own, against the server of ROWLOCK_TEST_POSTGRESQL_URL.

namespace rowlock::test {

using namespace std::chrono_literals;
using driver::postgresql_session;

inline driver::limits within(duration d) { return {.deadline = base::now() + d}; }

inline std::string server_url() {
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

inline url_parts server() {
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
    const sheets::step step{.read = sql};
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
    const sheets::step step{.write = sql};
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

}  // namespace rowlock::test
