#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "testkit/eventually.hpp"

namespace rowlock::test {

/// An event on another thread that a test waits for.
class happening {
 public:
  void happens() {
    const std::lock_guard lock{mutex_};
    has_happened_ = true;
    condition_.notify_all();
  }
  testing::AssertionResult within(std::chrono::seconds limit = patience) {
    std::unique_lock lock{mutex_};
    if (condition_.wait_for(lock, limit, [&] { return has_happened_; })) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "it did not happen in time";
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool has_happened_ = false;
};

}  // namespace rowlock::test
