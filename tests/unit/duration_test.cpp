#include <gtest/gtest.h>
#include <rowlock/duration.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <ratio>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using detail::saturate;
using detail::until;
using fractional = std::chrono::duration<double>;
using std::chrono::steady_clock;
using std::chrono::system_clock;

TEST(saturate_test, keeps_what_fits) {
  EXPECT_EQ(saturate(0s), duration{0});
  EXPECT_EQ(saturate(5s), duration{5'000'000});
  EXPECT_EQ(saturate(3ms), duration{3'000});
  EXPECT_EQ(saturate(24h), duration{86'400'000'000});
  EXPECT_EQ(saturate(-3ms), duration{-3'000});
  EXPECT_EQ(saturate(duration::max()), duration::max());
  EXPECT_EQ(saturate(duration::min()), duration::min());
}

TEST(saturate_test, rounds_up_so_that_a_short_wait_is_no_shorter) {
  EXPECT_EQ(saturate(1ns), duration{1});
  EXPECT_EQ(saturate(999ns), duration{1});
  EXPECT_EQ(saturate(1000ns), duration{1});
  EXPECT_EQ(saturate(1001ns), duration{2});
  EXPECT_EQ(saturate(-1ns), duration{0});
  EXPECT_EQ(saturate(-1001ns), duration{-1});
  EXPECT_EQ(saturate(fractional{0.0000001}), duration{1});
}

TEST(saturate_test, saturates_instead_of_overflowing) {
  EXPECT_EQ(saturate(std::chrono::hours::max()), duration::max());
  EXPECT_EQ(saturate(std::chrono::hours::min()), duration::min());
  EXPECT_EQ(saturate(std::chrono::milliseconds::max()), duration::max());
  EXPECT_EQ(saturate(std::chrono::milliseconds::min()), duration::min());
  EXPECT_EQ(saturate(std::chrono::years::max()), saturate(std::chrono::years{std::chrono::years::max().count()}));
  using giga = std::chrono::duration<std::int64_t, std::giga>;
  EXPECT_EQ(saturate(giga::max()), duration::max());
  EXPECT_EQ(saturate(giga::min()), duration::min());
}

TEST(saturate_test, takes_fractions_infinities_and_nan) {
  EXPECT_EQ(saturate(fractional{0.25}), duration{250'000});
  EXPECT_EQ(saturate(fractional{HUGE_VAL}), duration::max());
  EXPECT_EQ(saturate(-fractional{HUGE_VAL}), duration::min());
  EXPECT_EQ(saturate(fractional{std::nan("")}), duration{0});
  EXPECT_EQ(saturate(std::chrono::duration<float>{0.5F}), duration{500'000});
  EXPECT_EQ(saturate(fractional{1e300}), duration::max());
}

// As doubles the last seconds before duration::max() round up to what no longer fits.
TEST(saturate_test, does_not_turn_over_just_below_the_greatest) {
  const double most = std::chrono::duration<double>{duration::max()}.count();
  for (double seconds : {most, std::nextafter(most, 0.0), std::nextafter(most, HUGE_VAL)})
    EXPECT_GT(saturate(fractional{seconds}), std::chrono::hours{24LL * 365 * 200'000LL}) << seconds;
  const float coarse = std::chrono::duration<float>{duration::max()}.count();
  EXPECT_GT(saturate(std::chrono::duration<float>{std::nextafter(coarse, 0.0F)}),
            std::chrono::hours{24LL * 365 * 200'000LL});
}

TEST(until_test, is_what_is_left_of_the_time_and_zero_for_what_has_passed) {
  EXPECT_GT(until(steady_clock::now() + 1h), duration{59min});
  EXPECT_LE(until(steady_clock::now() + 1h), duration{1h});
  EXPECT_GT(until(system_clock::now() + 1h), duration{59min});
  EXPECT_GT(until(steady_clock::time_point::max()), duration{24h * 365 * 100});
  EXPECT_GT(until(system_clock::time_point::max()), duration{24h * 365 * 100});
  EXPECT_EQ(until(steady_clock::now() - 1s), duration{0});
  EXPECT_EQ(until(system_clock::now() - 1h), duration{0});
  EXPECT_EQ(until(steady_clock::time_point::min()), duration{0});
  EXPECT_EQ(until(system_clock::time_point::min()), duration{0});
  EXPECT_EQ(until(system_clock::time_point{}), duration{0});
}

TEST(until_test, coarse_time_points_do_not_overflow) {
  using hours_since = std::chrono::time_point<system_clock, std::chrono::hours>;
  EXPECT_EQ(until(hours_since::max()), duration::max());
  EXPECT_EQ(until(hours_since::min()), duration{0});
  using seconds_since = std::chrono::time_point<steady_clock, std::chrono::seconds>;
  EXPECT_EQ(until(seconds_since::max()), duration::max());
  EXPECT_EQ(until(seconds_since::min()), duration{0});
  using exact = std::chrono::time_point<system_clock, fractional>;
  EXPECT_EQ(until(exact{fractional{HUGE_VAL}}), duration::max());
  EXPECT_EQ(until(exact{-fractional{HUGE_VAL}}), duration{0});
  using days_since = std::chrono::time_point<system_clock, std::chrono::days>;
  EXPECT_GT(until(days_since{std::chrono::days{365 * 1000}}), duration{24h * 365 * 900}) << "beyond nanoseconds";
}

}  // namespace
}  // namespace rowlock::test
