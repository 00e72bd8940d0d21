#include "command/guarded_run.hpp"

#include <rowlock/rowlock.hpp>

#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <stop_token>
#include <string>

#include "command/database.hpp"

namespace rowlock::command {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

bool has_terminal() { return static_cast<bool>(descriptor{::open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)}); }

// A hangup that a process sends asks daemons to read their configuration again.
bool tells_to_end(const signals::arrival& arrived) {
  return arrived.number == SIGTERM || arrived.number == SIGINT || arrived.number == SIGQUIT ||
         (arrived.number == SIGHUP && arrived.is_from_terminal);
}

}  // namespace

guarded_run::guarded_run(const options& given, const signals& taken, const held_set& held, bool ends_when_told)
    : given_{given},
      taken_{taken},
      held_{held},
      ends_when_told_{ends_when_told},
      is_on_terminal_{has_terminal()},
      command_{given.run.command,
               {{"ROWLOCK_NAME", given.name}, {"ROWLOCK_TOKEN", std::to_string(held.token(given.name).value())}},
               taken,
               !is_on_terminal_} {}

int guarded_run::wait() {
  const std::stop_callback on_loss{held_.lost(), [this] { bell_.ring(); }};
  while (!is_over()) {
    if (held_.lost().stop_requested()) end_the_lost();
    if (kill_at_ && steady_clock::now() >= *kill_at_) {
      command_.signal_rest(SIGKILL);
      was_killed_ = true;
    }
    if (const auto arrived = taken_.wait(bell_, patience())) take(*arrived);
  }
  return *command_.status();
}

// Of a lost lock nothing may go on, so the rest of the group counts too, until all has been done to end it.
bool guarded_run::is_over() { return was_lost_ && !was_killed_ ? command_.is_gone() : command_.status().has_value(); }

void guarded_run::end_the_lost() {
  if (was_lost_) return;
  was_lost_ = true;
  say("lost the lock \"" + given_.name + "\" (" + std::string{to_string(held_.why_lost())} + "); ending the command");
  kill_later();
  command_.signal_rest(SIGTERM);
  command_.signal_rest(SIGCONT);
}

void guarded_run::kill_later() {
  if (!kill_at_) kill_at_ = steady_clock::now() + std::min<duration>(given_.run.grace, 24h * 365);
}

// The end of the command's children is not told: they are looked for now and then.
std::optional<std::chrono::milliseconds> guarded_run::patience() const {
  if (!kill_at_) return std::nullopt;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*kill_at_ - steady_clock::now());
  return std::clamp(left, 10ms, 50ms);
}

// The terminal has told all of its group already, the command among them.
void guarded_run::take(const signals::arrival& arrived) {
  if (arrived.number == SIGCHLD) return;
  if (tells_to_end(arrived)) {
    was_told_ = true;
    if (ends_when_told_) kill_later();
  }
  if (!is_on_terminal_ || !arrived.is_from_terminal) command_.signal(arrived.number);
}

}  // namespace rowlock::command
