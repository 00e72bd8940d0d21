#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "testkit/eventually.hpp"

namespace rowlock::test {

/// The current time for another thread to answer: the longest of a few measurements.
inline std::chrono::steady_clock::duration time_to_answer() {
  std::chrono::steady_clock::duration longest{};
  for (int i = 0; i < 8; ++i) {
    const stopwatch watch;
    std::jthread{[] {}}.join();
    longest = std::max(longest, watch.elapsed());
  }
  return longest;
}

/// Whether one of a few measurements is within the limit plus the delay by the machine's other work, which is measured
/// before and after each. Stops at the first success.
template <class Measure>
testing::AssertionResult takes_at_most(std::chrono::steady_clock::duration limit, Measure&& measure) {
  using milliseconds = std::chrono::duration<double, std::milli>;
  constexpr int measurements = 4;
  constexpr int steps = 10;
  auto out = testing::AssertionFailure() << "more than " << milliseconds{limit}.count() << " ms:";
  for (int i = 0; i < measurements; ++i) {
    const auto before = time_to_answer();
    const auto took = measure();
    const auto added = steps * std::max(before, time_to_answer());
    if (took <= limit + added) return testing::AssertionSuccess();
    out << ' ' << milliseconds{took}.count() << " (the machine may add " << milliseconds{added}.count() << ')';
  }
  return out;
}

}  // namespace rowlock::test
