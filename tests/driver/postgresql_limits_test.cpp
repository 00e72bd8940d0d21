#include "driver/postgresql_session_test.hpp"

#include <fcntl.h>
#include <signal.h>

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "support/background.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::test {
namespace {

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
  background call{[&](const std::stop_token&) {
    return error_of(
        [&] { return act(*on, "SELECT pg_sleep(60)", {.deadline = base::now() + 60s, .stop = source.get_token()}); });
  }};
  ASSERT_TRUE(eventually([&] { return is_asleep(*by, on->id().pid); }));
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
  std::stop_source source;
  source.request_stop();
  const auto answers = [&] {
    const auto on = open();
    const test::stopwatch watch;
    const auto cut =
        error_of([&] { act(*on, "SELECT 1::bigint", {.deadline = base::now() + 10s, .stop = source.get_token()}); });
    if (!cut) return number(*on, "SELECT 1::bigint") == 1;
    EXPECT_GE(watch.elapsed(), driver::call_watchdog::grace) << "only a busy machine needs longer";
    return false;
  };
  EXPECT_TRUE(eventually(answers));
}

TEST_F(postgresql_session_test, a_call_ends_when_the_network_drops_its_packets) {
  auto to = server();
  tcp_proxy between{to.host, static_cast<std::uint16_t>(std::stoi(to.port))};
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
  background call{[&](const std::stop_token&) {
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

}  // namespace
}  // namespace rowlock::test
