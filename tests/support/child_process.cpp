#include "support/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

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

std::vector<std::string> words_for(std::string_view role, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"rowlock_process_tests", "--role", std::string{role}};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

/// The exit status, or 128 and the signal.
int code_of(const ending& e) { return e.by_signal ? 128 + e.number : e.number; }

}  // namespace

child_process::child_process(std::string_view role, const std::vector<std::string>& arguments)
    : child_process{words_for(role, arguments), make_pipe(), make_pipe()} {}

child_process::child_process(std::vector<std::string> words, pipe_ends to, pipe_ends from)
    : child_{start(std::move(words), to[0], from[1])}, input_{to[1]}, output_{from[0]} {
  ::close(to[0]);
  ::close(from[1]);
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

std::optional<int> child_process::wait() {
  close_input();
  const auto end = child_.wait();
  return end ? std::optional{code_of(*end)} : std::nullopt;
}

void child_process::close_input() noexcept {
  if (input_ >= 0) ::close(input_);
  input_ = -1;
}

std::optional<int> wait_for(pid_t pid) {
  const auto end = child{pid}.wait();
  return end ? std::optional{code_of(*end)} : std::nullopt;
}

}  // namespace rowlock::test
