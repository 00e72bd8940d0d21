#include "command/guarded_run.hpp"

#include <rowlock/rowlock.hpp>

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "command/database.hpp"
#include "command/waiting.hpp"

namespace rowlock::command {

namespace {

bool is_in_foreground() {
  const auto terminal = open_terminal();
  return terminal && ::tcgetpgrp(terminal.number()) == ::getpgrp();
}

// A shell with job control that was killed leaves it to a group that has ended.
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

// A hangup that a process sends asks daemons to read their configuration again.
bool tells_to_end(const signals::arrival& arrived) {
  return arrived.number == SIGTERM || arrived.number == SIGINT || arrived.number == SIGQUIT ||
         (arrived.number == SIGHUP && arrived.is_from_kernel);
}

}  // namespace

guarded_run::guarded_run(const options& given, const signals& taken, guardian& guard, const held_set& held,
                         bool ends_when_told)
    : given_{given},
      taken_{taken},
      guard_{guard},
      held_{held},
      ends_when_told_{ends_when_told},
      is_in_foreground_{is_in_foreground()},
      is_on_terminal_{guard.start(held.token(given.name).value())} {}

int guarded_run::wait() {
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

void guarded_run::end_the_lost() {
  if (was_lost_) return;
  was_lost_ = true;
  say("lost the lock \"" + given_.name + "\" (" + loss_in_words(held_, given_) + "); ending the command");
  guard_.end();
}

// The kernel asks again with each second, and kills at the hard limit.
void guarded_run::end_at_limit() {
  if (std::exchange(is_at_limit_, true)) return;
  was_told_ = true;
  say("rowlock has used up its processor time (ulimit -t); ending the command");
  guard_.end();
}

// The terminal has told all of its group already, the command among them.
void guarded_run::take(const signals::arrival& arrived) {
  if (arrived.number == SIGCHLD) return;
  if (arrived.number == SIGXCPU && arrived.is_from_kernel) return end_at_limit();
  if (!is_on_terminal_ || !arrived.is_from_kernel) guard_.signal(arrived.number);
  if (!tells_to_end(arrived)) return;
  was_told_ = true;
  if (ends_when_told_) guard_.end_later();
}

}  // namespace rowlock::command
