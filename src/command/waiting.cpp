#include "command/waiting.hpp"

#include <rowlock/rowlock.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "command/database.hpp"
#include "command/durations.hpp"
#include "command/situation.hpp"
#include "command/wait_report.hpp"

namespace rowlock::command {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

void observe(const event& e, bool is_verbose) {
  if (const auto* failed = std::get_if<events::renewal_failed>(&e.what); failed != nullptr && is_verbose)
    say(fmt::format("the lock \"{}\" was not renewed, and is lost in {} unless a later try succeeds: {}",
                    failed->name.view(), format_duration(failed->left), failed->cause.what()));
  if (std::holds_alternative<events::reconnected>(e.what) && is_verbose) say("connected to the database again");
  say_warning(e);
}

/// Between two tries to reach a database that is away.
class pauses {
 public:
  /// false: the stop was requested, or the time was over.
  bool wait(const std::stop_token& stop, duration left) {
    std::mutex alone;
    std::unique_lock lock{alone};
    std::condition_variable_any never;
    const auto pause = std::min<duration>(std::exchange(next_, std::min<duration>(2 * next_, 5s)), left);
    never.wait_for(lock, stop, pause, [] { return false; });
    return !stop.stop_requested() && pause < left;
  }

 private:
  duration next_ = 100ms;
};

/// A client and the lock that it got in time. The client is destroyed last.
struct obtained {
  std::optional<client> locks{};
  std::optional<held_set> held{};
};

std::vector<lock_name> names_of(const options& given) {
  std::vector<lock_name> out{given.name};
  out.insert(out.end(), given.run.also.begin(), given.run.also.end());
  return out;
}

class attempt {
 public:
  attempt(const options& given, wait_report& report, std::stop_token stop)
      : given_{given}, report_{report}, stop_{std::move(stop)} {}

  void operator()(obtained& out) {
    for (pauses pause;;) {
      try {
        return once(out);
      } catch (const error& e) {
        if (!e.is_retryable() || left() <= 0s || stop_.stop_requested()) throw;
        report_.database_is_away(e);
        if (!pause.wait(stop_, left())) throw;
      }
    }
  }

 private:
  void once(obtained& out) {
    if (!out.locks) {
      out.locks.emplace(
          connect(given_, [is_verbose = given_.run.is_verbose](const event& e) { observe(e, is_verbose); }));
      report_.connected(*out.locks);
    }
    out.held = take(*out.locks);
  }

  std::optional<held_set> take(client& locks) const {
    if (!given_.run.also.empty()) return locks.try_acquire_all_for(names_of(given_), left(), given_.run.lock, stop_);
    std::vector<held_lock> one;
    if (auto held = take_one(locks)) one.push_back(std::move(*held));
    return one.empty() ? std::nullopt : std::optional{held_set{std::move(one)}};
  }

  std::optional<held_lock> take_one(client& locks) const {
    const run_options& run = given_.run;
    if (run.permits > 0) return semaphore{locks, given_.name, run.permits, run.lock}.try_acquire_for(left(), 1, stop_);
    if (run.is_shared) return locks.try_acquire_shared_for(given_.name, left(), run.lock, stop_);
    return locks.try_acquire_for(given_.name, left(), run.lock, stop_);
  }

  duration left() const {
    if (!given_.run.wait) return duration::max();
    const auto waited = std::chrono::floor<duration>(steady_clock::now() - begin_);
    return std::max(*given_.run.wait - waited, duration::zero());
  }

  const options& given_;
  wait_report& report_;
  std::stop_token stop_;
  steady_clock::time_point begin_ = steady_clock::now();
};

/// Says so, and rings, on the way out. A future is ready only after that.
struct end_of_attempt {
  std::atomic<bool>& is_over;
  const bell& to;
  ~end_of_attempt() {
    is_over = true;
    to.ring();
  }
};

// On another thread, so that this one answers signals meanwhile.
obtained obtain(const options& given, const signals& taken) {
  const bell finished;
  std::atomic<bool> is_over{false};
  std::stop_source stop;
  obtained out;
  wait_report report{given};
  int died_of = 0;
  auto done = std::async(std::launch::async, [&] {
    const end_of_attempt at_the_end{is_over, finished};
    attempt{given, report, stop.get_token()}(out);
  });
  while (!is_over) {
    const auto arrived = taken.wait(finished, std::nullopt);
    if (!arrived || !signals::ends_a_wait(arrived->number)) continue;
    died_of = arrived->number;
    report.end();
    stop.request_stop();
  }
  report.join();
  if (died_of == 0) {
    done.get();
    if (out.held) report.got(out.held->token(given.name));
    return out;
  }
  try {
    done.get();
  } catch (const error&) {  // nobody wants to know any more
  }
  out.held.reset();
  out.locks.reset();
  signals::die_of(died_of);
}

std::string why_busy(const options& given, client& locks) {
  const bool is_in_turn = given.run.lock.fairness == fairness::fifo;
  for (const auto& name : names_of(given)) {
    const std::string quoted = '"' + std::string{name.view()} + '"';
    if (const auto holder = locks.find(name))
      return quoted + " is held by " + owner_of(*holder) + (holder->note.empty() ? "" : " (" + holder->note + ')');
    if (is_in_turn && !locks.waiters(name).empty()) return "others wait for " + quoted;
  }
  return '"' + given.name + "\" is held by somebody else";
}

int busy(const options& given, client& locks) {
  if (!given.run.is_quiet) say(why_busy(given, locks));
  return given.run.busy_exit;
}

}  // namespace

int with_lock(const options& given, work_under_lock& work) {
  const signals taken;
  for (;;) {
    auto has = obtain(given, taken);
    if (!has.held) return busy(given, *has.locks);
    if (const auto status = work(*has.held, given, taken)) return *status;
  }
}

bool let_go(held_set& held) {
  const std::string bond = held.locks().front().strategy() == strategy::for_update ? "transaction" : "lease";
  try {
    held.release();
  } catch (const error& e) {
    if (e.code() == errc::lock_lost) return false;
    say("the lock is kept until its " + bond + " ends: " + e.what());
  }
  return true;
}

}  // namespace rowlock::command
