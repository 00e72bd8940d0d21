#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "postgresql/private_server.hpp"
#include "support/background.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/pq_connection.hpp"
#include "support/recorder.hpp"

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

constexpr auto short_call = 500ms;
constexpr auto soon = 15s;
constexpr auto long_lease = 60s;

/// A server that goes and comes back.
class restarted_server : public testing::Test {
 protected:
  client connect(client_options options = {}) {
    options.call_timeout = short_call;
    if (!options.observer) options.observer = silent();
    auto locks = client::connect(server_.url(), std::move(options));
    locks.migrate();
    return locks;
  }
  void restart() {
    server_.stop();
    server_.start();
  }
  /// NULL is nullopt, and so is a row that is not there.
  std::optional<std::int64_t> number(const std::string& column, const std::string& name) {
    const auto found =
        pq_connection{server_.url()}.run("SELECT " + column + " FROM rowlock_lock WHERE name = $1", {name});
    return found.rows() == 0 ? std::nullopt : found.number(0, 0);
  }
  bool is_vacant(const std::string& name) { return number("count(owner) OVER ()", name).value_or(0) == 0; }
  bool is_held_by(const std::string& name, const held_lock& held) {
    return !is_vacant(name) && number("version", name) == held.token().value();
  }
  bool is_renewed(const std::string& name) {
    const std::string end = "(extract(epoch FROM expires_at) * 1000000)::bigint";
    const auto before = number(end, name);
    return eventually([&] { return number(end, name) > before; });
  }

  private_server server_;
};

TEST_F(restarted_server, keeps_leases_that_outlive_it) {
  auto locks = connect();
  const auto one = locks.acquire("one", {.lease = 10s});
  const auto two = locks.acquire("two", {.lease = 10s});
  restart();
  EXPECT_TRUE(is_renewed("one"));
  EXPECT_TRUE(is_renewed("two"));
  EXPECT_FALSE(one.lost().stop_requested()) << to_string(one.why_lost());
  EXPECT_FALSE(two.lost().stop_requested()) << to_string(two.why_lost());
  EXPECT_TRUE(is_held_by("one", one));
  EXPECT_TRUE(is_held_by("two", two));
}

TEST_F(restarted_server, keeps_leases_after_a_crash) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", {.lease = 10s});
  ASSERT_TRUE(is_renewed("orders/42"));
  server_.crash();
  server_.start();
  EXPECT_TRUE(is_held_by("orders/42", held));
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_FALSE(held.lost().stop_requested()) << to_string(held.why_lost());
}

TEST_F(restarted_server, keeps_durable_releases_after_a_crash) {
  auto locks = connect({.durable_release = true});
  locks.acquire("orders/42", {.lease = long_lease}).release();
  server_.crash();
  server_.start();
  EXPECT_TRUE(is_vacant("orders/42"));
}

TEST_F(restarted_server, grants_larger_tokens_after_a_crash_that_forgot_a_release) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", {.lease = 3s});
  const auto before = held.token();
  held.release();
  server_.crash();
  server_.start();
  const auto next = locks.try_acquire_for("orders/42", soon);
  ASSERT_TRUE(next.has_value());
  EXPECT_GT(next->token(), before);
}

TEST_F(restarted_server, that_stays_away_loses_its_leases_in_time) {
  const recorder told;
  auto locks = connect({.observer = told.observer()});
  const auto held = locks.acquire("orders/42", {.lease = 2s});
  server_.stop();
  const stopwatch watch;
  ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_LT(watch.elapsed(), 2s);
  EXPECT_EQ(held.why_lost(), loss_reason::unreachable);
  EXPECT_TRUE(eventually([&] { return told.lost("orders/42"); }));
  server_.start();
  const auto next = locks.try_acquire_for("orders/42", soon);
  ASSERT_TRUE(next.has_value()) << "the same client goes on";
  EXPECT_GT(next->token(), held.token());
  EXPECT_TRUE(is_held_by("orders/42", *next));
}

