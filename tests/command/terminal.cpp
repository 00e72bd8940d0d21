#include "command/terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "process/roles.hpp"
#include "testkit/eventually.hpp"

namespace rowlock::test {

namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error{errno, std::generic_category(), what}; }

std::string report_of(int status) {
  if (WIFSTOPPED(status)) return "stopped";
  return WIFEXITED(status) ? "exited " + std::to_string(WEXITSTATUS(status))
                           : "killed " + std::to_string(WTERMSIG(status));
}

bool there_is_an_order() {
  pollfd readable{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return ::poll(&readable, 1, 2) == 1;
}

[[noreturn]] void become_job(int device, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{arguments.begin() + 1, arguments.end()};
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::setpgid(0, 0);
  ::tcsetpgrp(device, ::getpid());
  ::signal(SIGTTOU, SIG_DFL);
  const rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(device, descriptor);
  ::execvp(argv[0], argv.data());
  ::_exit(125);
}

/// job_shell TERMINAL WORD…: leads a session on that terminal and runs the words there in the foreground, with job
/// control. Says the job's process id, then whenever it stops or ends how; "continue" continues it.
int control_job(const std::vector<std::string>& arguments) {
  ::setsid();
  const int device = ::open(arguments.at(0).c_str(), O_RDWR | O_CLOEXEC);  // this session's, from now on
  ::signal(SIGTTOU, SIG_IGN);
  const pid_t job = ::fork();
  if (job == 0) become_job(device, arguments);
  ::setpgid(job, job);
  say(std::to_string(job));
  for (;;) {
    int status = 0;
    if (::waitpid(job, &status, WNOHANG | WUNTRACED) == job) {
      ::tcsetpgrp(device, ::getpid());
      say(report_of(status));
      if (!WIFSTOPPED(status)) return 0;
    }
    if (!there_is_an_order()) continue;
    if (hear() != "continue") return 1;
    ::tcsetpgrp(device, job);
    ::kill(-job, SIGCONT);
  }
}

const role_registration job_shell_role{"job_shell", control_job};

}  // namespace

pseudo_terminal::pseudo_terminal() : master_{::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)} {
  std::array<char, 64> name{};
  if (master_ < 0 || ::grantpt(master_) != 0 || ::unlockpt(master_) != 0 ||
      ::ptsname_r(master_, name.data(), name.size()) != 0)
    fail("pseudo-terminal");
  path_ = name.data();
}

pseudo_terminal::~pseudo_terminal() { ::close(master_); }

void pseudo_terminal::type(std::string_view keys) const {
  if (::write(master_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) fail("write");
}

void pseudo_terminal::resize(int columns, int lines) const {
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = static_cast<unsigned short>(lines);
  if (::ioctl(master_, TIOCSWINSZ, &size) != 0) fail("TIOCSWINSZ");
}

bool pseudo_terminal::is_in_shell_mode() const {
  termios now{};
  if (::tcgetattr(master_, &now) != 0) fail("tcgetattr");
  return (now.c_lflag & (ECHO | ICANON | ISIG)) == (ECHO | ICANON | ISIG);
}

const std::string& pseudo_terminal::screen() {
  pollfd readable{.fd = master_, .events = POLLIN, .revents = 0};
  while (::poll(&readable, 1, 0) == 1 && (readable.revents & POLLIN) != 0) {
    std::array<char, 4096> buffer{};
    const auto size = ::read(master_, buffer.data(), buffer.size());
    if (size <= 0) break;
    screen_.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return screen_;
}

terminal::terminal(const std::vector<std::string>& job, int columns, int lines)
    : shell_{"job_shell", [&] {
               device_.resize(columns, lines);
               std::vector<std::string> arguments{device_.path()};
               arguments.insert(arguments.end(), job.begin(), job.end());
               return arguments;
             }()} {
  job_ = static_cast<pid_t>(std::stol(shell_.read_line()));
}

bool terminal::shows(std::string_view text) {
  return eventually([&] { return screen().find(text) != std::string::npos; });
}

}  // namespace rowlock::test
