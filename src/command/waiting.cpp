#include "command/waiting.hpp"

#include <rowlock/rowlock.hpp>

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/waits.hpp"
#include "command/database.hpp"
#include "command/situation.hpp"
#include "command/wait_report.hpp"
#include "command/words.hpp"

namespace rowlock::command {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

std::string what_is_left(duration left) {
  if (left <= 0s) return {};
  return ", and is lost in " + format_duration(left) + " unless a later try succeeds";
}

void observe(const event& e, const run_options& run) {
  if (const auto* failed = std::get_if<events::renewal_failed>(&e.what); failed != nullptr && run.is_verbose)
    say(fmt::format("the lock {} was not renewed{}: {}", base::quoted(failed->name.view()), what_is_left(failed->left),
                    failed->cause.what()));
  if (std::holds_alternative<events::reconnected>(e.what) && run.is_verbose) say("connected to the database again");
  if (!run.is_quiet || !std::holds_alternative<events::quarantine>(e.what)) say_warning(e);
}

/// The limit for an address that has never answered, and may be wrong. --wait replaces it.
constexpr duration connect_limit = 1min;

/// A client, and the lock that it was granted in time. The client is destroyed last.
struct obtained {
  std::optional<client> locks{};
  std::optional<held_set> held{};
};

std::vector<lock_name> names_of(const options& given) {
  std::vector<lock_name> out{given.name};
  out.insert(out.end(), given.run.also.begin(), given.run.also.end());
  return out;
}

// The rowlock that runs this command holds its locks until the command ends. A process that an earlier command left
// behind has that command's variables, and their token differs from the holder's. PostgreSQL does not show the token of
// a transaction, MySQL and MariaDB do not show its owner.
void refuse_to_wait_for_itself(client& locks, const std::vector<lock_name>& wanted) {
  const auto token = variable("ROWLOCK_TOKEN");
  const auto holder = [](const lock_info& of) { return of.owner.empty() ? of.thread : of.owner; };
  std::set<std::string> ours;
  for (const auto& each : holders_of(locks, variable("ROWLOCK_NAME")))
    if (std::to_string(each.token.value()) == token && !holder(each).empty()) ours.insert(holder(each));
  for (const auto& name : wanted)
    for (const auto& each : holders_of(locks, name))
      if (ours.contains(holder(each)))
        throw usage_error{base::quoted(name.view()) +
                          " is held by the rowlock that runs this command, so the wait would never end; choose "
                          "another name, or leave out the inner rowlock"};
}

class attempt {
 public:
  /// `was_reached`: whether the database has ever answered this process.
  attempt(const options& given, wait_report& report, bool& was_reached, std::stop_token stop)
      : given_{given}, report_{report}, was_reached_{was_reached}, stop_{std::move(stop)} {}

  void operator()(obtained& out) {
    for (duration pause = 100ms;; pause = std::min<duration>(2 * pause, 5s)) {
      try {
        return once(out);
      } catch (const error& e) {
        if (!e.is_retryable() || left() <= 0s || stop_.stop_requested() || was_never_reached()) throw;
        report_.database_is_away(e);
        const bool is_last = left() <= pause;
        base::rest(base::now() + std::min(left(), pause), stop_);
        if (is_last || stop_.stop_requested()) throw;
      }
    }
  }

  /// false: no lock is held, nor will be if a stop was requested before.
  bool may_hold() const noexcept { return is_connected_; }

 private:
  void once(obtained& out) {
    if (!out.locks) {
      out.locks.emplace(connect(given_, [&run = given_.run](const event& e) { observe(e, run); }));
      was_reached_ = is_connected_ = true;
      report_.connected(*out.locks);
    }
    if (report_.said_away()) {
      out.locks->find(given_.name);
      report_.database_is_back();
    }
    out.held = take(*out.locks);
  }

  std::optional<held_set> take(client& locks) const {
    if (left() > 0s && !variable("ROWLOCK_NAME").empty()) {
      if (auto held = take_within(locks, 0s)) return held;
      refuse_to_wait_for_itself(locks, names_of(given_));
    }
    return take_within(locks, left());
  }

  std::optional<held_set> take_within(client& locks, duration time) const {
    if (!given_.run.also.empty()) return locks.try_acquire_all_for(names_of(given_), time, given_.run.lock, stop_);
    std::vector<held_lock> one;
    if (auto held = take_one(locks, time)) one.push_back(std::move(*held));
    return one.empty() ? std::nullopt : std::optional{held_set{std::move(one)}};
  }

