#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/program.hpp"
#include "testkit/child_process.hpp"

namespace rowlock::test {

/// The other end of a terminal.
class pseudo_terminal {
 public:
  pseudo_terminal();
  pseudo_terminal(const pseudo_terminal&) = delete;
  pseudo_terminal& operator=(const pseudo_terminal&) = delete;
  ~pseudo_terminal();

  /// The file that is the terminal for others.
  const std::string& path() const noexcept { return path_; }
  void type(std::string_view keys) const;
  /// Whoever has it in the foreground hears of it.
  void resize(int columns, int lines) const;
  /// Whether what is typed is shown, and handed over by lines, as a shell leaves it.
  bool is_in_shell_mode() const;
  /// All that has been on it so far. A line ends in \r\n there.
  const std::string& screen();

 private:
  int master_ = -1;
  std::string path_;
  std::string screen_;
};

/// A terminal with a shell (the role `job_shell`, see terminal.cpp) that runs one job in the foreground.
class terminal {
 public:
  explicit terminal(const std::vector<std::string>& job, int columns = 80, int lines = 24);

  /// The job's process id, which is also its group.
  pid_t job() const noexcept { return job_; }

  void type(std::string_view keys) const { device_.type(keys); }
  void resize(int columns, int lines) const { device_.resize(columns, lines); }
  bool is_in_shell_mode() const { return device_.is_in_shell_mode(); }
  const std::string& screen() { return device_.screen(); }
  /// Waits until the screen has this.
  bool shows(std::string_view text);

  /// What the shell says of the job next: "stopped", "exited N", "killed N".
  std::string report() { return shell_.read_line(); }
  /// As `fg` does: to the foreground again, and SIGCONT to its group.
  void continue_job() const { shell_.send("continue"); }

 private:
  pseudo_terminal device_;
  child_process shell_;
  pid_t job_ = -1;
};

namespace keys {
inline constexpr std::string_view ctrl_c{"\x03"};
inline constexpr std::string_view ctrl_z{"\x1a"};
inline constexpr std::string_view ctrl_backslash{"\x1c"};
}  // namespace keys

}  // namespace rowlock::test
