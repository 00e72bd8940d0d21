#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "command/exit_status.hpp"
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

/// Reads a file such as /proc/12/stat; nullopt: the process has ended.
std::optional<process> process_in(const std::filesystem::path& stat);

/// A command could not be started.
struct not_started : failure {
  not_started(const std::string& program, int code);
};

/// The command and its descendants. The process that owns a job starts the command, and adopts orphaned descendants.
///
///   running ---end()--> ending ---grace is over: SIGKILL---> killed
///   running ---end_later()--> running, until grace is over: SIGKILL
///
/// The job is over when the command has ended; after end(), when no process of the job is left, or one second after the
/// last ones were killed. Without a terminal the command has its own process group, and the job is that group. On a
/// terminal the command is in `group`, with rowlock and perhaps neighbours in a pipeline, and the job is the command's
/// descendants.
class job {
 public:
  using clock = std::chrono::steady_clock;
  /// In place of standard output and standard error; -1: the same.
  struct outputs {
    int out = -1;
    int err = -1;
    /// The descriptors that read these, if they are pipes. Other processes close theirs, so that the command learns if
    /// nothing is read any more.
    std::array<int, 2> readers{-1, -1};
  };

  /// Throws std::system_error if the command cannot be started.
  job(const std::vector<std::string>& words, const signals& taken, pid_t group, outputs to);

  pid_t id() const noexcept { return pid_; }
  bool is_on_terminal() const noexcept { return is_on_terminal_; }
  /// Signals the command and what it has started in its group.
  void signal(int number) const;
  /// Sends SIGTERM to the job now, and SIGKILL after `grace`.
  void end(clock::duration grace);
  /// Sends SIGKILL after `grace`.
  void end_later(clock::duration grace);

  /// How the command ended, as wait(2) reports it; nullopt: the job is not over.
  std::optional<int> status();
  /// The longest wait before the next status(): the end of some processes is not reported. nullopt: no limit.
  std::optional<std::chrono::milliseconds> patience() const;

 private:
  void reap();
  bool is_anything_left() const;
  bool is_ours(const process& each) const;
  std::vector<process> members(bool with_guards) const;
  void signal_all(int number) const;

  bool is_on_terminal_;
  std::set<pid_t> earlier_;  // left running by an earlier command
  pid_t pid_ = -1;
  std::optional<int> status_{};
  std::optional<clock::time_point> kill_at_{};
  bool is_ending_ = false;
};

/// The name of the process that owns a job (guardian.hpp).
inline constexpr auto* guard_name = "rowlock-guard";

/// Kills all descendants of this process in its session, including adopted orphans. Returns when none is left, or after
/// a second.
void kill_all_descendants();

}  // namespace rowlock::command
