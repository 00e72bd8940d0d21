#include "driver/postgresql_session_test.hpp"

#include <fcntl.h>
#include <signal.h>

#include <stop_token>
#include <string>
#include <vector>

#include "support/background.hpp"
#include "support/loopback.hpp"
#include "support/slowness.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::test {
namespace {

constexpr duration some_time = 150ms;

/// How a call ends that must not last much longer than that.
template <class Call>
std::optional<error> end_of(Call call, duration most = on_this_machine(1s)) {
  const stopwatch watch;
  auto out = error_of(call);
  EXPECT_LT(watch.elapsed(), most);
  return out;
}

TEST_F(postgresql_session_test, a_call_ends_at_its_deadline) {
  const auto on = open();
  const auto cut = end_of([&] { return act(*on, "SELECT pg_sleep(60)", within(some_time)); });
  EXPECT_TRUE(expect_end(cut, errc::call_timed_out, true, true).is_retryable());
  EXPECT_EQ(lost().size(), 1U);
  expect_end(failure(*on, "SELECT 1"), errc::connection_failed, true, false);
}

TEST_F(postgresql_session_test, the_outcome_of_a_look_is_never_unknown) {
  const auto on = open();
  expect_end(end_of([&] { return ask(*on, "SELECT pg_sleep(60)", {}, within(50ms)); }), errc::call_timed_out, true,
             false);
}

TEST_F(postgresql_session_test, nothing_is_sent_when_no_time_is_left) { expect_nothing_sent_without_time(*open()); }

TEST_F(postgresql_session_test, a_call_ends_soon_after_stop) {
  const auto by = open();
  const auto on = open();
  std::stop_source source;
  background call{[&](const std::stop_token&) {
    return failure_to_act(*on, "SELECT pg_sleep(60)", {.deadline = base::now() + 60s, .stop = source.get_token()});
  }};
  ASSERT_TRUE(eventually([&] { return is_asleep(*by, on->id().pid); }));
  source.request_stop();
  const stopwatch watch;
  expect_end(call.get(), errc::cancelled, true, true);
  EXPECT_LT(watch.elapsed(), on_this_machine(500ms));
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
  const auto to = server();
  tcp_proxy between{to.host, to.port.value_or(5432)};
  const auto on = open(server_at(between.port()).url());
  between.black_hole(true);
  expect_end(end_of([&] { return act(*on, "SELECT 1", within(some_time)); }), errc::call_timed_out, true, true);
}

TEST_F(postgresql_session_test, a_call_ends_although_the_server_process_is_stopped) {
  const auto on = open();
  const auto pid = static_cast<pid_t>(on->id().pid);
  if (kill(pid, SIGSTOP) != 0) GTEST_SKIP() << "the server's processes are another user's";
  const auto cut = end_of([&] { return act(*on, "SELECT 1", within(some_time)); });
  kill(pid, SIGCONT);
  expect_end(cut, errc::call_timed_out, true, true);
}

TEST_F(postgresql_session_test, connecting_ends_where_nobody_answers_and_soon_after_stop) {
  const auto silent = listening_socket();
  const auto to = server_at(port_of(silent));
  const auto late = end_of([&] { return open(to.url(), {}, within(some_time)); });
  EXPECT_TRUE(is_error(late, errc::connection_failed, {.is_retryable = true}));
  EXPECT_FALSE(mentions(late, to.password));

  std::stop_source source;
  background call{[&](const std::stop_token&) {
    return error_of([&] { return open(to.url(), {}, {.deadline = base::now() + 60s, .stop = source.get_token()}); });
  }};
  EXPECT_FALSE(call.is_done_within(a_moment));
  source.request_stop();
  const stopwatch watch;
  const auto stopped = call.get();
  EXPECT_LT(watch.elapsed(), on_this_machine(500ms));
  EXPECT_TRUE(is_error(stopped, errc::cancelled));
}

TEST_F(postgresql_session_test, connecting_ends_where_packets_vanish) {
  const auto full = listening_socket(0);
  std::vector<file_descriptor> fill;  // of a full backlog nothing more is answered
  for (int i = 0; i < 4; ++i)
    static_cast<void>(connect(fill.emplace_back(tcp_socket(SOCK_NONBLOCK)), loopback(port_of(full))));
  const auto to = server_at(port_of(full));
  const auto late = end_of([&] { return open(to.url(), {}, within(some_time)); });
  EXPECT_TRUE(is_error(late, errc::connection_failed));
}

TEST_F(postgresql_session_test, each_of_several_hosts_has_its_share_of_the_time) {
  const auto silent = listening_socket();
  auto to = server();
  to.options = "host=127.0.0.1," + to.host + "&port=" + std::to_string(port_of(silent)) + "," +
               std::to_string(to.port.value_or(5432));
  to.host.clear();
  to.port.reset();
  EXPECT_EQ(number(*open(to.url(), {}, within(2s)), "SELECT 1::bigint"), 1);
}

}  // namespace
}  // namespace rowlock::test
