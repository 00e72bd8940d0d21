// Coroutines that wait for a lock: a thousand of them, and no thread of their own.
//
//   coroutine [DATABASE-URL]

#include <rowlock/rowlock.hpp>

#include <coroutine>
#include <exception>
#include <iostream>
#include <latch>

namespace {

constexpr int tasks = 1000;

/// A coroutine that begins at once and is gone when it has ended. Libraries have better ones, with a result and a way
/// to wait for it; any of them can await rowlock's calls.
struct task {
  struct promise_type {
    task get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
};

/// Adds one to the number. No two do so at once, in this program or in another one.
task raise(rowlock::client& locks, int& number, std::latch& done) {
  try {
    auto held = co_await locks.acquire_async("number");
    ++number;  // on a thread of the client: do not block it
    co_await held.release_async();
  } catch (const rowlock::error& e) {
    std::cerr << e.what() << '\n';  // the number is then too small
  }
  done.count_down();
}

}  // namespace

int main(int argc, char** argv) try {
  auto locks = rowlock::client::connect(argc > 1 ? argv[1] : "sqlite:locks.db", {.application = "coroutine-example"});
  locks.migrate();

  int number = 0;
  std::latch done{tasks};
  for (int i = 0; i < tasks; ++i) raise(locks, number, done);
  done.wait();
  std::cout << "the number was raised to " << number << '\n';
  return number == tasks ? 0 : 1;
} catch (const std::exception& e) {
  std::cerr << "coroutine: " << e.what() << '\n';
  return 1;
}