  std::optional<held_lock> take_one(client& locks, duration time) const {
    const run_options& run = given_.run;
    if (run.permits > 0) return semaphore{locks, given_.name, run.permits, run.lock}.try_acquire_for(time, 1, stop_);
    if (run.is_shared) return locks.try_acquire_shared_for(given_.name, time, run.lock, stop_);
    return locks.try_acquire_for(given_.name, time, run.lock, stop_);
  }

  bool was_never_reached() const { return !was_reached_ && !given_.run.wait && waited() >= connect_limit; }

  duration left() const {
    return given_.run.wait ? std::max(*given_.run.wait - waited(), duration::zero()) : duration::max();
  }

  duration waited() const { return std::chrono::floor<duration>(steady_clock::now() - begin_); }

  const options& given_;
  wait_report& report_;
  bool& was_reached_;
  std::atomic<bool> is_connected_ = false;
  std::stop_token stop_;
  steady_clock::time_point begin_ = steady_clock::now();
};

// Waits on another thread, so that this one handles signals meanwhile.
obtained obtain(const options& given, const signals& taken, bool& was_reached, int output) {
  const bell finished;
  std::stop_source stop;
  obtained out;
  wait_report report{given};
  attempt trying{given, report, was_reached, stop.get_token()};
  auto done = in_background(finished, [&] { trying(out); });
  pollfd reader{.fd = output, .events = 0, .revents = 0};  // reports errors only
  auto died_of = taken.wait_for_end(finished, {}, reader);
  if (!died_of && ::poll(&reader, 1, 0) == 1) died_of = SIGPIPE;
  if (died_of) {
    report.end();
    stop.request_stop();
    if (!trying.may_hold()) signals::die_of(*died_of);  // a database that does not answer is not waited for
    done.wait();
  }
  report.join();
  if (!died_of) {
    done.get();
    if (out.held) report.granted(out.held->token(given.name));
    return out;
  }
  out.held.reset();
  out.locks.reset();
  signals::die_of(*died_of);
}

std::string why_busy(const options& given, client& locks) {
  const bool is_in_turn = given.run.lock.fairness == fairness::fifo;
  for (const auto& name : names_of(given)) {
    const auto quoted = base::quoted(name.view());
    if (const auto holder = locks.find(name)) return quoted + " is held by " + holder_in_words(*holder);
    if (is_in_turn && !locks.waiters(name).empty()) return "other clients wait for " + quoted;
  }
  if (const auto left = locks.stats().quarantine; left > 0s)
    return base::quoted(given.name) + " is " + not_held_in_words(left);
  return base::quoted(given.name) + " is held by another client";
}

int busy(const options& given, client& locks) {
  if (given.run.is_quiet) return given.run.busy_exit;
  const auto wait = given.run.wait.value_or(0s);
  say(why_busy(given, locks) + (wait > 0s ? "; gave up after waiting for " + bound_in_words(wait) : ""));
  return given.run.busy_exit;
}

}  // namespace

int with_lock(const options& given, const signals& taken, const work_under_lock& work, int output) {
  for (bool was_reached = false;;) {
    auto has = obtain(given, taken, was_reached, output);
    if (!has.held) return busy(given, *has.locks);
    if (const auto status = work(*has.locks, *has.held)) return *status;
  }
}

std::string loss_in_words(const held_set& held, const options& given) {
  const auto why = held.why_lost();
  const auto sentence = "lost the lock " + base::quoted(given.name);
  if (why == loss_reason::none) return sentence + " before its release";  // the release found out
  const bool names_option = why == loss_reason::hold_limit && given.run.lock.hold_limit;
  return fmt::format("{} ({}{})", sentence, to_string(why),
                     names_option ? ": --hold-limit " + bound_in_words(*given.run.lock.hold_limit) + " is over" : "");
}

bool release_held(held_set& held, const options& given, bool is_reported) {
  const std::string bond = held.locks().front().strategy() == strategy::for_update ? "transaction" : "lease";
  try {
    held.release();
  } catch (const error& e) {
    if (e.code() != errc::lock_lost) {
      say("the lock is held until its " + bond + " ends: " + e.what());
      return true;
    }
    if (!is_reported) say(loss_in_words(held, given));
    return false;
  }
  return true;
}

}  // namespace rowlock::command
