#pragma once

#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/boot_clock.hpp"
#include "driver/net/call_watchdog.hpp"
#include "driver/session.hpp"
#include "support/errors.hpp"
#include "testkit/eventually.hpp"
#include "testkit/url.hpp"

// The session of a server, with steps of the test's own.

namespace rowlock::test {

using namespace std::chrono_literals;

inline driver::limits within(duration d) { return {.deadline = base::now() + d}; }

/// Texts that mean something in a statement, in an array or in JSON.
inline const auto hostile = std::to_array<std::string>(
    {"",     " ",    "\"",  "\\",      "'",  "\\\"", "[]", "{}",   "{a,b}", "{\"a\"",
     "NULL", "null", ",",   "\n",      "\r", "a\tb", "$1", "?1",   "%s",    "/*",
     "*/",   "--",   "\\N", "\\u0041", "ß",  "日本", "🔒",  "\x01", "\x7f",  "'; DROP TABLE x; --"});

/// `Lost` is what a session tells of itself when it is lost.
template <class Session, class Lost>
class server_session_test : public testing::Test {
 protected:
  using session = std::unique_ptr<Session>;

  std::function<void(const Lost&)> note_lost() {
    return [this](const Lost& one) {
      const std::lock_guard lock{mutex_};
      lost_.push_back(one);
    };
  }
  std::vector<Lost> lost() {
    const std::lock_guard lock{mutex_};
    return lost_;
  }

  static std::vector<driver::row> ask(driver::session& on, const std::string& sql, const driver::request& with = {},
                                      const driver::limits& until = within(10s)) {
    return on.run({.read = sql}, {&with, 1}, until);
  }
  static std::string word(driver::session& on, const std::string& sql, const driver::request& with = {}) {
    return driver::text(ask(on, sql, with).at(0).at(0));
  }
  static std::int64_t number(driver::session& on, const std::string& sql, const driver::request& with = {}) {
    return driver::integer(ask(on, sql, with).at(0).at(0));
  }
  static std::vector<driver::row> act(driver::session& on, const std::string& sql, const driver::limits& until) {
    const driver::request nothing{};
    return on.run({.write = sql}, {&nothing, 1}, until);
  }
  static std::optional<error> failure_to_act(driver::session& on, const std::string& sql, const driver::limits& until) {
    return error_of([&] { return act(on, sql, until); });
  }
  static void exclusively(driver::session& on, const std::function<void()>& body) { on.exclusively(body, within(10s)); }
  /// How a call ended, which is to have ended so.
  static error expect_end(const std::optional<error>& e, errc code, bool is_unusable, bool is_unknown) {
    EXPECT_TRUE(is_error(e, code, {.outcome_is_unknown = is_unknown, .connection_is_unusable = is_unusable}));
    return e.value();
  }

  /// `batch` selects the texts and the numbers of a batch in its order.
  static void expect_batch_as_it_is(driver::session& on, const std::string& batch) {
    std::vector<driver::request> sent;
    for (const auto& text : hostile) sent.push_back({std::string_view{text}, static_cast<std::int64_t>(sent.size())});
    sent.push_back({std::monostate{}, std::monostate{}});
    sent.push_back({std::string_view{"last"}, INT64_MIN});
    const auto rows = on.run({.read = "SELECT 1", .batch = batch}, sent, within(10s));
    ASSERT_EQ(rows.size(), sent.size());
    for (std::size_t i = 0; i < hostile.size(); ++i)
      EXPECT_EQ(rows[i], (driver::row{hostile[i], static_cast<std::int64_t>(i)}));
    EXPECT_EQ(rows[hostile.size()], (driver::row{{}, {}}));
    EXPECT_EQ(rows.back(), (driver::row{std::string{"last"}, INT64_MIN}));
  }
  static void expect_nothing_sent_without_time(driver::session& on) {
    for (const duration left : {duration{0}, duration{-1ms}})
      expect_end(failure_to_act(on, "SELECT 1", within(left)), errc::call_timed_out, false, false);
    EXPECT_TRUE(on.looks_alive());
    EXPECT_EQ(number(on, "SELECT 1"), 1);
  }
  /// The sockets of this process that are connected; none of them is left open across exec.
  static int connected_sockets() {
    int out = 0;
    for (int fd = 3; fd < 256; ++fd) {
      sockaddr_storage peer{};
      socklen_t size = sizeof peer;
      if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
      ++out;
      EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    }
    return out;
  }

  driver::call_watchdog watchdog_;

 private:
  std::mutex mutex_;
  std::vector<Lost> lost_;
};

}  // namespace rowlock::test
