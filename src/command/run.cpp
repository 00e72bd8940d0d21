#include "command/run.hpp"

#include <rowlock/rowlock.hpp>

#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "command/child.hpp"
#include "command/database.hpp"
#include "command/signals.hpp"

namespace rowlock::command {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// The client goes last.
struct lock_owner {
  client locks;
  std::optional<held_lock> held;
};

lock_owner obtain(const options& given, const std::stop_token& stop) {
  auto locks = connect(given);
  const auto& [wait, lock] = std::pair{given.run.wait, given.run.lock};
  auto held = locks.try_acquire_for(given.name, wait.value_or(duration::max()), lock, stop);
  return {std::move(locks), std::move(held)};
}

/// Says so, and rings, on the way out. A future is ready only after that.
struct end_of_attempt {
  std::atomic<bool>& is_over;
  const bell& to;
  ~end_of_attempt() {
    is_over = true;
    to.ring();
  }
};

/// On another thread, so that this one answers signals meanwhile. A signal that would have ended rowlock does so, once
/// nothing is held any more.
lock_owner obtain_unless_signalled(const options& given, const signals& taken) {
  const bell finished;
  std::atomic<bool> is_over{false};
  std::stop_source stop;
  int died_of = 0;
  auto attempt = std::async(std::launch::async, [&] {
    const end_of_attempt at_the_end{is_over, finished};
    return obtain(given, stop.get_token());
  });
  while (!is_over) {
    const auto arrived = taken.wait(finished, std::nullopt);
    if (!arrived || !signals::ends_a_wait(arrived->number)) continue;
    died_of = arrived->number;
    stop.request_stop();
  }
  if (died_of == 0) return attempt.get();
  try {
    (void)attempt.get();
  } catch (const error&) {  // nobody wants to know any more
  }
  signals::die_of(died_of);
}

bool has_terminal() { return static_cast<bool>(descriptor{::open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)}); }

/// The command under the lock.
///
///   running ---the lock is lost: SIGTERM---> ending ---grace is over: SIGKILL---> killed
///
/// and from each of them, when the command has ended, out.
class guarded_run {
 public:
  guarded_run(const options& given, const signals& taken, const held_lock& held)
      : given_{given},
        taken_{taken},
        held_{held},
        is_on_terminal_{has_terminal()},
        command_{given.run.command,
                 {{"ROWLOCK_NAME", given.name}, {"ROWLOCK_TOKEN", std::to_string(held.token().value())}},
                 taken,
                 !is_on_terminal_} {}

  /// The command's exit status.
  int wait() {
    const std::stop_callback on_loss{held_.lost(), [this] { bell_.ring(); }};
    while (!is_over()) {
      if (held_.lost().stop_requested()) end();
      if (const auto arrived = taken_.wait(bell_, patience())) pass_on(*arrived);
    }
    return *command_.status();
  }

 private:
  // Of a lost lock nothing may go on, so the rest of the group counts too, until all has been done to end it.
  bool is_over() { return kill_at_ && !was_killed_ ? command_.is_gone() : command_.status().has_value(); }

  void end() {
    if (!kill_at_) {
      say("lost the lock \"" + given_.name + "\" (" + std::string{to_string(held_.why_lost())} +
          "); ending the command");
      kill_at_ = steady_clock::now() + std::min<duration>(given_.run.grace, 24h * 365);
      command_.signal_rest(SIGTERM);
      command_.signal_rest(SIGCONT);
    }
    if (steady_clock::now() < *kill_at_) return;
    command_.signal_rest(SIGKILL);
    was_killed_ = true;
  }

  // The end of the command's children is not told: they are looked for now and then.
  std::optional<std::chrono::milliseconds> patience() const {
    if (!kill_at_) return std::nullopt;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*kill_at_ - steady_clock::now());
    return std::clamp(left, 10ms, 50ms);
  }

  // The terminal has told all of its group already, the command among them.
  void pass_on(const signals::arrival& arrived) const {
    if (arrived.number == SIGCHLD || (is_on_terminal_ && arrived.is_from_terminal)) return;
    command_.signal(arrived.number);
  }

  const options& given_;
  const signals& taken_;
  const held_lock& held_;
  const bell bell_;
  bool is_on_terminal_;
  child command_;
  std::optional<steady_clock::time_point> kill_at_{};
  bool was_killed_ = false;
};

// false: it was lost.
bool let_go(held_lock& held) {
  const std::string bond = held.strategy() == strategy::for_update ? "transaction" : "lease";
  try {
    held.release();
  } catch (const error& e) {
    if (e.code() == errc::lock_lost) return false;
    say("the lock is kept until its " + bond + " ends: " + e.what());
  }
  return true;
}

int run_under(held_lock& held, const options& given, const signals& taken) {
  const int status = guarded_run{given, taken, held}.wait();
  const bool was_lost = held.lost().stop_requested();
  if (let_go(held)) return status;
  if (!was_lost) say("lost the lock \"" + given.name + "\" while the command ran");
  return given.run.lost_exit;
}

std::string holder_of(const std::optional<lock_info>& lock) {
  if (lock && !lock->owner.empty()) return lock->owner;
  return lock && lock->held_by_transaction ? "a transaction" : "somebody else";
}

std::string why_busy(const options& given, client& locks) {
  const auto holder = locks.find(given.name);
  if (!holder && given.run.lock.fairness == fairness::fifo && !locks.waiters(given.name).empty())
    return "others wait for \"" + given.name + '"';
  return '"' + given.name + "\" is held by " + holder_of(holder) +
         (holder && !holder->note.empty() ? " (" + holder->note + ')' : "");
}

int busy(const options& given, client& locks) {
  if (!given.run.is_quiet) say(why_busy(given, locks));
  return given.run.busy_exit;
}

}  // namespace

int run(const options& given) {
  const signals taken;
  auto has = obtain_unless_signalled(given, taken);
  return has.held ? run_under(*has.held, given, taken) : busy(given, has.locks);
}

}  // namespace rowlock::command
