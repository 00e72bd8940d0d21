#pragma once

#include <rowlock/async.hpp>

#include <coroutine>
#include <cstdlib>
#include <exception>
#include <future>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace rowlock::test {

/// How the calls of a suite are made that exist in asynchronous form.
enum class way_of_calling { blocking, callback, coroutine };

/// As ROWLOCK_TEST_CALLS in the environment says: blocking (the default), callback or coroutine.
inline way_of_calling ways_of_calls() {
  const char* said = std::getenv("ROWLOCK_TEST_CALLS");
  const std::string_view way = said == nullptr ? "blocking" : said;
  if (way == "blocking") return way_of_calling::blocking;
  if (way == "callback") return way_of_calling::callback;
  if (way == "coroutine") return way_of_calling::coroutine;
  throw std::invalid_argument{"ROWLOCK_TEST_CALLS is blocking, callback or coroutine"};
}

/// A coroutine that runs by itself, and is gone when it has ended. An exception that leaves it ends the program.
struct free_coroutine {
  struct promise_type {
    free_coroutine get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
};

template <class T>
free_coroutine await_into(std::promise<async_answer<T>> to, async_call<T> call) {
  std::exception_ptr failure;
  try {
    if constexpr (std::is_void_v<T>) {
      co_await std::move(call);
      to.set_value(async_answer<T>{std::monostate{}});
    } else {
      to.set_value(async_answer<T>{co_await std::move(call)});
    }
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) to.set_value(async_answer<T>{std::move(failure)});  // which nothing here refers to any more
}

/// Begins the call. An answer that never arrives is a std::future_error.
template <class T>
std::future<async_answer<T>> begin(async_call<T> call, way_of_calling by = way_of_calling::callback) {
  std::promise<async_answer<T>> to;
  auto out = to.get_future();
  if (by == way_of_calling::coroutine) {
    await_into(std::move(to), std::move(call));
  } else {
    std::move(call).start([to = std::move(to)](async_answer<T> answer) mutable { to.set_value(std::move(answer)); });
  }
  return out;
}

/// Makes the call, and blocks until its answer is there.
template <class T>
T answer_to(async_call<T> call) {
  return begin(std::move(call), ways_of_calls()).get().get();
}

}  // namespace rowlock::test
