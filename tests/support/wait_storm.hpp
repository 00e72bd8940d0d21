#pragma once

#include <gtest/gtest.h>
#include <rowlock/client.hpp>
#include <rowlock/error.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "support/calls.hpp"
#include "testkit/eventually.hpp"

namespace rowlock::test {

/// Very many asynchronous waits for a few names, which end in every way at once. Counts the answers of each.
class wait_storm {
 public:
  static constexpr std::size_t names = 5;
  static std::string name(std::size_t number) { return "storm/" + std::to_string(number % names); }

  explicit wait_storm(unsigned seed) : random_{seed} {}

  /// Begins a wait by a callback or a coroutine. It must not be moved, nor the client closed, while it begins.
  void begin(rowlock::client& by) {
    auto& one = all_.emplace_back();
    const auto which = number(names);
    auto call = by.acquire_async(name(which), options_, one.end.get_token());
    const auto done = [this, &one, which](async_answer<held_lock> answer) { note(one, which, std::move(answer)); };
    if (number(2) == 0) {
      std::move(call).start(done);
    } else {
      await_with(std::move(call), done);
    }
  }
  /// Cancels one of them, at random; it may have ended long ago.
  void cancel_one() { all_[number(all_.size())].end.request_stop(); }
  void cancel_all() {
    for (auto& each : all_) each.end.request_stop();
  }
  std::size_t number(std::size_t below) { return std::uniform_int_distribution<std::size_t>{0, below - 1}(random_); }

  std::size_t begun() const { return all_.size(); }
  bool are_all_answered() const {
    return std::all_of(all_.begin(), all_.end(), [](const auto& each) { return each.answers > 0; });
  }
  std::size_t unanswered() const {
    return static_cast<std::size_t>(
        std::count_if(all_.begin(), all_.end(), [](const auto& each) { return each.answers == 0; }));
  }
  /// When all clients are closed.
  void expect_one_answer_each() const {
    for (const auto& each : all_) ASSERT_EQ(each.answers, 1);
    EXPECT_EQ(overlaps_, 0) << "two held a name at once";
    const std::scoped_lock alone{mutex_};
    for (const auto& each : surprises_) ADD_FAILURE() << each;
  }
  int granted() const { return granted_; }
  int cancelled() const { return cancelled_; }
  int closed() const { return closed_; }

 private:
  struct wait {
    std::stop_source end{};
    std::atomic<int> answers{0};
  };

  static free_coroutine await_with(async_call<held_lock> call, std::function<void(async_answer<held_lock>)> done) {
    std::optional<async_answer<held_lock>> answer;
    try {
      answer.emplace(co_await std::move(call));
    } catch (...) {
      answer.emplace(std::current_exception());
    }
    done(std::move(*answer));
  }

  void note(wait& one, std::size_t which, async_answer<held_lock> answer) {
    try {
      const auto held = std::move(answer).get();
      if (inside_[which]++ != 0) ++overlaps_;
      ++granted_;
      --inside_[which];
    } catch (const error& e) {
      if (e.code() == errc::cancelled) {
        ++cancelled_;
      } else if (e.code() == errc::client_closed) {
        ++closed_;
      } else {
        const std::scoped_lock alone{mutex_};
        surprises_.insert(e.what());
      }
    }
    ++one.answers;
  }

  const lock_options options_{};
  std::mt19937 random_;
  std::deque<wait> all_;  // so that none of them moves
  std::array<std::atomic<int>, names> inside_{};
  std::atomic<int> overlaps_{0};
  std::atomic<int> granted_{0};
  std::atomic<int> cancelled_{0};
  std::atomic<int> closed_{0};
  mutable std::mutex mutex_;
  std::set<std::string> surprises_;
};

}  // namespace rowlock::test
