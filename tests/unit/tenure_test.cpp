#include "core/lease.hpp"

#include <gtest/gtest.h>

#include <chrono>

// What becomes of a lock that is handed over: no thread, no clock, no server.

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using core::after_release;
using core::succession;

constexpr base::instant begin{100s};
constexpr base::instant renewal_due = begin + 10s;

core::tenure with_block(std::int64_t number, bool others_wait = false) {
  core::tenure out{.began = begin};
  core::add_block(out, fencing_token{1000}, number, others_wait, begin + 1ms);
  return out;
}

TEST(tenure, begins_with_a_reservation) {
  const core::tenure granted{.began = begin};
  EXPECT_EQ(after_release(granted, begin, renewal_due, 100ms), succession::reserve);
  EXPECT_EQ(core::block_size(granted, begin + 50ms), 64);
}

TEST(tenure, gives_the_tokens_of_its_block_one_after_the_other) {
  auto t = with_block(3);
  for (const std::int64_t token : {998, 999, 1000}) {
    EXPECT_EQ(after_release(t, begin + 2ms, renewal_due, 100ms), succession::hand_over);
    EXPECT_EQ(core::take_token(t).value(), token);
  }
  EXPECT_EQ(after_release(t, begin + 2ms, renewal_due, 100ms), succession::reserve);
}

TEST(tenure, ends_with_its_block_if_others_wait) {
  auto t = with_block(1, true);
  EXPECT_EQ(after_release(t, begin + 2ms, renewal_due, 100ms), succession::hand_over);
  core::take_token(t);
  EXPECT_EQ(after_release(t, begin + 2ms, renewal_due, 100ms), succession::release);
}

TEST(tenure, ends_at_its_limit_whatever_is_left) {
  const auto t = with_block(10);
  EXPECT_EQ(after_release(t, begin + 100ms - 1us, renewal_due, 100ms), succession::hand_over);
  EXPECT_EQ(after_release(t, begin + 100ms, renewal_due, 100ms), succession::release);
  EXPECT_EQ(after_release({.began = begin}, begin + 100ms, renewal_due, 100ms), succession::release);
}

TEST(tenure, renews_a_lease_of_which_too_little_is_left) {
  const auto t = with_block(10);
  EXPECT_EQ(after_release(t, renewal_due - 1us, renewal_due, 1h), succession::hand_over);
  EXPECT_EQ(after_release(t, renewal_due, renewal_due, 1h), succession::reserve);
}

TEST(tenure, reserves_no_more_tokens_than_microseconds_have_passed) {
  const auto t = with_block(64);
  EXPECT_EQ(core::block_size(t, begin + 1ms + 10us), 64);
  EXPECT_EQ(core::block_size(t, begin + 1ms + 1500us), 1500);
  EXPECT_EQ(core::block_size(t, begin + 1s), 4096);
}

}  // namespace
}  // namespace rowlock
