#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testkit/child.hpp"
#include "testkit/file_descriptor.hpp"

namespace rowlock::test {

/// This very program, started once more in one of its roles: with the arguments `--role NAME ARGUMENT...`. The two talk
/// in lines over its standard input and output. Killed, where it still runs, when this object goes. Throws
/// std::system_error and std::runtime_error.
class child_process {
 public:
  explicit child_process(std::string_view name_of_role, const std::vector<std::string>& arguments = {});

  pid_t pid() const noexcept { return child_.pid(); }

  /// Nothing happens if it has ended: its answer will be missing.
  void send(std::string_view line) const;
  /// The next line it says. Throws where it says none in time, or ends.
  std::string read_line(std::chrono::steady_clock::duration within = patience);
  /// The same for a line that must be this.
  void expect(std::string_view line);

  /// For poll(): readable when it has said something, or has ended.
  int output() const noexcept { return socket_.get(); }
  bool is_readable_within(std::chrono::steady_clock::duration within) const;
  /// Reads what it has said, and waits for that if need be. false: it has ended.
  bool read_some();
  /// A line that was read already.
  std::optional<std::string> next_line();

  void signal(int number) { child_.signal(number); }
  /// SIGSTOP, and until it has stopped.
  void pause() { child_.pause(); }
  void resume() { child_.resume(); }
  /// SIGKILL, and until it is gone.
  void kill() noexcept { child_.kill(); }

  void close_input() const noexcept;
  /// Closes its standard input and waits for its end; nullopt where it does not end in time.
  std::optional<ending> wait_for_end(std::chrono::steady_clock::duration within = patience);
  /// The same: the exit status, or 128 and the signal that ended it.
  std::optional<int> wait();

 private:
  struct sockets {
    file_descriptor ours;
    file_descriptor of_child;
  };
  child_process(std::vector<std::string> words, sockets ends);
  static sockets make_sockets();

  child child_;
  file_descriptor socket_;
  std::string unread_;
};

/// The role in which a child_process has started this program; nullopt: somebody else has started it.
std::optional<std::string_view> role_of(int argc, const char* const* argv);

/// Waits for the end of a process that this one forked: as child_process::wait. It is killed where it does not end.
std::optional<int> wait_for(pid_t pid);

}  // namespace rowlock::test
