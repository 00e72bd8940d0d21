#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <limits>

#include "core/checks.hpp"
#include "core/wait.hpp"
#include "support/errors.hpp"

namespace rowlock {
namespace {

using namespace std::chrono_literals;

TEST(sweep_pace, begins_small_and_grows_while_the_database_is_fast) {
  auto rows = core::first_rows(1000);
  EXPECT_LT(rows, 1000U);
  int steps = 0;
  for (; rows < 1000 && steps < 100; ++steps) rows = core::next_rows(rows, 1ms, 1000);
  EXPECT_EQ(rows, 1000U);
  EXPECT_LT(steps, 10);
}

TEST(sweep_pace, shrinks_where_a_step_takes_long_and_never_to_nothing) {
  std::size_t rows = 1000;
  EXPECT_LT(core::next_rows(rows, 60ms, 1000), rows);
  for (int i = 0; i < 100; ++i) rows = core::next_rows(rows, 1s, 1000);
  EXPECT_GE(rows, 1U);
  EXPECT_LE(rows, 250U);
}

TEST(sweep_pace, stays_where_a_step_takes_as_long_as_it_may) { EXPECT_EQ(core::next_rows(300, 30ms, 1000), 300U); }

TEST(sweep_pace, never_looks_at_more_than_it_may) {
  for (const std::size_t most : {1U, 2U, 7U, 1000U}) {
    EXPECT_LE(core::first_rows(most), most);
    for (const duration took : {duration{0us}, duration{30ms}, duration{10s}}) {
      EXPECT_LE(core::next_rows(most, took, most), most);
      EXPECT_GE(core::next_rows(1, took, most), 1U);
      EXPECT_LE(core::next_rows(1, took, most), most);
    }
  }
}

TEST(sweep_pace, leaves_the_database_to_others_for_longer_than_it_kept_it) {
  EXPECT_GT(core::sweep_pause(5ms), 5ms);
  EXPECT_GT(core::sweep_pause(0us), 0us) << "it does not spin";
  EXPECT_LE(core::sweep_pause(1h), 1s) << "a slow database is not left alone for ever";
}

TEST(sweep_interval, is_about_what_was_asked_for_and_never_quite_the_same) {
  EXPECT_EQ(core::sweep_interval(30s, 0.5), 30s);
  for (const double jitter : {0.0, 0.3, 0.999}) {
    EXPECT_GE(core::sweep_interval(30s, jitter), 22s);
    EXPECT_LE(core::sweep_interval(30s, jitter), 38s);
    EXPECT_LE(core::first_sweep(30s, jitter), 30s);
  }
  EXPECT_NE(core::sweep_interval(30s, 0.1), core::sweep_interval(30s, 0.9));
  EXPECT_NE(core::first_sweep(30s, 0.1), core::first_sweep(30s, 0.9));
}

struct refused_option {
  const char* option;
  sweeper_options options;
  client_options of{};
};

class sweeper_options_refused : public testing::TestWithParam<refused_option> {};

TEST_P(sweeper_options_refused, name_the_option_and_the_rule) {
  const auto e = test::error_of([] { core::check(GetParam().options, GetParam().of); });
  EXPECT_TRUE(test::is_error(e, errc::invalid_option, {.says = {GetParam().option, "must be"}}));
}

INSTANTIATE_TEST_SUITE_P(each, sweeper_options_refused,
                         testing::Values(refused_option{"retention", {.retention = 59s}},
                                         refused_option{"retention", {.retention = 0s}},
                                         refused_option{"retention", {.retention = -1h}},
                                         refused_option{"retention", {.retention = duration::max()}},
                                         refused_option{"retention", {.retention = 2min}, {.call_timeout = 2min}},
                                         refused_option{"retention", {.retention = 2min}, {.transaction_limit = 5min}},
                                         refused_option{"every", {.every = 999ms}},
                                         refused_option{"every", {.every = -1s}},
                                         refused_option{"every", {.every = 25h}}, refused_option{"batch", {.batch = 0}},
                                         refused_option{"batch", {.batch = 10'001}},
                                         refused_option{"batch", {.batch = std::numeric_limits<std::size_t>::max()}}));

TEST(sweeper_options, are_fine_as_they_are_and_at_their_limits) {
  EXPECT_NO_THROW(core::check(sweeper_options{}, {}));
  EXPECT_NO_THROW(core::check({.every = 1s, .retention = 1min, .batch = 1}, {}));
  EXPECT_NO_THROW(core::check({.every = 24h, .retention = 24h * 365, .batch = 10'000}, {}));
}

}  // namespace
}  // namespace rowlock
