#include "command/subcommands.hpp"

#include <rowlock/rowlock.hpp>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "command/database.hpp"
#include "command/guardian.hpp"
#include "command/signals.hpp"
#include "command/waiting.hpp"
#include "command/words.hpp"

// rowlock run and rowlock lead.
namespace rowlock::command {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

bool is_in_foreground() {
  const auto terminal = open_terminal();
  return terminal && ::tcgetpgrp(terminal.number()) == ::getpgrp();
}

// A shell with job control that was killed leaves the terminal to a group that has ended.
void take_terminal_back() {
  const auto terminal = open_terminal();
  const pid_t group = terminal ? ::tcgetpgrp(terminal.number()) : -1;
  if (group <= 0 || ::kill(-group, 0) == 0 || errno != ESRCH) return;
  sigset_t output{};
  sigset_t before{};
  sigemptyset(&output);
  sigaddset(&output, SIGTTOU);
  ::pthread_sigmask(SIG_BLOCK, &output, &before);
  ::tcsetpgrp(terminal.number(), ::getpgrp());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// A process sends SIGHUP to make a daemon read its configuration again; the kernel, when the terminal is gone.
bool asks_to_end(const signals::arrival& arrived) {
  return arrived.number == SIGTERM || arrived.number == SIGINT || arrived.number == SIGQUIT ||
         (arrived.number == SIGHUP && arrived.is_from_kernel);
}

/// The command under the lock.
///
///   running ---the lock is lost: SIGTERM---> ending ---grace is over: SIGKILL---> killed
///   running ---rowlock has used up its processor time: SIGTERM---> ending
///   running ---rowlock lead gets a signal to end, and passes it on---> ending
///
/// Each state ends when the command has ended.
class guarded_run {
 public:
  /// Starts the command.
  guarded_run(const options& given, const signals& taken, guardian& guard, const held_set& held)
      : given_{given},
        taken_{taken},
        guard_{guard},
        held_{held},
        is_in_foreground_{is_in_foreground()},
        is_on_terminal_{guard.start(held.token(given.name).value())} {}

  /// The command's exit status.
  int wait() {
    const std::stop_callback on_loss{held_.lost(), [this] { bell_.ring(); }};
    for (;;) {
      if (held_.lost().stop_requested()) end_the_lost();
      if (const auto status = guard_.status()) {
        if (is_in_foreground_) take_terminal_back();
        return *status;
      }
      if (const auto arrived = taken_.wait(bell_, std::nullopt, guard_.readable())) take(*arrived);
    }
  }
  bool has_reported_loss() const noexcept { return has_reported_loss_; }
  /// Whether rowlock received a signal to end meanwhile.
  bool was_asked_to_end() const noexcept { return was_asked_; }

 private:
  void end_the_lost() {
    if (std::exchange(has_reported_loss_, true)) return;
    say(loss_in_words(held_, given_) + "; ending the command");
    guard_.end();
  }

  // The kernel repeats the signal each second, and kills at the hard limit.
  void end_at_limit() {
    if (std::exchange(is_at_limit_, true)) return;
    was_asked_ = true;
    say("rowlock has used up its processor time (ulimit -t); ending the command");
    guard_.end();
  }

  // A signal from the terminal has already reached the command: the kernel sends it to the whole foreground group.
  void take(const signals::arrival& arrived) {
    if (arrived.number == SIGCHLD) return;
    if (arrived.number == SIGXCPU && arrived.is_from_kernel) return end_at_limit();
    if (!is_on_terminal_ || !arrived.is_from_kernel) guard_.signal(arrived.number);
    if (!asks_to_end(arrived)) return;
    was_asked_ = true;
    if (given_.what == subcommand::lead) guard_.end_later();
  }

  const options& given_;
  const signals& taken_;
  guardian& guard_;
  const held_set& held_;
  const bell bell_;
  const bool is_in_foreground_;
  const bool is_on_terminal_;
  bool has_reported_loss_ = false;
  bool is_at_limit_ = false;
  bool was_asked_ = false;
};

/// Waits while the lock is held. false: the lock was lost. A signal to end ends this process.
bool rest(std::chrono::seconds pause, held_set& held, const options& given, const signals& taken) {
  const bell lost;
  const std::stop_callback on_loss{held.lost(), [&] { lost.ring(); }};
  const auto number = taken.wait_for_end(lost, pause);
  if (!number && !held.lost().stop_requested()) return true;
  if (!number) say(loss_in_words(held, given));
  release_held(held, given, !number);
  if (number) signals::die_of(*number);
  return false;
}

// nullopt: lead has lost the lock and must run the command again, which may have left its work half done.
std::optional<int> run_under(held_set& held, const options& given, const signals& taken, guardian& guard) {
  constexpr auto longest_pause = 30s;
  for (auto next_pause = 1s;;) {
    const auto begin = steady_clock::now();
    guarded_run command{given, taken, guard, held};
    const int status = command.wait();
    const bool is_the_end = given.what != subcommand::lead || command.was_asked_to_end();
    if (is_the_end || !given.run.restarts || held.lost().stop_requested()) {
      if (release_held(held, given, command.has_reported_loss())) return status;
      return is_the_end ? std::optional{given.run.lost_exit} : std::nullopt;
    }
    if (steady_clock::now() - begin >= longest_pause) next_pause = 1s;
    const auto pause = std::exchange(next_pause, std::min(2 * next_pause, longest_pause));
    say("the command has ended with status " + std::to_string(status) + "; it is started again in " +
        bound_in_words(pause));
    if (!rest(pause, held, given, taken)) return std::nullopt;
  }
}

}  // namespace

int run(const options& given) {
  const signals taken;
  guardian guard{given, taken};
  return with_lock(given, taken, [&](held_set& held) { return run_under(held, given, taken, guard); });
}

}  // namespace rowlock::command
