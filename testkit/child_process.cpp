#include "testkit/child_process.hpp"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace rowlock::test {

namespace {

constexpr std::string_view role_option = "--role";

void check(int code, const char* what) {
  if (code != 0) throw std::system_error{code, std::generic_category(), what};
}

/// What the child begins with: its end of the sockets, and no signal blocked, or ignored for this process's sake.
class beginnings {
 public:
  explicit beginnings(int socket) {
    check(posix_spawn_file_actions_init(&files), "posix_spawn");
    check(posix_spawnattr_init(&attributes), "posix_spawn");
    check(posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO), "posix_spawn");
    check(posix_spawn_file_actions_adddup2(&files, socket, STDOUT_FILENO), "posix_spawn");
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

pid_t start(std::vector<std::string> words, int socket) {
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const beginnings begin{socket};
  pid_t pid = -1;
  check(::posix_spawn(&pid, "/proc/self/exe", &begin.files, &begin.attributes, argv.data(), environ), "posix_spawn");
  return pid;
}

std::vector<std::string> words_for(std::string_view role, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{program_invocation_short_name, std::string{role_option}, std::string{role}};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

/// The exit status, or 128 and the signal.
int code_of(const ending& e) { return e.by_signal ? 128 + e.number : e.number; }

}  // namespace

child_process::child_process(std::string_view name_of_role, const std::vector<std::string>& arguments)
    : child_process{words_for(name_of_role, arguments), make_sockets()} {}

child_process::child_process(std::vector<std::string> words, sockets ends)
    : child_{start(std::move(words), ends.of_child.get())}, socket_{std::move(ends.ours)} {}

// Unlike a pipe, a socket can be written to without SIGPIPE.
child_process::sockets child_process::make_sockets() {
  std::array<int, 2> ends{};
  check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0 ? 0 : errno, "socketpair");
  return {file_descriptor{ends[0]}, file_descriptor{ends[1]}};
}

void child_process::send(std::string_view line) const {
  const auto text = std::string{line} + "\n";
  for (std::string_view left = text; !left.empty();) {
    const auto count = ::send(socket_.get(), left.data(), left.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    left.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::string child_process::read_line(std::chrono::steady_clock::duration within) {
  const auto deadline = std::chrono::steady_clock::now() + within;
  for (;;) {
    if (auto line = next_line()) return *std::move(line);
    if (!is_readable_within(deadline - std::chrono::steady_clock::now()))
      throw std::runtime_error{"the child process says nothing"};
    if (!read_some()) throw std::runtime_error{"the child process has ended; unread: " + unread_};
  }
}

void child_process::expect(std::string_view line) {
  if (const auto said = read_line(); said != line)
    throw std::runtime_error{"the child process said '" + said + "' instead of '" + std::string{line} + "'"};
}

bool child_process::is_readable_within(std::chrono::steady_clock::duration within) const {
  using std::chrono::milliseconds;
  const auto until = std::chrono::steady_clock::now() + within;
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
    pollfd readable{.fd = output(), .events = POLLIN, .revents = 0};
    const int count = ::poll(&readable, 1, static_cast<int>(std::max(left, milliseconds{0}).count()));
    if (count >= 0) return count > 0;
    check(errno == EINTR ? 0 : errno, "poll");
  }
}

bool child_process::read_some() {
  std::array<char, 65536> buffer;
  ssize_t size = 0;
  while ((size = ::read(output(), buffer.data(), buffer.size())) < 0) {
    if (errno == ECONNRESET) return false;  // it has ended, and has not read everything
    check(errno == EINTR ? 0 : errno, "read");
  }
  unread_.append(buffer.data(), static_cast<std::size_t>(size));
  return size > 0;
}

std::optional<std::string> child_process::next_line() {
  const auto end = unread_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  auto line = unread_.substr(0, end);
  unread_.erase(0, end + 1);
  return line;
}

void child_process::close_input() const noexcept { ::shutdown(socket_.get(), SHUT_WR); }

std::optional<ending> child_process::wait_for_end(std::chrono::steady_clock::duration within) {
  close_input();
  return child_.wait(within);
}

std::optional<int> child_process::wait() {
  const auto end = wait_for_end();
  return end ? std::optional{code_of(*end)} : std::nullopt;
}

std::optional<std::string_view> role_of(int argc, const char* const* argv) {
  if (argc < 3 || argv[1] != role_option) return std::nullopt;
  return argv[2];
}

std::optional<int> wait_for(pid_t pid) {
  const auto end = child{pid}.wait();
  return end ? std::optional{code_of(*end)} : std::nullopt;
}

}  // namespace rowlock::test
