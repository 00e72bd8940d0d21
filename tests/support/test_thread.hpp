#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowlock::test {

/// A std::jthread whose exception is a failure of the test, rather than the end of the program with all its tests.
class test_thread : public std::jthread {
 public:
  test_thread() = default;
  template <class Call>  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): the requirement sees to that
  requires(!std::is_same_v<std::remove_cvref_t<Call>, test_thread>) explicit test_thread(Call&& call)
      : std::jthread{[call = std::forward<Call>(call)](const std::stop_token& stop) mutable {
          try {
            if constexpr (std::is_invocable_v<decltype(call)&, const std::stop_token&>)
              call(stop);
            else
              call();
          } catch (const std::exception& e) {
            ADD_FAILURE() << "a thread ended by an exception: " << e.what();
          }
        }} {}
};

/// Calls work(0), work(1), …, each on a thread of its own, until all have returned.
template <class Number, class Work>
void on_threads(Number number, Work work) {
  std::vector<test_thread> all;
  for (Number i = 0; i < number; ++i) all.emplace_back([&work, i] { work(i); });
}

}  // namespace rowlock::test
