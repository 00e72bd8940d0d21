#pragma once

#include <chrono>
#include <concepts>
#include <future>
#include <latch>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>

#include "testkit/eventually.hpp"

namespace rowlock::test {

/// A call on its own thread. Its stop_token is triggered by the destructor, so that a failed test still ends.
template <class Result>
class background {
 public:
  template <class Call>  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): the requirement sees to that
  requires(!std::same_as<std::remove_cvref_t<Call>, background>) explicit background(Call&& call)
      : task_{std::forward<Call>(call)}, result_{task_.get_future()}, thread_{[this](std::stop_token stop) {
          began_.count_down();
          task_(std::move(stop));
        }} {}
  background(const background&) = delete;
  background& operator=(const background&) = delete;

  /// A blocked call must still be blocked after this time, which begins when the thread does; any other call must have
  /// ended.
  bool is_done_within(std::chrono::milliseconds time) {
    began_.wait();
    return result_.wait_for(time) == std::future_status::ready;
  }

  void stop() { thread_.request_stop(); }

  /// The result of the call, or its exception.
  Result get() {
    if (!is_done_within(patience)) throw std::runtime_error{"the call in the background does not end"};
    return result_.get();
  }

 private:
  std::packaged_task<Result(std::stop_token)> task_;
  std::future<Result> result_;
  std::latch began_{1};
  std::jthread thread_;
};

template <class Call>
background(Call) -> background<std::invoke_result_t<Call&, std::stop_token>>;

/// Long enough to notice that a call does not block. A shorter time would prove nothing.
inline constexpr std::chrono::milliseconds a_moment{60};

}  // namespace rowlock::test
