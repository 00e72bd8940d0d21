#include "driver/mysql_connecting.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <utility>

#include "driver/boot_clock.hpp"
#include "driver/failure_meaning.hpp"
#include "driver/mysql_errors.hpp"
#include "driver/waits.hpp"

namespace rowlock::inline v1::driver {

namespace {

using std::chrono::seconds;

seconds whole(duration d) { return std::max(std::chrono::ceil<seconds>(d), seconds{1}); }

std::string name_of(const mysql_address& to) {
  return to.socket.empty() ? to.host + ":" + std::to_string(to.port) : to.socket;
}

}  // namespace

struct mysql_connecting::attempt {
  std::mutex mutex;
  std::condition_variable_any ended;
  // Guarded by it:
  bool is_over = false;
  std::unique_ptr<connector_connection> made{};
  std::exception_ptr failure{};

  void end(std::unique_ptr<connector_connection> with, std::exception_ptr because) {
    {
      const std::lock_guard lock{mutex};
      made = std::move(with);
      failure = std::move(because);
      is_over = true;
    }
    ended.notify_one();
  }
};

std::unique_ptr<connector_connection> mysql_connecting::connect(const limits& until) {
  const auto left = std::min<duration>(until.deadline - now(), std::chrono::hours{1});
  if (left <= duration::zero()) throw not_connected(errc::connection_failed, "no time was left for connecting");
  // What comes too late is dropped with the attempt, by whoever has it last.
  const auto made = std::make_shared<attempt>();
  std::jthread thread{[made, to = to_, connecting = whole(left),
                       reading = whole(call_timeout_) + seconds{1}](const std::stop_token& given_up) {
    try {
      made->end(std::make_unique<connector_connection>(to, connecting, reading, given_up), {});
    } catch (...) {
      made->end({}, std::current_exception());
    }
  }};
  {
    std::unique_lock lock{made->mutex};
    if (!wait_until(made->ended, lock, until.deadline, until.stop, [&] { return made->is_over; })) {
      lock.unlock();
      thread.request_stop();
      leave_behind({made, std::move(thread)});
      if (until.stop.stop_requested()) throw not_connected(errc::cancelled, "stopped while connecting to MySQL");
      throw not_connected(errc::connection_failed, "MySQL, while connecting: no answer within the time limit");
    }
  }
  thread.join();
  if (!made->failure) return std::move(made->made);
  try {
    std::rethrow_exception(made->failure);
  } catch (const std::exception& e) {
    const auto what = sql_failure_of(e);
    if (!what) throw;
    throw mysql_error(
        {.code = what->code, .sqlstate = what->sqlstate, .message = what->message, .connection_lost = true}, "MySQL",
        "connecting to " + name_of(to_));
  }
}

void mysql_connecting::leave_behind(straggler one) {
  std::vector<straggler> gone;  // joined when the lock is free again, which takes no time
  const std::lock_guard lock{mutex_};
  const auto first = std::partition(stragglers_.begin(), stragglers_.end(), [](const straggler& s) {
    const std::lock_guard own{s.what->mutex};
    return !s.what->is_over;
  });
  std::move(first, stragglers_.end(), std::back_inserter(gone));
  stragglers_.erase(first, stragglers_.end());
  stragglers_.push_back(std::move(one));
}

}  // namespace rowlock::inline v1::driver
