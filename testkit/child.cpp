#include "testkit/child.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>

namespace rowlock::test {

namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error{errno, std::generic_category(), what}; }

ending ending_of(int status) { return WIFEXITED(status) ? exited(WEXITSTATUS(status)) : killed_by(WTERMSIG(status)); }

struct stat_line {
  char state = '\0';
  pid_t parent = -1;
};

/// What follows the name of the program, which may have spaces and brackets of its own.
stat_line stat_of(pid_t pid) {
  std::ifstream file{"/proc/" + std::to_string(pid) + "/stat"};
  std::string line;
  std::getline(file, line);
  stat_line out;
  const auto name_ends = line.rfind(')');
  if (name_ends == std::string::npos) return out;
  std::istringstream{line.substr(name_ends + 1)} >> out.state >> out.parent;
  return out;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const ending& e) {
  return out << (e.by_signal ? "killed by signal " : "exited with ") << e.number;
}

void child::signal(int number) {
  if (!ending_ && ::kill(pid_, number) != 0) fail("kill");
}

void child::pause() {
  signal(SIGSTOP);
  siginfo_t now{};
  // It stays to be waited for, so that a child may be stopped once more before it goes on.
  if (::waitid(P_PID, static_cast<id_t>(pid_), &now, WSTOPPED | WEXITED | WNOWAIT) != 0) fail("waitid");
  if (now.si_code != CLD_STOPPED) throw std::runtime_error{"a child process ended instead of stopping"};
}

void child::resume() { signal(SIGCONT); }

void child::kill() noexcept {
  if (ending_) return;
  int status = 0;
  ::kill(pid_, SIGKILL);
  if (::waitpid(pid_, &status, 0) == pid_) ending_ = ending_of(status);
}

bool child::has_ended() {
  int status = 0;
  if (!ending_ && ::waitpid(pid_, &status, WNOHANG) == pid_) ending_ = ending_of(status);
  return ending_.has_value();
}

std::optional<ending> child::wait(std::chrono::steady_clock::duration within) {
  static_cast<void>(eventually(within, [&] { return has_ended(); }));
  return ending_;
}

bool is_alive(pid_t pid) {
  const auto state = state_of(pid);
  return state != '\0' && state != 'Z' && state != 'X';
}

char state_of(pid_t pid) { return stat_of(pid).state; }

pid_t parent_of(pid_t pid) { return stat_of(pid).parent; }

}  // namespace rowlock::test
