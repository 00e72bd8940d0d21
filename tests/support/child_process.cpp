#include "support/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "support/eventually.hpp"

namespace rowlock::test {

namespace {

[[noreturn]] void fail(int code, const char* what) { throw std::system_error{code, std::generic_category(), what}; }

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail(errno, "pipe2");
  return ends;
}

pid_t start(std::vector<std::string> words, int input, int output) {
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t pid = -1;
  const int code = ::posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) fail(code, "posix_spawn");
  return pid;
}

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

std::optional<int> poll_status(pid_t pid) {
  int status = 0;
  if (::waitpid(pid, &status, WNOHANG) != pid) return std::nullopt;
  return code_of(status);
}

}  // namespace

child_process::child_process(std::string_view role, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"rowlock_process_tests", "--role", std::string{role}};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const auto to = make_pipe();
  const auto from = make_pipe();
  pid_ = start(std::move(words), to[0], from[1]);
  ::close(to[0]);
  ::close(from[1]);
  input_ = to[1];
  output_ = from[0];
}

child_process::~child_process() {
  kill();
  close_input();
  ::close(output_);
}

void child_process::send(std::string_view line) const {
  const auto text = std::string{line} + "\n";
  if (::write(input_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) fail(errno, "write");
}

std::string child_process::read_line() {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    if (const auto end = unread_.find('\n'); end != std::string::npos) {
      auto line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd readable{.fd = output_, .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || ::poll(&readable, 1, static_cast<int>(left.count())) == 0)
      throw std::runtime_error{"the child process says nothing"};
    std::array<char, 4096> buffer{};
    const auto size = ::read(output_, buffer.data(), buffer.size());
    if (size == 0) throw std::runtime_error{"the child process has ended; unread: " + unread_};
    if (size < 0 && errno != EINTR) fail(errno, "read");
    if (size > 0) unread_.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

void child_process::expect(std::string_view line) {
  if (const auto said = read_line(); said != line)
    throw std::runtime_error{"the child process said '" + said + "' instead of '" + std::string{line} + "'"};
}

void child_process::signal(int number) {
  if (!status_ && ::kill(pid_, number) != 0) fail(errno, "kill");
}

void child_process::pause() {
  signal(SIGSTOP);
  int status = 0;
  if (::waitpid(pid_, &status, WUNTRACED) != pid_ || !WIFSTOPPED(status)) fail(errno, "waitpid");
}

void child_process::resume() { signal(SIGCONT); }

void child_process::kill() {
  if (status_) return;
  int status = 0;
  ::kill(pid_, SIGKILL);
  if (::waitpid(pid_, &status, 0) == pid_) status_ = code_of(status);
}

std::optional<int> child_process::wait() {
  close_input();
  static_cast<void>(eventually([&] { return status_ || (status_ = poll_status(pid_)); }));
  return status_;
}

void child_process::close_input() noexcept {
  if (input_ >= 0) ::close(input_);
  input_ = -1;
}

std::optional<int> wait_for(pid_t pid) {
  std::optional<int> status;
  if (eventually([&] { return (status = poll_status(pid)).has_value(); })) return status;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return std::nullopt;
}

}  // namespace rowlock::test
