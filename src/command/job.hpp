#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "command/processes.hpp"
#include "command/signals.hpp"

namespace rowlock::command {

/// A command that could not be started, and what rowlock exits with then.
class not_started : public std::runtime_error {
 public:
  not_started(const std::string& program, int code);
  int exit_status() const noexcept { return exit_status_; }

 private:
  int exit_status_;
};

/// Why exec failed.
struct exec_failed {
  int code = 0;
};

bool has_terminal();

/// The command and what it starts, as the process sees it that starts it and adopts the orphans below it.
///
///   running ---end()--> ending ---grace is over: SIGKILL---> killed
///   running ---end_later()--> running, until grace is over: SIGKILL
///
/// It is over when the command has ended and, once it is being ended, when nothing of it is left, or a second after the
/// rest was killed. Without a terminal the command has a process group of its own, and all of that is meant. On one it
/// is in `group`, with rowlock and perhaps neighbours in a pipeline; so what descends from it is meant.
class job {
 public:
  using variables = std::vector<std::pair<std::string, std::string>>;
  using clock = std::chrono::steady_clock;

  /// Throws exec_failed.
  job(const std::vector<std::string>& words, const variables& more, const signals& taken, pid_t group);

  pid_t id() const noexcept { return pid_; }
  bool is_on_terminal() const noexcept { return is_on_terminal_; }
  /// Signals the command and what it has started in its group.
  void signal(int number) const;
  /// Asks all of it to end, and kills what is left after `grace`.
  void end(clock::duration grace);
  /// Kills after `grace` what is left.
  void end_later(clock::duration grace);

  /// Its exit status, or 128 and the signal that ended it, when all is over.
  std::optional<int> status();
  /// How long to wait at most for the next status(): not every end is told.
  std::optional<std::chrono::milliseconds> patience() const;

 private:
  void reap();
  void kill_what_is_left();
  bool is_anything_left() const;
  bool is_ours(const process& each) const;
  void signal_all(int number) const;

  bool is_on_terminal_;
  std::set<pid_t> earlier_;  // left running by an earlier command
  pid_t pid_ = -1;
  std::optional<int> status_{};
  std::optional<clock::time_point> kill_at_{};
  bool is_ending_ = false;
  bool was_killed_ = false;
};

/// The name of the process that has a job (guardian.hpp). It takes care of what is below it.
inline constexpr auto* guard_name = "rowlock-guard";

/// Kills all of this session that descends from this process, and adopts orphans. Returns when nothing of it is left.
void kill_all_descendants();

}  // namespace rowlock::command
