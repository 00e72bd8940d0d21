#include "driver/net/call_watchdog.hpp"

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/boot_clock.hpp"

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using driver::call_watchdog;
using reason = call_watchdog::reason;

class socket_pair {
 public:
  socket_pair() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()), 0); }
  socket_pair(const socket_pair&) = delete;
  socket_pair& operator=(const socket_pair&) = delete;
  ~socket_pair() {
    for (const int end : ends_) close(end);
  }

  int mine() const { return ends_[0]; }
  /// As a driver does: until an answer comes or the line is cut. The tests' own limit is ctest's.
  void block() const {
    char byte = 0;
    EXPECT_EQ(read(mine(), &byte, 1), 0);
  }
  bool still_carries() const {
    char byte = 'x';
    if (send(ends_[1], &byte, 1, MSG_NOSIGNAL) != 1) return false;
    return read(mine(), &byte, 1) == 1;
  }

 private:
  std::array<int, 2> ends_{};
};

driver::limits within(duration d) { return {.deadline = base::now() + d}; }

struct call_watchdog_test : testing::Test {
  driver::limits in_an_hour() { return {.deadline = base::now() + 1h, .stop = source.get_token()}; }
  /// Why a call is cut that blocks.
  reason why_cut(const driver::limits& until) {
    call_watchdog::call cut{watchdog, line.mine(), until};
    line.block();
    return cut.end();
  }
  /// Another call has been cut, and this one has not.
  void expect_whole(call_watchdog::call& one, duration for_long) {
    const socket_pair later;
    call_watchdog::call witness{watchdog, later.mine(), within(for_long)};
    later.block();
    EXPECT_EQ(witness.end(), reason::deadline);
    EXPECT_EQ(one.end(), reason::none);
    EXPECT_TRUE(line.still_carries());
  }

  call_watchdog watchdog;
  const socket_pair line;
  std::stop_source source;
};

TEST_F(call_watchdog_test, cuts_at_the_deadline) {
  const auto until = within(20ms);
  EXPECT_EQ(why_cut(until), reason::deadline);
  EXPECT_GE(base::now(), until.deadline);
}

TEST_F(call_watchdog_test, cuts_a_call_whose_time_is_over_at_once) {
  EXPECT_EQ(why_cut(within(-1s)), reason::deadline);
}

TEST_F(call_watchdog_test, never_cuts_a_call_that_has_ended) {
  call_watchdog::call ended{watchdog, line.mine(), within(500ms)};
  EXPECT_EQ(ended.end(), reason::none);
  expect_whole(ended, 550ms);
}

TEST_F(call_watchdog_test, leaves_calls_without_limits_alone) {
  call_watchdog::call endless{watchdog, line.mine(), {}};
  expect_whole(endless, 10ms);
}

TEST_F(call_watchdog_test, wakes_earlier_for_a_call_that_came_later) {
  call_watchdog::call long_one{watchdog, line.mine(), within(1h)};
  expect_whole(long_one, 10ms);
}

TEST_F(call_watchdog_test, cuts_one_after_another) {
  const socket_pair second;
  call_watchdog::call b{watchdog, second.mine(), within(30ms)};
  EXPECT_EQ(why_cut(within(10ms)), reason::deadline);
  second.block();
  EXPECT_EQ(b.end(), reason::deadline);
}

TEST_F(call_watchdog_test, cuts_a_grace_after_stop) {
  call_watchdog::call call{watchdog, line.mine(), in_an_hour()};
  const auto asked = base::now();
  source.request_stop();
  line.block();
  EXPECT_GE(base::now(), asked + call_watchdog::grace);
  EXPECT_EQ(call.end(), reason::stop);
}

TEST_F(call_watchdog_test, cuts_a_call_that_was_stopped_before_it_began) {
  source.request_stop();
  EXPECT_EQ(why_cut({.deadline = base::instant::max(), .stop = source.get_token()}), reason::stop);
}

TEST_F(call_watchdog_test, a_stop_does_not_prolong_a_call) {
  source.request_stop();
  EXPECT_EQ(why_cut({.deadline = base::now() + 1ms, .stop = source.get_token()}), reason::deadline);
}

TEST_F(call_watchdog_test, hears_of_no_stop_after_the_end) {
  call_watchdog::call call{watchdog, line.mine(), in_an_hour()};
  EXPECT_EQ(call.end(), reason::none);
  source.request_stop();
  expect_whole(call, 2 * call_watchdog::grace);
}

// Calls that end at about the time of their deadlines: each was either cut or is whole.
TEST_F(call_watchdog_test, says_the_truth_about_close_calls) {
  const auto caller = [&](int seed) {
    int cut = 0;
    for (int i = 0; i < 300; ++i) {
      const socket_pair own;
      const auto limit = std::chrono::microseconds{(i * 7 + seed * 13) % 150};
      call_watchdog::call call{watchdog, own.mine(), within(limit)};
      pollfd one{.fd = own.mine(), .events = POLLIN, .revents = 0};
      timespec pause{.tv_sec = 0, .tv_nsec = 70'000};
      ppoll(&one, 1, &pause, nullptr);
      const bool is_cut = call.end() != reason::none;
      EXPECT_NE(own.still_carries(), is_cut);
      cut += is_cut ? 1 : 0;
    }
    EXPECT_GT(cut, 0);
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(caller, i);
}

}  // namespace
}  // namespace rowlock
