#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <thread>

namespace rowlock::test {

/// How long a test waits for what must happen before it calls it missing. Generous: the machine may be busy, and
/// sanitizers make everything ten times slower.
inline constexpr std::chrono::seconds patience{30};

/// Whether the condition becomes true within that time. The only way for a test to let time pass.
template <std::predicate Condition>
bool eventually(std::chrono::steady_clock::duration within, Condition&& condition) {
  using std::chrono::milliseconds;
  const auto start = std::chrono::steady_clock::now();
  for (auto now = start; now < start + within; now = std::chrono::steady_clock::now()) {
    if (condition()) return true;
    // Asking has its price where many tests wait: the longer it takes, the less often.
    std::this_thread::sleep_for(
        std::clamp<std::chrono::steady_clock::duration>((now - start) / 16, milliseconds{2}, milliseconds{20}));
  }
  return condition();
}

template <std::predicate Condition>
bool eventually(Condition&& condition) {
  return eventually(patience, condition);
}

/// Measures from its construction.
class stopwatch {
 public:
  std::chrono::steady_clock::duration elapsed() const { return std::chrono::steady_clock::now() - start_; }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace rowlock::test
