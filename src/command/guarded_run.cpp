#include "command/guarded_run.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stop_token>
#include <string>
#include <utility>

#include "command/database.hpp"
#include "command/waiting.hpp"
#include "command/words.hpp"

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

}  // namespace

guarded_run::guarded_run(const options& given, const signals& taken, guardian& guard, const held_set& held)
    : given_{given},
      taken_{taken},
      guard_{guard},
      held_{held},
      is_in_foreground_{is_in_foreground()},
      is_on_terminal_{guard.start(held.token(given.name).value())} {}

int guarded_run::wait() {
  const std::stop_callback on_loss{held_.lost(), [this] { bell_.ring(); }};
  for (;;) {
    if (held_.lost().stop_requested()) end_the_lost();
    if (patience() == 0ms) end_the_late();
    if (const auto status = guard_.status()) {
      if (is_in_foreground_) take_terminal_back();
      return *status;
    }
    if (const auto arrived = taken_.wait(bell_, patience(), guard_.readable())) take(*arrived);
  }
}

/// Until the next look at the clock, which need not be the end.
signals::time_limit guarded_run::patience() const {
  if (!given_.run.job.timeout || has_timed_out_) return std::nullopt;
  const auto left = *given_.run.job.timeout - (steady_clock::now() - begin_);
  return std::chrono::ceil<std::chrono::milliseconds>(std::clamp<steady_clock::duration>(left, 0s, 1h));
}

void guarded_run::end_the_lost() {
  if (std::exchange(has_reported_loss_, true)) return;
  say(loss_in_words(held_, given_) + "; ending the command");
  guard_.end();
}

void guarded_run::end_the_late() {
  has_timed_out_ = true;
  say("the command has run for --timeout " + bound_in_words(*given_.run.job.timeout) + "; ending it");
  guard_.end();
}

// The kernel repeats the signal each second, and kills at the hard limit.
void guarded_run::end_at_limit() {
  if (std::exchange(is_at_limit_, true)) return;
  was_asked_ = true;
  say("rowlock has used up its processor time (ulimit -t); ending the command");
  guard_.end();
}

// A signal from the terminal has already reached the command: the kernel sends it to the whole foreground group.
void guarded_run::take(const signals::arrival& arrived) {
  if (arrived.number == SIGCHLD) return;
  if (arrived.number == SIGXCPU && arrived.is_from_kernel) return end_at_limit();
  if (!is_on_terminal_ || !arrived.is_from_kernel) guard_.signal(arrived.number);
  if (!asks_to_end(arrived)) return;
  was_asked_ = true;
  if (given_.what == subcommand::lead) guard_.end_later();
}

}  // namespace rowlock::command
