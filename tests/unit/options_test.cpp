#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "support/errors.hpp"
#include "support/recorder.hpp"
#include "testkit/temp_folder.hpp"

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

/// A client in memory whose tables are there.
client in_memory() {
  auto locks = client::connect("sqlite::memory:", {.observer = silent()});
  locks.migrate();
  return locks;
}

TEST(lock_options_test, have_the_promised_defaults) {
  const lock_options options;
  EXPECT_EQ(options.strategy, strategy::unique_index);
  EXPECT_EQ(options.lease, 30s);
  EXPECT_TRUE(options.renew);
  EXPECT_EQ(options.at_least, 0s);
  EXPECT_FALSE(options.hold_limit.has_value());
  EXPECT_FALSE(options.as.has_value());
  EXPECT_TRUE(options.note.empty());
}

constexpr duration month = 24h * 30;

struct lock_options_limits : testing::Test {
  void expect_taken(const lock_options& good) {
    EXPECT_NO_THROW(static_cast<void>(locks.try_acquire("taken " + std::to_string(++taken), good)));
  }
  /// By a sentence with these words.
  void expect_refused(const lock_options& bad, std::initializer_list<const char*> words) {
    const auto e = error_of([&] { return locks.try_acquire("x", bad); });
    EXPECT_TRUE(is_error(e, errc::invalid_option, {.says = {words.begin(), words.end()}})) << bad.lease.count();
  }

  client locks = in_memory();
  int taken = 0;
};

TEST_F(lock_options_limits, of_a_lease_are_100_ms_and_30_days) {
  for (const duration good : {duration{100ms}, duration{100'001us}, duration{1h}, month}) expect_taken({.lease = good});
  for (const duration bad : {duration{0}, duration{-1}, duration{-1h}, duration{99ms}, duration{99'999us}, month + 1us,
                             duration{24h * 365 * 10}, duration::max(), duration::min()})
    expect_refused({.lease = bad}, {"lease", "100 ms", "30 days"});
  EXPECT_TRUE(throws(errc::invalid_option, [&] { mutex m(locks, "x", {.lease = 1ms}); }));
}

TEST_F(lock_options_limits, of_at_least_are_0_and_30_days_and_the_hold_limit) {
  for (const duration good : {duration{0}, duration{1us}, duration{1h}, month}) expect_taken({.at_least = good});
  for (const duration bad : {duration{-1}, duration{-1h}, month + 1us, duration::max(), duration::min()})
    expect_refused({.at_least = bad}, {"at_least", "30 days"});
  expect_taken({.at_least = 1s, .hold_limit = 1s});
  expect_refused({.at_least = 1001ms, .hold_limit = 1s}, {"at_least", "hold_limit"});
}

TEST_F(lock_options_limits, of_a_hold_are_100_ms_and_30_days) {
  for (const duration good : {duration{100ms}, duration{1h}, month}) expect_taken({.hold_limit = good});
  for (const duration bad :
       {duration{0}, duration{-1}, duration{99'999us}, month + 1us, duration::max(), duration::min()})
    expect_refused({.hold_limit = bad}, {"hold_limit", "100 ms", "30 days"});
}

TEST_F(lock_options_limits, of_a_note_are_1000_bytes_of_utf8) {
  for (const auto& good : {std::string(1000, 'n'), "caf\xc3\xa9\n"s}) expect_taken({.note = good});
  for (const auto& bad : {std::string(1001, 'n'), "a\0b"s, "\xff"s, "\xc0\x80"s, "\xed\xa0\x80"s, "\xe2\x82"s})
    expect_refused({.note = bad}, {"note"});
}

// It has no lease, so whoever asks for one has misunderstood something.
TEST_F(lock_options_limits, of_a_lease_are_not_for_for_update) {
  for (const auto& bad : {lock_options{.strategy = strategy::for_update, .lease = 29s},
                          lock_options{.strategy = strategy::for_update, .renew = false},
                          lock_options{.strategy = strategy::for_update, .at_least = 1s},
                          lock_options{.strategy = strategy::for_update, .hold_limit = 1s}})
    expect_refused(bad, {"for_update"});
}

TEST(client_options_test, have_the_promised_defaults) {
  const client_options options;
  EXPECT_EQ(options.application, "rowlock");
  EXPECT_EQ(options.connections, 8U);
  EXPECT_TRUE(options.handover);
  EXPECT_EQ(options.handover_limit, 100ms);
  EXPECT_EQ(options.held_transactions, 4U);
  EXPECT_EQ(options.transaction_limit, 10s);
  EXPECT_EQ(options.connect_timeout, 5s);
  EXPECT_EQ(options.call_timeout, 5s);
  EXPECT_EQ(options.table_prefix, "rowlock_");
  EXPECT_FALSE(options.observer);
}

/// Whether these options are refused with a sentence that names the option, before anything is made.
bool is_refused(std::string_view option, client_options options) {
  const temp_folder folder;
  const auto file = folder / "locks.db";
  const auto e = error_of([&] { return client::connect("sqlite:" + file.string(), std::move(options)); });
  EXPECT_FALSE(std::filesystem::exists(file)) << "nothing may have happened";
  return e && e->code() == errc::invalid_option && mentions(e, std::string{option});
}

TEST(client_options_test, are_refused_by_their_names) {
  for (const auto& bad : {""s, std::string(61, 'a'), "a:b"s, ":"s, "caf\xc3\xa9"s, "a\nb"s, "a\0b"s, "\x7f"s, "\t"s})
    EXPECT_TRUE(is_refused("application", {.application = bad})) << bad;
  EXPECT_TRUE(is_refused("connections", {.connections = 0}));
  EXPECT_TRUE(is_refused("held_transactions", {.held_transactions = 0}));
  for (const duration bad : {duration{0}, duration{-1}, duration{999us}, duration{1h} + 1us, duration::max()}) {
    EXPECT_TRUE(is_refused("transaction_limit", {.transaction_limit = bad})) << bad.count();
    EXPECT_TRUE(is_refused("handover_limit", {.handover_limit = bad})) << bad.count();
    EXPECT_TRUE(is_refused("connect_timeout", {.connect_timeout = bad})) << bad.count();
    EXPECT_TRUE(is_refused("call_timeout", {.call_timeout = bad})) << bad.count();
  }
  EXPECT_TRUE(is_refused("transaction_limit", {.transaction_limit = 999ms}));
  for (const auto& bad : {""s, "Rowlock_"s, "9a"s, "a-b"s, "a b"s, "a.b"s, "a\"b"s, "x'; DROP TABLE t; --"s,
                          "\xc3\xa9"s, "a\0"s, "a\n"s, std::string(33, 'a'), "a$"s, "rowlock_ "s, " rowlock_"s})
    EXPECT_TRUE(is_refused("table_prefix", {.table_prefix = bad})) << bad;
}

TEST(client_options_test, take_everything_up_to_the_edges) {
  for (const auto& prefix : {"_"s, "a"s, "a9_"s, std::string(32, 'z')})
    EXPECT_NO_THROW(static_cast<void>(client::connect("sqlite::memory:", {.table_prefix = prefix}))) << prefix;
  for (const auto& application : {"a"s, " "s, "~"s, std::string(60, 'a'), "my app/1.0 (test)"s})
    EXPECT_NO_THROW(static_cast<void>(client::connect("sqlite::memory:", {.application = application}))) << application;
  EXPECT_NO_THROW(static_cast<void>(
      client::connect("sqlite::memory:", {.connections = 1, .connect_timeout = 1h, .call_timeout = 1h})));
}

}  // namespace
}  // namespace rowlock::test
