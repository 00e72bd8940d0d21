#include "command/run.hpp"

#include <rowlock/rowlock.hpp>

#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include "command/child.hpp"
#include "command/database.hpp"
#include "command/signals.hpp"
#include "command/waiting.hpp"

namespace rowlock::command {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

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

int run_under(held_lock& held, const options& given, const signals& taken) {
  const int status = guarded_run{given, taken, held}.wait();
  const bool was_lost = held.lost().stop_requested();
  if (let_go(held)) return status;
  if (!was_lost) say("lost the lock \"" + given.name + "\" while the command ran");
  return given.run.lost_exit;
}

}  // namespace

int run(const options& given) { return with_lock(given, run_under); }

}  // namespace rowlock::command
