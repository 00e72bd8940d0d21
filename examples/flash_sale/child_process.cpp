#include "child_process.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

namespace flash_sale {
namespace {

void check(int code, const char* what) {
  if (code != 0) throw std::system_error{code, std::generic_category(), what};
}

struct pipe_ends {
  file_descriptor read;
  file_descriptor write;
};

pipe_ends open_pipe() {
  std::array<int, 2> ends{};
  check(::pipe2(ends.data(), O_CLOEXEC) == 0 ? 0 : errno, "pipe");
  return {file_descriptor{ends[0]}, file_descriptor{ends[1]}};
}

/// What the child begins with: its two ends of the pipes, and its signals as if started from a shell.
class beginnings {
 public:
  beginnings(int input, int output) {
    check(posix_spawn_file_actions_init(&files), "posix_spawn");
    check(posix_spawnattr_init(&attributes), "posix_spawn");
    check(posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO), "posix_spawn");
    check(posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO), "posix_spawn");
    sigset_t none;
    sigemptyset(&none);
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    check(posix_spawnattr_setsigmask(&attributes, &none), "posix_spawn");
    check(posix_spawnattr_setsigdefault(&attributes, &pipe), "posix_spawn");
    check(posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF), "posix_spawn");
  }
  beginnings(const beginnings&) = delete;
  beginnings& operator=(const beginnings&) = delete;
  ~beginnings() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }

  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};
};

std::string in_words(int status) {
  if (!WIFSIGNALED(status)) return fmt::format("exit status {}", WEXITSTATUS(status));
  return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
}

/// Whether it ended within that time.
bool ends_within(pid_t id, std::chrono::milliseconds patience) {
  using clock = std::chrono::steady_clock;
  for (const auto until = clock::now() + patience; clock::now() < until;) {
    if (::waitpid(id, nullptr, WNOHANG) != 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  return false;
}

}  // namespace

child_process::child_process(const char* argument) {
  auto to_child = open_pipe();
  auto from_child = open_pipe();
  beginnings begin{to_child.read.get(), from_child.write.get()};
  std::string program = "flash_sale";
  std::string only{argument};
  std::array<char*, 3> arguments{program.data(), only.data(), nullptr};
  check(::posix_spawn(&id_, "/proc/self/exe", &begin.files, &begin.attributes, arguments.data(), environ),
        "starting a worker");
  input_ = std::move(to_child.write);
  output_ = std::move(from_child.read);
}

child_process::child_process(child_process&& other) noexcept
    : id_{std::exchange(other.id_, -1)}, input_{std::move(other.input_)}, output_{std::move(other.output_)} {}

child_process::~child_process() {
  if (id_ < 0) return;
  stop();
  if (ends_within(id_, std::chrono::seconds{2})) return;
  ::kill(id_, SIGKILL);
  ::waitpid(id_, nullptr, 0);
}

void child_process::write(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto count = ::write(input_.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

bool child_process::read(std::string& into) const {
  std::array<char, 65536> buffer;
  const auto count = ::read(output(), buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return true;
  if (count < 0) throw std::system_error{errno, std::generic_category(), "reading from a worker"};
  into.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0;
}

void child_process::pause() {
  check(::kill(id_, SIGSTOP) == 0 ? 0 : errno, "pausing a worker");
  int status = 0;
  while (::waitpid(id_, &status, WUNTRACED) < 0) check(errno == EINTR ? 0 : errno, "waiting for a worker");
  if (WIFSTOPPED(status)) return;
  id_ = -1;
  throw std::runtime_error{"a worker died instead of standing still: " + in_words(status)};
}

void child_process::resume() const noexcept {
  if (id_ >= 0) ::kill(id_, SIGCONT);
}

void child_process::stop() const noexcept {
  if (id_ < 0) return;
  ::kill(id_, SIGTERM);
  resume();
}

std::string child_process::wait() {
  int status = 0;
  while (::waitpid(id_, &status, 0) < 0)
    if (errno != EINTR) throw std::system_error{errno, std::generic_category(), "waiting for a worker"};
  id_ = -1;
  return in_words(status);
}

}  // namespace flash_sale
