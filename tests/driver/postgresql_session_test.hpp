#pragma once

#include <rowlock/error.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "driver/postgresql/session.hpp"
#include "driver/postgresql/values.hpp"
#include "driver/server_session_test.hpp"

// The PostgreSQL session, with steps of the test's own, against the server of ROWLOCK_TEST_POSTGRESQL_URL.

namespace rowlock::test {

inline server_address server() { return address_in("ROWLOCK_TEST_POSTGRESQL_URL"); }
inline std::string server_url() { return server().url(); }

/// Another way to it.
inline server_address server_at(std::uint16_t port) {
  auto out = server();
  out.host = "127.0.0.1";
  out.port = port;
  return out;
}

class postgresql_session_test : public server_session_test<driver::postgresql_session, driver::postgresql_backend_id> {
 protected:
  session open(const std::string& url, driver::postgresql_options options = {},
               const driver::limits& until = within(10s)) {
    options.lost = note_lost();
    const driver::postgresql_address to{core::cut_url(url), "rowlock test:1"};
    return std::make_unique<driver::postgresql_session>(to, std::move(options), watchdog_, until);
  }
  session open(driver::postgresql_options options = {}) { return open(server_url(), std::move(options)); }

  static std::optional<error> failure(driver::session& on, const std::string& sql) {
    return error_of([&] { return ask(on, sql); });
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
