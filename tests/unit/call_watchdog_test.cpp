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

TEST(call_watchdog, cuts_at_the_deadline) {
  call_watchdog watchdog;
  const socket_pair line;
  const auto until = within(20ms);
  call_watchdog::call call{watchdog, line.mine(), until};
  line.block();
  EXPECT_GE(base::now(), until.deadline);
  EXPECT_EQ(call.end(), reason::deadline);
}

TEST(call_watchdog, cuts_a_call_whose_time_is_over_at_once) {
  call_watchdog watchdog;
  const socket_pair line;
  call_watchdog::call call{watchdog, line.mine(), within(-1s)};
  line.block();
  EXPECT_EQ(call.end(), reason::deadline);
}

TEST(call_watchdog, never_cuts_a_call_that_has_ended) {
  call_watchdog watchdog;
  const socket_pair line;
  const socket_pair later;
  call_watchdog::call ended{watchdog, line.mine(), within(500ms)};
  EXPECT_EQ(ended.end(), reason::none);
  call_watchdog::call witness{watchdog, later.mine(), within(550ms)};
  later.block();
  EXPECT_EQ(witness.end(), reason::deadline);
  EXPECT_EQ(ended.end(), reason::none);
  EXPECT_TRUE(line.still_carries());
}

TEST(call_watchdog, leaves_calls_without_limits_alone) {
  call_watchdog watchdog;
  const socket_pair line;
  const socket_pair later;
  call_watchdog::call endless{watchdog, line.mine(), {}};
  call_watchdog::call witness{watchdog, later.mine(), within(10ms)};
  later.block();
  EXPECT_EQ(endless.end(), reason::none);
  EXPECT_TRUE(line.still_carries());
}

TEST(call_watchdog, wakes_earlier_for_a_call_that_came_later) {
  call_watchdog watchdog;
  const socket_pair patient;
  const socket_pair hasty;
  call_watchdog::call long_one{watchdog, patient.mine(), within(1h)};
  call_watchdog::call short_one{watchdog, hasty.mine(), within(10ms)};
  hasty.block();
  EXPECT_EQ(short_one.end(), reason::deadline);
  EXPECT_EQ(long_one.end(), reason::none);
  EXPECT_TRUE(patient.still_carries());
}

TEST(call_watchdog, cuts_one_after_another) {
  call_watchdog watchdog;
  const socket_pair first;
  const socket_pair second;
  call_watchdog::call a{watchdog, first.mine(), within(10ms)};
  call_watchdog::call b{watchdog, second.mine(), within(30ms)};
  first.block();
  second.block();
  EXPECT_EQ(a.end(), reason::deadline);
  EXPECT_EQ(b.end(), reason::deadline);
}

TEST(call_watchdog, cuts_a_grace_after_stop) {
  call_watchdog watchdog;
  const socket_pair line;
  std::stop_source source;
  call_watchdog::call call{watchdog, line.mine(), {.deadline = base::now() + 1h, .stop = source.get_token()}};
  const auto asked = base::now();
  source.request_stop();
  line.block();
  EXPECT_GE(base::now(), asked + call_watchdog::grace);
  EXPECT_EQ(call.end(), reason::stop);
}

TEST(call_watchdog, cuts_a_call_that_was_stopped_before_it_began) {
  call_watchdog watchdog;
  const socket_pair line;
  std::stop_source source;
  source.request_stop();
  call_watchdog::call call{watchdog, line.mine(), {.deadline = base::instant::max(), .stop = source.get_token()}};
  line.block();
  EXPECT_EQ(call.end(), reason::stop);
}

TEST(call_watchdog, a_stop_does_not_prolong_a_call) {
  call_watchdog watchdog;
  const socket_pair line;
  std::stop_source source;
  source.request_stop();
  call_watchdog::call call{watchdog, line.mine(), {.deadline = base::now() + 1ms, .stop = source.get_token()}};
  line.block();
  EXPECT_EQ(call.end(), reason::deadline);
}

TEST(call_watchdog, hears_of_no_stop_after_the_end) {
  call_watchdog watchdog;
  const socket_pair line;
  const socket_pair later;
  std::stop_source source;
  call_watchdog::call call{watchdog, line.mine(), {.deadline = base::now() + 1h, .stop = source.get_token()}};
  EXPECT_EQ(call.end(), reason::none);
  source.request_stop();
  call_watchdog::call witness{watchdog, later.mine(), within(2 * call_watchdog::grace)};
  later.block();
  EXPECT_EQ(witness.end(), reason::deadline);
  EXPECT_TRUE(line.still_carries());
}

// Calls that end at about the time of their deadlines: each was either cut or is whole.
TEST(call_watchdog, says_the_truth_about_close_calls) {
  call_watchdog watchdog;
  const auto caller = [&](int seed) {
    int cut = 0;
    for (int i = 0; i < 300; ++i) {
      const socket_pair line;
      const auto limit = std::chrono::microseconds{(i * 7 + seed * 13) % 150};
      call_watchdog::call call{watchdog, line.mine(), within(limit)};
      pollfd one{.fd = line.mine(), .events = POLLIN, .revents = 0};
      timespec pause{.tv_sec = 0, .tv_nsec = 70'000};
      ppoll(&one, 1, &pause, nullptr);
      const bool is_cut = call.end() != reason::none;
      EXPECT_NE(line.still_carries(), is_cut);
      cut += is_cut ? 1 : 0;
    }
    EXPECT_GT(cut, 0);
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(caller, i);
}

}  // namespace
}  // namespace rowlock
