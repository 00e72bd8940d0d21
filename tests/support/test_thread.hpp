#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>

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

}  // namespace rowlock::test
