#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "command/signals.hpp"

namespace rowlock::command {

/// A process, as /proc shows it.
struct process {
  pid_t id = -1;
  pid_t parent = -1;
  pid_t group = -1;
  pid_t session = -1;
  std::string name{};
};

/// As a file like /proc/12/stat shows it; nullopt: it has ended.
std::optional<process> process_in(const std::filesystem::path& stat);

/// A command that could not be started, and the exit status of rowlock then.
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

/// The command and what it starts. The process that has a job starts the command, and adopts orphans below it.
///
///   running ---end()--> ending ---grace is over: SIGKILL---> killed
///   running ---end_later()--> running, until grace is over: SIGKILL
///
/// It is over when the command has ended; after end() when nothing of it is left, or a second after the rest was
/// killed. Without a terminal the command has a process group of its own, and the job is all of that group. On a
/// terminal the command is in `group`, with rowlock and perhaps neighbours in a pipeline, and the job is what descends
/// from it.
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
  /// The longest wait before the next status(): not every end is reported.
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

/// The name of the process that has a job (guardian.hpp), and ends what descends from it.
inline constexpr auto* guard_name = "rowlock-guard";

/// Kills all of this session that descends from this process, and adopts orphans. Returns when nothing of it is left.
void kill_all_descendants();

}  // namespace rowlock::command
