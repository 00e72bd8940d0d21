#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/child.hpp"

namespace rowlock::test {

/// This very program, started once more in one of its roles; the two talk in lines over its standard input and output.
/// Killed, where it still runs, when this object goes. Throws std::system_error and std::runtime_error.
class child_process {
 public:
  child_process(std::string_view role, const std::vector<std::string>& arguments);
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;
  ~child_process();

  pid_t pid() const noexcept { return child_.pid(); }

  void send(std::string_view line) const;
  /// The next line it says. Throws where it says none in time, or ends.
  std::string read_line();
  /// The same for a line that must be this.
  void expect(std::string_view line);

  void signal(int number) { child_.signal(number); }
  /// SIGSTOP, and until it has stopped.
  void pause() { child_.pause(); }
  void resume() { child_.resume(); }
  /// SIGKILL, and until it is gone.
  void kill() noexcept { child_.kill(); }

  /// Closes its standard input and waits for its end: the exit status, or 128 and the signal that ended it; nullopt
  /// where it does not end in time.
  std::optional<int> wait();

 private:
  using pipe_ends = std::array<int, 2>;
  child_process(std::vector<std::string> words, pipe_ends to, pipe_ends from);
  void close_input() noexcept;

  child child_;
  int input_ = -1;
  int output_ = -1;
  std::string unread_;
};

/// Waits for the end of a process that this one forked: as child_process::wait. It is killed where it does not end.
std::optional<int> wait_for(pid_t pid);

}  // namespace rowlock::test
