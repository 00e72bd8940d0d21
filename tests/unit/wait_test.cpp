#include "core/wait.hpp"

#include <gtest/gtest.h>

namespace rowlock {
namespace {

using namespace std::chrono_literals;

TEST(notified_pause, lasts_as_long_again_as_the_wait_so_far_and_ends_with_the_holders_lease) {
  EXPECT_EQ(core::notified_pause(0s, std::nullopt, false, 0), 1s);
  EXPECT_EQ(core::notified_pause(2s, std::nullopt, false, 0), 2s);
  EXPECT_EQ(core::notified_pause(2s, 24h, false, 0), 2s);
  EXPECT_EQ(core::notified_pause(1h, std::nullopt, false, 0), 30s);
  EXPECT_EQ(core::notified_pause(1h, 200ms, false, 0), 200ms);
  EXPECT_EQ(core::notified_pause(1h, 200ms, false, 0.5), 201ms);
  EXPECT_EQ(core::notified_pause(1h, 200ms, true, 0), 220ms) << "waiters before it are to be first";
  EXPECT_EQ(core::notified_pause(1h, 200ms, true, 0.5), 260ms);
  EXPECT_EQ(core::notified_pause(1h, 0us, false, 0), 1ms) << "it does not spin";
  EXPECT_EQ(core::notified_pause(1h, -5s, false, 0), 1ms);
}

TEST(notified_pause, is_spread_by_a_quarter) {
  for (const double jitter : {0.0, 0.3, 0.999})
    for (const std::optional<duration> left : {std::optional<duration>{}, std::optional<duration>{24h}}) {
      EXPECT_LE(core::notified_pause(1h, left, false, jitter), 30s);
      EXPECT_GE(core::notified_pause(1h, left, false, jitter), 7500ms);
    }
}

TEST(poll_pause, grows_with_the_wait_so_far_and_ends_with_the_holders_lease) {
  EXPECT_EQ(core::poll_pause(0us, 24h, 0), 5ms);
  EXPECT_EQ(core::poll_pause(800ms, 24h, 0), 100ms);
  EXPECT_EQ(core::poll_pause(800ms, 24h, 0.5), 75ms);
  EXPECT_EQ(core::poll_pause(1h, std::nullopt, 0), 250ms);
  EXPECT_EQ(core::poll_pause(1h, 20ms, 0), 20ms);
  EXPECT_EQ(core::poll_pause(1h, -5s, 0), 1ms);
}

TEST(ask_pause, grows_with_the_wait_so_far_and_is_longer_behind_others) {
  EXPECT_EQ(core::ask_pause(0us, false, 0), 3ms);
  EXPECT_EQ(core::ask_pause(0us, true, 0), 6ms);
  EXPECT_EQ(core::ask_pause(1200ms, false, 0), 100ms);
  EXPECT_EQ(core::ask_pause(1200ms, false, 0.5), 75ms);
  EXPECT_EQ(core::ask_pause(1200ms, true, 0), 200ms);
  EXPECT_EQ(core::ask_pause(1h, false, 0), 500ms);
  EXPECT_EQ(core::ask_pause(1h, true, 0), 500ms);
}

TEST(ticket, outlives_two_beats_that_fail_and_is_passed_over_in_ten_seconds) {
  EXPECT_GE(core::ticket_life, 2 * core::ticket_refresh + core::ticket_retry);
  EXPECT_LE(core::ticket_life, 10s);
}

TEST(error_pause, doubles_to_a_second) {
  EXPECT_EQ(core::error_pause(1, 1), 20ms);
  EXPECT_EQ(core::error_pause(2, 1), 40ms);
  EXPECT_EQ(core::error_pause(50, 1), 1s);
  EXPECT_EQ(core::error_pause(50, 0), 500ms);
}

TEST(inconclusive_pause, all_tries_fit_into_ten_milliseconds_and_those_of_a_call_that_does_not_wait_into_two_hundred) {
  const auto all = [](int most) {
    duration sum{};
    for (int tries = 1; tries < most; ++tries) sum += core::inconclusive_pause(tries);
    return sum;
  };
  EXPECT_LE(all(core::inconclusive_tries), 10ms);
  EXPECT_LE(all(core::inconclusive_only_tries), 200ms);
}

TEST(ending_pause, is_short_as_long_as_it_may_be_a_statement_and_grows_to_a_twentieth_of_a_second) {
  for (int looks = 1; looks <= core::inconclusive_tries; ++looks) EXPECT_EQ(core::ending_pause(looks), 3ms);
  for (int looks = 1; looks < 1000; ++looks) {
    EXPECT_GE(core::ending_pause(looks + 1), core::ending_pause(looks));
    EXPECT_LE(core::ending_pause(looks), 50ms);
  }
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

TEST(wait, whoever_sleeps_past_the_end_of_a_lease_that_was_shortened_oversleeps) {
  constexpr base::instant now{1000s};
  EXPECT_TRUE(core::oversleeps(now + 30s, now, 1s));
  EXPECT_TRUE(core::oversleeps(base::instant::max(), now, 0s));
  EXPECT_TRUE(core::oversleeps(now + 30s, now, -1s)) << "it has ended";
  EXPECT_FALSE(core::oversleeps(now + 30s, now, 30s));
  EXPECT_FALSE(core::oversleeps(now + 30s, now, 1h)) << "it was renewed";
  EXPECT_FALSE(core::oversleeps(now + 30s, now, std::nullopt)) << "there is none";
}

TEST(wait, yields_a_free_name_for_as_long_as_a_release_grants_it) {
  EXPECT_EQ(core::yields_for(-300ms, 100ms), 700ms);
  EXPECT_EQ(core::yields_for(0ms, 100ms), 1s);
  EXPECT_EQ(core::yields_for(-1s, 100ms), 0s);
  EXPECT_EQ(core::yields_for(-1h, 100ms), 0s);
  EXPECT_EQ(core::yields_for(-1h, 0ms), std::nullopt) << "in turn";
  EXPECT_EQ(core::yields_for(1ms, 100ms), std::nullopt) << "it is not free";
  EXPECT_EQ(core::yields_for(std::nullopt, 100ms), std::nullopt) << "there is no row";
}

TEST(wait, nobody_oversleeps_who_sleeps_to_the_end_of_the_lease) {
  constexpr base::instant now{1000s};
  for (const bool is_behind : {false, true})
    for (const duration left : {duration{0}, duration{5s}, duration{30 * 24h}}) {
      const auto pause = core::notified_pause(duration::max(), left, is_behind, 0.999);
      EXPECT_FALSE(core::oversleeps(base::later(now, pause), now, left)) << is_behind << left.count();
    }
}

}  // namespace
}  // namespace rowlock
