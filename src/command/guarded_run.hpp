#pragma once

#include <rowlock/held_set.hpp>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <stop_token>
#include <string>
#include <utility>

#include "command/database.hpp"
#include "command/guardian.hpp"
#include "command/options.hpp"
#include "command/signals.hpp"
#include "command/waiting.hpp"
#include "command/words.hpp"

namespace rowlock::command {

/// The command under the lock.
///
///   running ---the lock is lost: SIGTERM---> ending ---grace is over: SIGKILL---> killed
///   running ---rowlock has used up its processor time: SIGTERM---> ending
///   running ---it has run for longer than --timeout: SIGTERM---> ending
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

  /// How the command ended, as wait(2) reports it.
  int wait() {
    const std::stop_callback on_loss{held_.lost(), [this] { bell_.ring(); }};
    for (;;) {
      if (held_.lost().stop_requested())
        end_once(has_reported_loss_, loss_in_words(held_, given_) + "; ending the command");
      if (const auto limit = given_.run.job.timeout; limit && time_left() <= clock::duration::zero())
        end_once(has_timed_out_, "the command has run for --timeout " + bound_in_words(*limit) + "; ending it");
      if (const auto status = guard_.status()) {
        if (is_in_foreground_) take_terminal_back();
        return *status;
      }
      if (const auto arrived = taken_.wait(bell_, patience(), guard_.readable())) take(*arrived);
    }
  }
  bool has_reported_loss() const noexcept { return has_reported_loss_; }
  bool has_timed_out() const noexcept { return has_timed_out_; }
  /// Whether rowlock received a signal to end meanwhile.
  bool was_asked_to_end() const noexcept { return was_asked_; }

 private:
  using clock = std::chrono::steady_clock;

  static bool is_in_foreground() {
    const auto terminal = open_terminal();
    return terminal && ::tcgetpgrp(terminal.number()) == ::getpgrp();
  }

  // A shell with job control that was killed leaves the terminal to a group that has ended.
  static void take_terminal_back() {
    const auto terminal = open_terminal();
    const pid_t group = terminal ? ::tcgetpgrp(terminal.number()) : -1;
    if (group <= 0 || ::kill(-group, 0) == 0 || errno != ESRCH) return;
    ::tcsetpgrp(terminal.number(), ::getpgrp());  // SIGTTOU is blocked, or ignored
  }

  // A process sends SIGHUP to make a daemon read its configuration again; the kernel, when the terminal is gone.
  static bool asks_to_end(const signals::arrival& arrived) {
    return arrived.number == SIGTERM || arrived.number == SIGINT || arrived.number == SIGQUIT ||
           (arrived.number == SIGHUP && arrived.is_from_kernel);
  }

  clock::duration time_left() const { return *given_.run.job.timeout - (clock::now() - begin_); }

  /// Until the next look at the clock, which need not be the end.
  signals::time_limit patience() const {
    using namespace std::chrono_literals;
    if (!given_.run.job.timeout || has_timed_out_) return std::nullopt;
    return std::chrono::ceil<std::chrono::milliseconds>(std::clamp<clock::duration>(time_left(), 0s, 1h));
  }

  void end_once(bool& has_ended, const std::string& sentence) {
    if (std::exchange(has_ended, true)) return;
    say(sentence);
    guard_.end();
  }

  // A signal from the terminal has already reached the command: the kernel sends it to the whole foreground group. At
  // the limit of processor time it repeats SIGXCPU each second, and kills at the hard limit.
  void take(const signals::arrival& arrived) {
    if (arrived.number == SIGCHLD) return;
    if (arrived.number == SIGXCPU && arrived.is_from_kernel) {
      was_asked_ = true;
      return end_once(is_at_limit_, "rowlock has used up its processor time (ulimit -t); ending the command");
    }
    if (!is_on_terminal_ || !arrived.is_from_kernel) guard_.signal(arrived.number);
    if (!asks_to_end(arrived)) return;
    was_asked_ = true;
    if (given_.what == subcommand::lead) guard_.end_later();
  }

  const options& given_;
  const signals& taken_;
  guardian& guard_;
  const held_set& held_;
  const clock::time_point begin_ = clock::now();
  const bell bell_{};
  const bool is_in_foreground_;
  const bool is_on_terminal_;
  bool has_reported_loss_ = false;
  bool has_timed_out_ = false;
  bool is_at_limit_ = false;
  bool was_asked_ = false;
};

}  // namespace rowlock::command
