#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace rowlock::test {

/// Measures the delay that the machine's other work adds while a test measures something: repeats a call that waits for
/// nothing, on its own thread.
class pulse {
 public:
  template <class Call>
  explicit pulse(Call call)
      : thread_{[this, call = std::move(call)](const std::stop_token& enough) {
          while (beat(enough)) {
            call();
            const std::lock_guard lock{mutex_};
            beats_.back().end = clock::now();
          }
        }} {}

  /// The longest of the calls that ran at any time since `t`.
  std::chrono::steady_clock::duration longest_since(std::chrono::steady_clock::time_point t) const {
    const std::lock_guard lock{mutex_};
    const auto now = clock::now();
    clock::duration out{};
    for (auto each = beats_.rbegin(); each != beats_.rend() && each->end >= t; ++each)
      out = std::max(out, std::min(each->end, now) - each->begin);
    return out;
  }

 private:
  using clock = std::chrono::steady_clock;
  struct one {
    clock::time_point begin;
    clock::time_point end = clock::time_point::max();  // it is running
  };

  // Pauses first, so that the pulse itself is no load.
  bool beat(const std::stop_token& enough) {
    std::unique_lock lock{mutex_};
    never_.wait_for(lock, enough, std::chrono::milliseconds{5}, [] { return false; });
    beats_.push_back({.begin = clock::now()});
    return !enough.stop_requested();
  }

  mutable std::mutex mutex_;
  std::condition_variable_any never_;
  std::vector<one> beats_;
  std::jthread thread_;
};

}  // namespace rowlock::test
