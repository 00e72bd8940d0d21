#include "core/wait.hpp"

#include <gtest/gtest.h>

namespace rowlock {
namespace {

using namespace std::chrono_literals;

TEST(busy_pause, ends_with_the_holders_lease) {
  EXPECT_EQ(core::busy_pause(200ms, 0), 200ms);
  EXPECT_EQ(core::busy_pause(200ms, 0.5), 201ms);
}

TEST(busy_pause, never_spins_on_a_lease_that_is_just_over) {
  EXPECT_EQ(core::busy_pause(0us, 0), 1ms);
  EXPECT_EQ(core::busy_pause(-5s, 0), 1ms);
}

TEST(busy_pause, polls_within_a_second_whatever_the_lease) {
  for (const double jitter : {0.0, 0.3, 0.999})
    for (const std::optional<duration> left : {std::optional<duration>{}, std::optional<duration>{24h}}) {
      EXPECT_LE(core::busy_pause(left, jitter), 1s);
      EXPECT_GE(core::busy_pause(left, jitter), 750ms);
    }
}

TEST(poll_pause, asks_the_more_rarely_the_longer_it_has_waited) {
  EXPECT_EQ(core::poll_pause(0us, 24h, 0), 5ms);
  EXPECT_EQ(core::poll_pause(800ms, 24h, 0), 100ms);
  EXPECT_EQ(core::poll_pause(800ms, 24h, 0.5), 75ms);
  EXPECT_EQ(core::poll_pause(1h, std::nullopt, 0), 250ms);
}

TEST(poll_pause, ends_with_the_holders_lease) { EXPECT_EQ(core::poll_pause(1h, 20ms, 0), 20ms); }

TEST(error_pause, doubles_to_a_second) {
  EXPECT_EQ(core::error_pause(1, 1), 20ms);
  EXPECT_EQ(core::error_pause(2, 1), 40ms);
  EXPECT_EQ(core::error_pause(50, 1), 1s);
  EXPECT_EQ(core::error_pause(50, 0), 500ms);
}

TEST(inconclusive_pause, all_tries_fit_into_ten_milliseconds) {
  duration sum{};
  for (int tries = 1; tries < core::inconclusive_tries; ++tries) sum += core::inconclusive_pause(tries);
  EXPECT_LE(sum, 10ms);
}

TEST(watch_pause, slows_down_where_nothing_happens) {
  EXPECT_EQ(core::watch_pause(0s), 1ms);
  EXPECT_EQ(core::watch_pause(1min), 3ms);
}

TEST(lock_poll_pause, grows_from_microseconds_to_milliseconds) {
  EXPECT_EQ(core::lock_poll_pause(0), 50us);
  for (int polls = 1; polls < 100; ++polls) {
    EXPECT_GE(core::lock_poll_pause(polls), core::lock_poll_pause(polls - 1));
    EXPECT_LE(core::lock_poll_pause(polls), 5ms);
  }
}

}  // namespace
}  // namespace rowlock
