#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <filesystem>
#include <functional>
#include <string>

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

TEST(lock_options_test, take_leases_from_100_ms_to_30_days) {
  auto locks = in_memory();
  for (const duration good : {duration{100ms}, duration{100'001us}, duration{1h}, duration{24h * 30}})
    EXPECT_NO_THROW(static_cast<void>(locks.try_acquire("x", {.lease = good}))) << good.count();
  for (const duration bad : {duration{0}, duration{-1}, duration{-1h}, duration{99ms}, duration{99'999us},
                             duration{24h * 30} + 1us, duration{24h * 365 * 10}, duration::max(), duration::min()}) {
    const auto e = error_of([&] { return locks.try_acquire("x", {.lease = bad}); });
    ASSERT_TRUE(e.has_value()) << bad.count();
    EXPECT_EQ(e->code(), errc::invalid_option);
    EXPECT_TRUE(mentions(e, "lease") && mentions(e, "100 ms") && mentions(e, "30 days")) << e->what();
  }
}

TEST(lock_options_test, stay_for_0_to_30_days) {
  auto locks = in_memory();
  for (const duration good : {duration{0}, duration{1us}, duration{1h}, duration{24h * 30}}) {
    const lock_name name{"stays " + std::to_string(good.count())};
    EXPECT_NO_THROW(static_cast<void>(locks.try_acquire(name, {.at_least = good}))) << good.count();
  }
  for (const duration bad : {duration{-1}, duration{-1h}, duration{24h * 30} + 1us, duration::max(), duration::min()}) {
    const auto e = error_of([&] { return locks.try_acquire("x", {.at_least = bad}); });
    ASSERT_TRUE(e.has_value()) << bad.count();
    EXPECT_EQ(e->code(), errc::invalid_option);
    EXPECT_TRUE(mentions(e, "at_least") && mentions(e, "30 days")) << e->what();
  }
}

TEST(lock_options_test, limit_a_hold_to_100_ms_to_30_days) {
  auto locks = in_memory();
  for (const duration good : {duration{100ms}, duration{1h}, duration{24h * 30}})
    EXPECT_NO_THROW(static_cast<void>(locks.try_acquire("x", {.hold_limit = good}))) << good.count();
  for (const duration bad :
       {duration{0}, duration{-1}, duration{99'999us}, duration{24h * 30} + 1us, duration::max(), duration::min()}) {
    const auto e = error_of([&] { return locks.try_acquire("x", {.hold_limit = bad}); });
    ASSERT_TRUE(e.has_value()) << bad.count();
    EXPECT_EQ(e->code(), errc::invalid_option);
    EXPECT_TRUE(mentions(e, "hold_limit") && mentions(e, "100 ms") && mentions(e, "30 days")) << e->what();
  }
}

TEST(lock_options_test, stay_no_longer_than_a_hold_may_last) {
  auto locks = in_memory();
  EXPECT_NO_THROW(static_cast<void>(locks.try_acquire("equal", {.at_least = 1s, .hold_limit = 1s})));
  const auto e = error_of([&] { return locks.try_acquire("x", {.at_least = 1001ms, .hold_limit = 1s}); });
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::invalid_option);
  EXPECT_TRUE(mentions(e, "at_least") && mentions(e, "hold_limit")) << e->what();
}

TEST(lock_options_test, take_notes_of_up_to_1000_bytes_of_utf8) {
  auto locks = in_memory();
  EXPECT_NO_THROW(static_cast<void>(locks.try_acquire("x", {.note = std::string(1000, 'n')})));
  EXPECT_NO_THROW(static_cast<void>(locks.try_acquire("x", {.note = "caf\xc3\xa9\n"})));
  for (const auto& bad : {std::string(1001, 'n'), "a\0b"s, "\xff"s, "\xc0\x80"s, "\xed\xa0\x80"s, "\xe2\x82"s}) {
    const auto e = error_of([&] { return locks.try_acquire("x", {.note = bad}); });
    ASSERT_TRUE(e.has_value());
    EXPECT_EQ(e->code(), errc::invalid_option);
    EXPECT_TRUE(mentions(e, "note")) << e->what();
  }
}

TEST(lock_options_test, are_refused_alike_by_every_call) {
  auto locks = in_memory();
  const lock_options bad{.lease = 1ms};
  EXPECT_TRUE(throws(errc::invalid_option, [&] { static_cast<void>(locks.acquire("x", bad)); }));
  EXPECT_TRUE(throws(errc::invalid_option, [&] { static_cast<void>(locks.try_acquire("x", bad)); }));
  EXPECT_TRUE(throws(errc::invalid_option, [&] { static_cast<void>(locks.try_acquire_for("x", 1s, bad)); }));
  EXPECT_TRUE(throws(errc::invalid_option, [&] { mutex m(locks, "x", bad); }));
}

// It has none, so whoever asks for one has misunderstood something.
TEST(lock_options_test, of_for_update_say_nothing_of_a_lease) {
  auto locks = in_memory();
  for (const auto& bad : {lock_options{.strategy = strategy::for_update, .lease = 29s},
                          lock_options{.strategy = strategy::for_update, .renew = false},
                          lock_options{.strategy = strategy::for_update, .at_least = 1s},
                          lock_options{.strategy = strategy::for_update, .hold_limit = 1s}}) {
    const auto e = error_of([&] { static_cast<void>(locks.acquire("x", bad)); });
    ASSERT_TRUE(e.has_value());
    EXPECT_EQ(e->code(), errc::invalid_option);
    EXPECT_NE(std::string{e->what()}.find("for_update"), std::string::npos) << e->what();
  }
}

TEST(strategy_test, has_a_name) {
  EXPECT_EQ(to_string(strategy::unique_index), "unique_index");
  EXPECT_EQ(to_string(strategy::for_update), "for_update");
  EXPECT_EQ(to_string(strategy::version_cas), "version_cas");
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

class refused_client_options : public testing::Test {
 protected:
  /// The sentence with which these options are refused, before anything is made.
  std::string sentence(client_options options) {
    const temp_folder folder;
    const auto file = folder / "locks.db";
    const auto e = error_of([&] { return client::connect("sqlite:" + file.string(), std::move(options)); });
    EXPECT_FALSE(std::filesystem::exists(file)) << "nothing may have happened";
    if (!e) return "it was accepted";
    EXPECT_EQ(e->code(), errc::invalid_option) << e->what();
    return e->what();
  }
  bool refused(std::string_view option, client_options options) {
    const auto said = sentence(std::move(options));
    return said.find(option) != std::string::npos;
  }
};

TEST_F(refused_client_options, application) {
  for (const auto& bad : {""s, std::string(61, 'a'), "a:b"s, ":"s, "caf\xc3\xa9"s, "a\nb"s, "a\0b"s, "\x7f"s, "\t"s})
    EXPECT_TRUE(refused("application", {.application = bad})) << bad;
}

TEST_F(refused_client_options, connections) { EXPECT_TRUE(refused("connections", {.connections = 0})); }

TEST_F(refused_client_options, held_transactions) {
  EXPECT_TRUE(refused("held_transactions", {.held_transactions = 0}));
}

TEST_F(refused_client_options, transaction_limit) {
  for (const duration bad : {duration{0}, duration{-1}, duration{999ms}, duration{1h} + 1us, duration::max()})
    EXPECT_TRUE(refused("transaction_limit", {.transaction_limit = bad})) << bad.count();
}

TEST_F(refused_client_options, handover_limit) {
  for (const duration bad : {duration{0}, duration{-1}, duration{999us}, duration{1h} + 1us, duration::max()})
    EXPECT_TRUE(refused("handover_limit", {.handover_limit = bad})) << bad.count();
}

TEST_F(refused_client_options, connect_timeout) {
  for (const duration bad : {duration{0}, duration{-1}, duration{999us}, duration{1h} + 1us, duration::max()})
    EXPECT_TRUE(refused("connect_timeout", {.connect_timeout = bad})) << bad.count();
}

TEST_F(refused_client_options, call_timeout) {
  for (const duration bad : {duration{0}, duration{-1}, duration{999us}, duration{1h} + 1us, duration::max()})
    EXPECT_TRUE(refused("call_timeout", {.call_timeout = bad})) << bad.count();
}

TEST_F(refused_client_options, table_prefix) {
  for (const auto& bad : {""s, "Rowlock_"s, "9a"s, "a-b"s, "a b"s, "a.b"s, "a\"b"s, "x'; DROP TABLE t; --"s,
                          "\xc3\xa9"s, "a\0"s, "a\n"s, std::string(33, 'a'), "a$"s, "rowlock_ "s, " rowlock_"s})
    EXPECT_TRUE(refused("table_prefix", {.table_prefix = bad})) << bad;
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
