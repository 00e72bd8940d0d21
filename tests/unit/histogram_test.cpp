#include "base/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace rowlock {
namespace {

using namespace std::chrono_literals;

TEST(histogram, counts_a_duration_up_to_and_with_the_bound_of_its_bucket) {
  EXPECT_EQ(base::bucket_of(-1ns), 0U);
  EXPECT_EQ(base::bucket_of(0ns), 0U);
  for (std::size_t i = 0; i < histogram::bounds.size(); ++i) {
    EXPECT_EQ(base::bucket_of(histogram::bounds.at(i)), i);
    EXPECT_EQ(base::bucket_of(histogram::bounds.at(i) + 1ns), i + 1);
  }
  EXPECT_EQ(base::bucket_of(24h), histogram::bounds.size());
}

TEST(histogram, has_ascending_bounds) {
  EXPECT_TRUE(std::is_sorted(histogram::bounds.begin(), histogram::bounds.end()));
  EXPECT_EQ(std::adjacent_find(histogram::bounds.begin(), histogram::bounds.end()), histogram::bounds.end());
}

TEST(histogram, sums_up_what_is_shorter_than_its_unit) {
  base::growing_histogram grows;
  for (int i = 0; i < 1000; ++i) grows.add(300ns);
  const auto seen = grows.read();
  EXPECT_EQ(seen.counts[0], 1000U);
  EXPECT_EQ(base::total(seen), 1000U);
  EXPECT_EQ(seen.sum, 300us);
}

TEST(histogram, misses_nothing_that_several_threads_add) {
  base::growing_histogram grows;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 10'000; ++i) grows.add(i % 2 == 0 ? 1us : 1s);
      });
  }
  const auto seen = grows.read();
  EXPECT_EQ(seen.counts.at(base::bucket_of(1us)), 20'000U);
  EXPECT_EQ(seen.counts.at(base::bucket_of(1s)), 20'000U);
  EXPECT_EQ(base::total(seen), 40'000U);
  EXPECT_EQ(seen.sum, 20'000 * (1s + 1us));
}

TEST(histogram, of_two_is_the_sum_of_both) {
  base::growing_histogram one;
  base::growing_histogram two;
  one.add(1ms);
  two.add(1ms);
  two.add(1min);
  auto both = one.read();
  base::add(both, two.read());
  EXPECT_EQ(both.counts.at(base::bucket_of(1ms)), 2U);
  EXPECT_EQ(both.counts.at(base::bucket_of(1min)), 1U);
  EXPECT_EQ(both.sum, 1min + 2ms);
}

}  // namespace
}  // namespace rowlock
