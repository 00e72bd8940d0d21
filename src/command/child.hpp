#pragma once

#include <sys/types.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "command/signals.hpp"

namespace rowlock::command {

/// A command that could not be started, and what rowlock exits with then.
class not_started : public std::runtime_error {
 public:
  not_started(const std::string& sentence, int exit_status) : std::runtime_error{sentence}, exit_status_{exit_status} {}
  int exit_status() const noexcept { return exit_status_; }

 private:
  int exit_status_;
};

/// The command, from its start on.
///
///   running --it ends--> ended: has a status, and gets no signal any more
///
/// It is to be started by the main thread: it gets SIGTERM when the thread that started it ends.
class child {
 public:
  using variables = std::vector<std::pair<std::string, std::string>>;

  /// `in_own_group`: it leads a process group of its own, and signals go to all of that.
  child(const std::vector<std::string>& words, const variables& more, const signals& taken, bool in_own_group);

  /// Its exit status, or 128 and the signal that ended it; nullopt while it runs.
  std::optional<int> status();
  void signal(int number) const noexcept;
  /// Whether anything of it is left: itself or, where it has a group, any other member.
  bool is_gone();
  /// Signals also what it left behind in its group.
  void signal_rest(int number) const noexcept;

 private:
  pid_t pid_ = -1;
  bool has_group_;
  std::optional<int> status_{};
};

}  // namespace rowlock::command
