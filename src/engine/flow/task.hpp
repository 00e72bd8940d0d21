#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

#include "engine/flow/flow.hpp"

namespace rowlock::inline v1::engine {

namespace task_detail {

template <class T>
struct outcome {
  std::optional<T> value{};
  std::exception_ptr failure{};

  void return_value(T v) { value.emplace(std::move(v)); }
  T take() {
    if (failure) std::rethrow_exception(failure);
    return std::move(*value);
  }
};

template <>
struct outcome<void> {
  std::exception_ptr failure{};

  void return_void() noexcept {}
  void take() const {
    if (failure) std::rethrow_exception(failure);
  }
};

}  // namespace task_detail

/// A part of a call that may have to wait: a coroutine, which begins at once. If the call has a thread, that sleeps in
/// place of each wait, so that the task has ended when the function returns. Otherwise the task is suspended, see flow.
///
/// Objects that its parameters refer to must live until it has ended.
template <class T>
class [[nodiscard]] task {
 public:
  struct promise_type : task_detail::outcome<T> {
    std::coroutine_handle<> next = std::noop_coroutine();  // the task that waits for this one

    struct end {
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> of) const noexcept {
        return of.promise().next;
      }
      void await_resume() const noexcept {}
    };
    task get_return_object() noexcept { return task{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    end final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept { this->failure = std::current_exception(); }
    // NOLINTNEXTLINE(misc-new-delete-overloads): the other is the sized one
    static void* operator new(std::size_t bytes) { return thread_flow::allocate(bytes); }
    static void operator delete(void* frame, std::size_t bytes) noexcept { thread_flow::deallocate(frame, bytes); }
  };

  task(task&& other) noexcept : of_{std::exchange(other.of_, nullptr)} {}
  task& operator=(task&&) = delete;
  ~task() {
    if (of_) of_.destroy();
  }

  bool has_ended() const noexcept { return of_.done(); }
  /// Once it has ended: its result, which moves out, or its exception, which is thrown.
  T get() { return of_.promise().take(); }

  // For the task that waits for it:
  bool await_ready() const noexcept { return has_ended(); }
  void await_suspend(std::coroutine_handle<> next) const noexcept { of_.promise().next = next; }
  T await_resume() { return get(); }

 private:
  explicit task(std::coroutine_handle<promise_type> of) noexcept : of_{of} {}

  std::coroutine_handle<promise_type> of_;
};

}  // namespace rowlock::inline v1::engine
