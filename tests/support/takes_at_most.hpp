#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "testkit/eventually.hpp"

namespace rowlock::test {

/// How long this machine takes now until another thread has answered: the longest of a few times.
inline std::chrono::steady_clock::duration time_to_answer() {
  std::chrono::steady_clock::duration longest{};
  for (int i = 0; i < 8; ++i) {
    const stopwatch watch;
    std::jthread{[] {}}.join();
    longest = std::max(longest, watch.elapsed());
  }
  return longest;
}

/// Whether one of a few measurements is within the limit, and what the machine's other work adds to the steps of a call
/// between threads and servers, as it is seen before and after. No more of them are made once one is.
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
