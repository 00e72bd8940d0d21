#include "command/words.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

#include "command/signals.hpp"

namespace {

using namespace std::chrono_literals;
using rowlock::command::format_duration;

TEST(durations, are_shown_by_the_unit_that_they_are_rounded_to) {
  EXPECT_EQ(format_duration(999'400us), "999ms");
  EXPECT_EQ(format_duration(999'700us), "1.0s");
  EXPECT_EQ(format_duration(9'900ms), "9.9s");
  EXPECT_EQ(format_duration(9'960ms), "10s");
  EXPECT_EQ(format_duration(59'700ms), "1m00s");
  EXPECT_EQ(format_duration(3599'700ms), "1h00m");
}

TEST(durations, are_shown_whatever_a_row_says) {
  EXPECT_EQ(format_duration(rowlock::duration::max()), "106751991d04h");
  EXPECT_EQ(format_duration(rowlock::duration::min()), "-9223372036853776ms");
}

TEST(durations, that_poll_cannot_count_are_waited_for_in_parts) {
  const auto in = [](std::chrono::hours time) {
    return rowlock::command::milliseconds_until(std::chrono::steady_clock::now() + time);
  };
  EXPECT_EQ(in(24h * 25), std::numeric_limits<int>::max());
  EXPECT_EQ(in(24h * 183), std::numeric_limits<int>::max());
  EXPECT_LE(in(24h), 86'400'000);
  EXPECT_EQ(in(-1h), 0);
}

}  // namespace
