#include "core/lease.hpp"

#include <gtest/gtest.h>

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using base::instant;

constexpr instant sent{1000s};

TEST(lease, the_local_deadline_counts_from_before_the_request_with_a_margin_of_a_tenth_or_ten_milliseconds) {
  EXPECT_EQ(core::margin(30s), 3s);
  EXPECT_EQ(core::margin(100ms), 10ms);
  EXPECT_EQ(core::local_deadline(sent, 30s, 30s), sent + 27s);
  EXPECT_EQ(core::local_deadline(sent, 100ms, 100ms), sent + 90ms);
  EXPECT_EQ(core::local_deadline(sent, 1h, 30s), sent + 1h - 3s) << "what is left may be more than the lease";
}

TEST(lease, the_deadline_is_before_the_lease_ends_for_every_length) {
  for (duration lease = core::shortest_lease; lease <= core::longest_lease; lease *= 3)
    EXPECT_LT(core::local_deadline(sent, lease, lease), sent + lease);
}

TEST(lease, renewed_every_third_and_twice_before_the_deadline) {
  EXPECT_EQ(core::renewal_due(sent, 30s), sent + 10s);
  EXPECT_LT(sent + 2 * (core::renewal_due(sent, 100ms) - sent), core::local_deadline(sent, 100ms, 100ms));
}

TEST(lease, what_is_nearly_due_is_renewed_along_but_not_what_was_just_renewed) {
  EXPECT_TRUE(core::joins_renewal(sent + 5s, sent, 30s));
  EXPECT_FALSE(core::joins_renewal(sent + 6s, sent, 30s));
  EXPECT_FALSE(core::joins_renewal(core::renewal_due(sent, 30s), sent, 30s));
}

TEST(lease, a_failed_renewal_is_repeated_several_times_before_the_deadline) {
  for (const duration lease : {duration{100ms}, duration{30s}, duration{24h}}) {
    const duration shortest = core::renewal_retry(sent, lease, 0.0) - sent;
    const duration longest = core::renewal_retry(sent, lease, 1.0) - sent;
    EXPECT_GE(shortest, 5ms);
    EXPECT_EQ(longest, 2 * shortest) << "so that it falls out of step";
    EXPECT_LE(longest, 1s);
    EXPECT_GE((core::local_deadline(sent, lease, lease) - core::renewal_due(sent, lease)) / longest, 4);
  }
}

TEST(lease, undoing_slows_down_to_two_seconds) {
  EXPECT_EQ(core::undo_pause(0), 50ms);
  EXPECT_EQ(core::undo_pause(1), 100ms);
  EXPECT_EQ(core::undo_pause(1000), 2s);
}

TEST(time, later_saturates) {
  EXPECT_EQ(base::later(sent, duration::max()), instant::max());
  EXPECT_EQ(base::later(sent, 1s), sent + 1s);
}

}  // namespace
}  // namespace rowlock
