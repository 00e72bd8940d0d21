#include "driver/net/aside.hpp"

#include <pthread.h>
#include <rowlock/error.hpp>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "base/process.hpp"
#include "base/waits.hpp"
#include "driver/failure_meaning.hpp"

namespace rowlock::inline v1::driver {

namespace {

constexpr auto longest_at_exit = std::chrono::seconds{1};

struct attempt {
  std::mutex mutex;
  std::condition_variable_any ended;
  // Guarded by it:
  bool is_over = false;
  std::exception_ptr failure{};

  void end(std::exception_ptr because) {
    {
      const std::lock_guard lock{mutex};
      failure = std::move(because);
      is_over = true;
    }
    ended.notify_one();
  }
};

/// A thread that was left behind, and its task.
struct straggler {
  std::shared_ptr<attempt> what;
  std::jthread thread;

  bool is_over() const {
    const std::lock_guard lock{what->mutex};
    return what->is_over;
  }
  bool is_over_at(base::instant deadline) const {
    std::unique_lock lock{what->mutex};
    return base::wait_until(what->ended, lock, deadline, {}, [&] { return what->is_over; });
  }
};

struct stragglers {
  std::mutex mutex;
  std::vector<straggler> all;  // guarded by it
};

// Never destroyed: the threads may still run when the program ends.
stragglers* const left_behind = new stragglers;

// The child of a fork has none of these threads to join, and perhaps a mutex that no thread will unlock. So the list is
// constructed anew, in the same place, because nothing may be allocated here.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { ::new (left_behind) stragglers; });

// The threads that have ended meanwhile are joined after the lock is released, which takes no time.
void leave_behind(straggler one) {
  std::vector<straggler> gone;
  const std::lock_guard lock{left_behind->mutex};
  std::vector<straggler> rest;
  for (auto& each : left_behind->all) (each.is_over() ? gone : rest).push_back(std::move(each));
  rest.push_back(std::move(one));
  left_behind->all = std::move(rest);
}

std::jthread start(const std::shared_ptr<attempt>& one, std::function<void(const std::stop_token&)> what) try {
  return base::start_thread([one, what = std::move(what)](const std::stop_token& given_up) mutable {
    std::exception_ptr failure;
    try {
      what(given_up);
    } catch (...) {
      failure = std::current_exception();
    }
    what = nullptr;  // an object that was made too late is destroyed before the end is reported
    one->end(std::move(failure));
  });
} catch (const error& e) {
  throw not_connected(errc::connection_failed, e.what());
}

}  // namespace

bool run_aside(const limits& until, std::function<void(const std::stop_token& given_up)> what) {
  const auto one = std::make_shared<attempt>();
  auto thread = start(one, std::move(what));
  bool is_over = false;
  {
    std::unique_lock lock{one->mutex};
    is_over = base::wait_until(one->ended, lock, until.deadline, until.stop, [&] { return one->is_over; });
  }
  if (!is_over) {
    thread.request_stop();
    leave_behind({one, std::move(thread)});
    return false;
  }
  thread.join();
  if (one->failure) std::rethrow_exception(one->failure);
  return true;
}

void give_up_connecting(const std::string& server, const limits& until) {
  if (until.stop.stop_requested()) throw not_connected(errc::cancelled, "stopped while connecting to " + server);
  throw not_connected(errc::connection_failed,
                      failure_of(connecting_text, server) + "no answer within the time limit" + check_address);
}

void wait_for_those_left_behind() noexcept {
  std::vector<straggler> last;
  {
    const std::lock_guard lock{left_behind->mutex};
    last.swap(left_behind->all);
  }
  const auto deadline = base::later(base::now(), longest_at_exit);
  for (auto& each : last)
    if (!each.is_over_at(deadline)) each.thread.detach();
}

}  // namespace rowlock::inline v1::driver