TEST_F(restarted_server, that_is_away_fails_calls_that_may_be_repeated) {
  auto locks = connect();
  server_.stop();
  const stopwatch watch;
  const auto e = error_of([&] { return locks.try_acquire("orders/42").has_value(); });
  EXPECT_LT(watch.elapsed(), short_call + 2s);
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::connection_failed) << e->what();
  EXPECT_TRUE(e->is_retryable());
  EXPECT_FALSE(e->outcome_is_unknown());
  server_.start();
  EXPECT_TRUE(locks.try_acquire("orders/42").has_value());
}

TEST_F(restarted_server, is_ridden_out_by_a_wait) {
  auto locks = connect();
  auto other = connect();
  auto theirs = other.acquire("orders/42", {.lease = 20s});
  background waiter{[&](std::stop_token stop) { return locks.acquire("orders/42", {}, stop); }};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  restart();
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  EXPECT_TRUE(is_held_by("orders/42", theirs));
  theirs.release();
  EXPECT_TRUE(is_held_by("orders/42", waiter.get()));
}

TEST_F(restarted_server, is_told_of_releases_that_it_missed) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", {.lease = long_lease});
  server_.stop();
  const auto e = error_of([&] {
    held.release();
    return true;
  });
  ASSERT_TRUE(e.has_value());
  EXPECT_TRUE(e->is_retryable()) << e->what();
  server_.start();
  EXPECT_TRUE(eventually(soon, [&] { return is_vacant("orders/42"); }));
}

/// All its processes are stopped: connections are accepted, and nothing answers.
class frozen_server : public restarted_server {};

TEST_F(frozen_server, ends_calls_in_time_and_leaves_no_lock_behind) {
  auto locks = connect();
  auto in_the_way = server_.freeze();
  const stopwatch watch;
  const auto e = error_of([&] { return locks.try_acquire("orders/42", {.lease = long_lease}).has_value(); });
  EXPECT_LT(watch.elapsed(), short_call + 2s);
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::call_timed_out) << e->what();
  EXPECT_TRUE(e->is_retryable());
  in_the_way.reset();
  EXPECT_TRUE(eventually(soon, [&] { return locks.try_acquire_for("orders/42", soon).has_value(); }));
  EXPECT_TRUE(eventually(soon, [&] { return is_vacant("orders/42"); }));
}

TEST_F(frozen_server, ends_new_connections_in_time) {
  auto locks = connect();
  const auto in_the_way = server_.freeze();
  const stopwatch watch;
  EXPECT_TRUE(throws(errc::connection_failed,
                     [&] { static_cast<void>(client::connect(server_.url(), {.connect_timeout = 300ms})); }));
  EXPECT_LT(watch.elapsed(), 2s);
}

TEST_F(frozen_server, loses_leases_in_time) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", {.lease = 2s});
  auto in_the_way = server_.freeze();
  const stopwatch watch;
  ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_LT(watch.elapsed(), 2s) << "before the lease ends";
  EXPECT_EQ(held.why_lost(), loss_reason::unreachable);
  in_the_way.reset();
  const auto next = locks.try_acquire_for("orders/42", soon);
  ASSERT_TRUE(next.has_value());
  EXPECT_GT(next->token(), held.token());
  EXPECT_TRUE(is_held_by("orders/42", *next));
}

TEST_F(frozen_server, keeps_leases_that_outlive_it) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", {.lease = 6s});
  {
    const auto in_the_way = server_.freeze();
    const stopwatch watch;
    ASSERT_TRUE(eventually([&] { return watch.elapsed() > 3s; }));
  }
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_FALSE(held.lost().stop_requested()) << to_string(held.why_lost());
}

TEST_F(frozen_server, lets_a_client_close_in_time) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", {.lease = long_lease});
  const auto in_the_way = server_.freeze();
  const stopwatch watch;
  locks.close();
  EXPECT_LT(watch.elapsed(), short_call + 2s);
  EXPECT_EQ(held.why_lost(), loss_reason::client_closed);
}

}  // namespace
}  // namespace rowlock::test
