#include "driver/line_cutter.hpp"

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <stop_token>
#include <thread>
#include <vector>

#include "driver/boot_clock.hpp"

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using driver::line_cutter;
using reason = line_cutter::reason;

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

driver::limits within(duration d) { return {.deadline = driver::now() + d}; }

TEST(line_cutter, cuts_at_the_deadline) {
  line_cutter cutter;
  const socket_pair line;
  const auto until = within(20ms);
  line_cutter::call call{cutter, line.mine(), until};
  line.block();
  EXPECT_GE(driver::now(), until.deadline);
  EXPECT_EQ(call.end(), reason::deadline);
}

TEST(line_cutter, cuts_a_call_whose_time_is_over_at_once) {
  line_cutter cutter;
  const socket_pair line;
  line_cutter::call call{cutter, line.mine(), within(-1s)};
  line.block();
  EXPECT_EQ(call.end(), reason::deadline);
}

TEST(line_cutter, never_cuts_a_call_that_has_ended) {
  line_cutter cutter;
  const socket_pair line;
  const socket_pair later;
  line_cutter::call ended{cutter, line.mine(), within(500ms)};
  EXPECT_EQ(ended.end(), reason::none);
  line_cutter::call witness{cutter, later.mine(), within(550ms)};
  later.block();
  EXPECT_EQ(witness.end(), reason::deadline);
  EXPECT_EQ(ended.end(), reason::none);
  EXPECT_TRUE(line.still_carries());
}

TEST(line_cutter, leaves_calls_without_limits_alone) {
  line_cutter cutter;
  const socket_pair line;
  const socket_pair later;
  line_cutter::call endless{cutter, line.mine(), {}};
  line_cutter::call witness{cutter, later.mine(), within(10ms)};
  later.block();
  EXPECT_EQ(endless.end(), reason::none);
  EXPECT_TRUE(line.still_carries());
}

TEST(line_cutter, wakes_earlier_for_a_call_that_came_later) {
  line_cutter cutter;
  const socket_pair patient;
  const socket_pair hasty;
  line_cutter::call long_one{cutter, patient.mine(), within(1h)};
  line_cutter::call short_one{cutter, hasty.mine(), within(10ms)};
  hasty.block();
  EXPECT_EQ(short_one.end(), reason::deadline);
  EXPECT_EQ(long_one.end(), reason::none);
  EXPECT_TRUE(patient.still_carries());
}

TEST(line_cutter, cuts_one_after_another) {
  line_cutter cutter;
  const socket_pair first;
  const socket_pair second;
  line_cutter::call a{cutter, first.mine(), within(10ms)};
  line_cutter::call b{cutter, second.mine(), within(30ms)};
  first.block();
  second.block();
  EXPECT_EQ(a.end(), reason::deadline);
  EXPECT_EQ(b.end(), reason::deadline);
}

TEST(line_cutter, cuts_a_grace_after_stop) {
  line_cutter cutter;
  const socket_pair line;
  std::stop_source source;
  line_cutter::call call{cutter, line.mine(), {.deadline = driver::now() + 1h, .stop = source.get_token()}};
  const auto asked = driver::now();
  source.request_stop();
  line.block();
  EXPECT_GE(driver::now(), asked + line_cutter::grace);
  EXPECT_EQ(call.end(), reason::stop);
}

TEST(line_cutter, cuts_a_call_that_was_stopped_before_it_began) {
  line_cutter cutter;
  const socket_pair line;
  std::stop_source source;
  source.request_stop();
  line_cutter::call call{cutter, line.mine(), {.deadline = core::instant::max(), .stop = source.get_token()}};
  line.block();
  EXPECT_EQ(call.end(), reason::stop);
}

TEST(line_cutter, a_stop_does_not_prolong_a_call) {
  line_cutter cutter;
  const socket_pair line;
  std::stop_source source;
  source.request_stop();
  line_cutter::call call{cutter, line.mine(), {.deadline = driver::now() + 1ms, .stop = source.get_token()}};
  line.block();
  EXPECT_EQ(call.end(), reason::deadline);
}

TEST(line_cutter, hears_of_no_stop_after_the_end) {
  line_cutter cutter;
  const socket_pair line;
  const socket_pair later;
  std::stop_source source;
  line_cutter::call call{cutter, line.mine(), {.deadline = driver::now() + 1h, .stop = source.get_token()}};
  EXPECT_EQ(call.end(), reason::none);
  source.request_stop();
  line_cutter::call witness{cutter, later.mine(), within(2 * line_cutter::grace)};
  later.block();
  EXPECT_EQ(witness.end(), reason::deadline);
  EXPECT_TRUE(line.still_carries());
}

// Calls that end at about the time of their deadlines: each was either cut or is whole.
TEST(line_cutter, says_the_truth_about_close_calls) {
  line_cutter cutter;
  const auto caller = [&](int seed) {
    int cut = 0;
    for (int i = 0; i < 300; ++i) {
      const socket_pair line;
      const auto limit = std::chrono::microseconds{(i * 7 + seed * 13) % 150};
      line_cutter::call call{cutter, line.mine(), within(limit)};
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
