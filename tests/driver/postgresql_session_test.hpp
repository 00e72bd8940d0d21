#pragma once

#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/boot_clock.hpp"
#include "driver/postgresql/session.hpp"
#include "driver/postgresql/values.hpp"
#include "support/errors.hpp"
#include "testkit/eventually.hpp"
#include "testkit/url.hpp"

// The PostgreSQL session, with steps of the test's own, against the server of ROWLOCK_TEST_POSTGRESQL_URL.

namespace rowlock::test {

using namespace std::chrono_literals;
using driver::postgresql_session;

inline driver::limits within(duration d) { return {.deadline = base::now() + d}; }

inline server_address server() { return address_in("ROWLOCK_TEST_POSTGRESQL_URL"); }
inline std::string server_url() { return server().url(); }

/// Another way to it.
inline server_address server_at(std::uint16_t port) {
  auto out = server();
  out.host = "127.0.0.1";
  out.port = port;
  return out;
}

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
  /// How a call ended, which is to have ended so.
  static error expect_end(const std::optional<error>& e, errc code, bool is_unusable, bool is_unknown) {
    const auto& found = e.value();
    EXPECT_EQ(found.code(), code) << found.what();
    EXPECT_EQ(found.connection_is_unusable(), is_unusable) << found.what();
    EXPECT_EQ(found.outcome_is_unknown(), is_unknown) << found.what();
    return found;
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
