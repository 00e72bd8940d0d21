#pragma once

#include <rowlock/async.hpp>

#include <algorithm>
#include <coroutine>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>

namespace rowlock::test {

/// Runs callables in run(), as an event loop does. Any thread may add some, also when this object is gone.
class queue_of_calls {
 public:
  rowlock::executor executor() const {
    return [to = posted_](std::function<void()> f) {
      const std::scoped_lock alone{to->mutex};
      to->all.push_back(std::move(f));
    };
  }
  /// Runs those that are there, and those that these add; returns how many.
  int run() {
    int out = 0;
    for (std::function<void()> next; (next = take()); ++out) next();
    return out;
  }

 private:
  struct contents {
    std::mutex mutex;
    std::deque<std::function<void()>> all;
  };
  std::function<void()> take() {
    const std::scoped_lock alone{posted_->mutex};
    if (posted_->all.empty()) return {};
    auto out = std::move(posted_->all.front());
    posted_->all.pop_front();
    return out;
  }
  const std::shared_ptr<contents> posted_ = std::make_shared<contents>();
};

/// Makes calls that a test answers, as an engine does. One of them is pending at a time.
template <class T>
class fake_call {
 public:
  using value_type = typename async_answer<T>::value_type;

  /// `kept` is kept by the call until it has begun.
  async_call<T> call(std::shared_ptr<void> kept = {}) {
    return async_call<T>{[this, keep = std::move(kept)](executor where, std::unique_ptr<async_receiver_of> to) {
      auto end = begin(std::move(where), std::move(to));
      most_owners_ = std::max(most_owners_, keep.use_count());  // reads what a caller may have destroyed too early
      return end;
    }};
  }
  /// Lets no call begin.
  void refuse() { is_refusing_ = true; }
  /// Answers each call before it has begun.
  void answer_at_once(std::function<value_type()> make) { at_once_ = std::move(make); }
  /// Answers a call on a thread, perhaps before it has begun.
  void answer_on_a_thread(std::function<value_type()> make) { on_a_thread_ = std::move(make); }
  void join() { thread_.join(); }

  void answer(value_type value) { give(async_answer<T>{std::move(value)}); }
  void fail(std::exception_ptr failure) { give(async_answer<T>{std::move(failure)}); }

  int begun() const { return begun_; }
  bool is_cancelled() const { return end_.stop_requested(); }

 private:
  using async_receiver_of = detail::async_receiver<T>;

  std::stop_source begin(executor where, std::unique_ptr<async_receiver_of> to) {
    if (is_refusing_) throw std::logic_error{"the call cannot begin"};
    ++begun_;
    std::stop_source end;
    end_ = end;
    where_ = std::move(where);
    receiver_ = std::move(to);
    if (at_once_) answer(at_once_());
    if (on_a_thread_) thread_ = std::jthread{[this] { answer(on_a_thread_()); }};
    return end;
  }
  void give(async_answer<T> answer) {
    const auto to = std::make_shared<std::pair<std::unique_ptr<async_receiver_of>, async_answer<T>>>(
        std::move(receiver_), std::move(answer));
    const auto run = [to] {
      const auto receiver = std::move(to->first);
      receiver->answered(std::move(to->second));
    };
    if (where_) {
      std::exchange(where_, nullptr)(run);
    } else {
      run();
    }
  }

  bool is_refusing_ = false;
  std::function<value_type()> at_once_{};
  std::function<value_type()> on_a_thread_{};
  int begun_ = 0;
  long most_owners_ = 0;
  std::stop_source end_{};
  executor where_{};
  std::unique_ptr<async_receiver_of> receiver_{};
  std::jthread thread_{};
};

/// A coroutine that runs at once, and is destroyed with this object, wherever it is suspended.
class test_task {
 public:
  struct promise_type {
    test_task get_return_object() { return test_task{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() noexcept { failure = std::current_exception(); }
    std::exception_ptr failure{};
  };

  explicit test_task(std::coroutine_handle<promise_type> of) noexcept : coroutine_{of} {}
  test_task(test_task&& other) noexcept : coroutine_{std::exchange(other.coroutine_, nullptr)} {}
  test_task& operator=(test_task&&) = delete;
  ~test_task() {
    if (coroutine_) coroutine_.destroy();
  }

  bool is_done() const { return coroutine_.done(); }
  void rethrow() const {
    if (const auto failure = coroutine_.promise().failure) std::rethrow_exception(failure);
  }

 private:
  std::coroutine_handle<promise_type> coroutine_;
};

}  // namespace rowlock::test
