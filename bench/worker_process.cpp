#include "worker_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "worker.hpp"

namespace bench {
namespace {

using namespace std::chrono_literals;

void check(int code, const char* what) {
  if (code != 0) throw std::system_error{code, std::generic_category(), what};
}

/// Its standard input and output are that end of a socket.
class beginnings {
 public:
  explicit beginnings(int end) {
    check(posix_spawn_file_actions_init(&files), "posix_spawn");
    check(posix_spawn_file_actions_adddup2(&files, end, STDIN_FILENO), "posix_spawn");
    check(posix_spawn_file_actions_adddup2(&files, end, STDOUT_FILENO), "posix_spawn");
  }
  beginnings(const beginnings&) = delete;
  beginnings& operator=(const beginnings&) = delete;
  ~beginnings() { posix_spawn_file_actions_destroy(&files); }

  posix_spawn_file_actions_t files{};
};

pid_t start(int end) {
  const beginnings begin{end};
  std::string program = "rowlock_bench";
  std::string only = worker_argument;
  std::array<char*, 3> arguments{program.data(), only.data(), nullptr};
  pid_t id = -1;
  check(::posix_spawn(&id, "/proc/self/exe", &begin.files, nullptr, arguments.data(), environ), "starting a worker");
  return id;
}

bool ends_within(pid_t id, std::chrono::milliseconds patience) {
  using clock = std::chrono::steady_clock;
  for (const auto until = clock::now() + patience; clock::now() < until;) {
    if (::waitpid(id, nullptr, WNOHANG) != 0) return true;
    std::this_thread::sleep_for(2ms);
  }
  return false;
}

}  // namespace

worker_process::worker_process(const orders& what) {
  std::array<int, 2> ends{};
  check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0 ? 0 : errno, "socketpair");
  socket_ = ends[0];
  try {
    id_ = start(ends[1]);
  } catch (...) {
    ::close(ends[0]);
    ::close(ends[1]);
    throw;
  }
  ::close(ends[1]);
  tell(to_line(what));
}

// One that waits for a lock does not see that its input has ended.
worker_process::~worker_process() {
  ::close(socket_);
  if (ends_within(id_, 2s)) return;
  ::kill(id_, SIGKILL);
  ::waitpid(id_, nullptr, 0);
}

void worker_process::stop() const noexcept { ::shutdown(socket_, SHUT_WR); }

// Where it has died nothing happens: its answer will be missing.
void worker_process::tell(std::string_view what) const {
  const std::string line = std::string{what} + '\n';
  for (std::string_view left = line; !left.empty();) {
    const auto count = ::send(socket_, left.data(), left.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    left.remove_prefix(static_cast<std::size_t>(count));
  }
}

answer worker_process::hear() {
  auto end = unread_.find('\n');
  for (; end == std::string::npos; end = unread_.find('\n')) {
    if (!can_read_within(60s)) throw std::runtime_error{"a worker says nothing any more"};
    read_more();
  }
  auto heard = nlohmann::json::parse(unread_.substr(0, end)).get<answer>();
  unread_.erase(0, end + 1);
  if (!heard.error.empty()) throw std::runtime_error{"a worker failed: " + heard.error};
  return heard;
}

void worker_process::stay_silent_for(std::chrono::milliseconds length) {
  if (!can_read_within(length)) return;
  (void)hear();
  throw std::runtime_error{"a worker did not wait for its lock"};
}

bool worker_process::can_read_within(std::chrono::milliseconds patience) const {
  using clock = std::chrono::steady_clock;
  const auto until = clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
    pollfd watched{.fd = socket_, .events = POLLIN, .revents = 0};
    const int count = ::poll(&watched, 1, static_cast<int>(std::max(left, 0ms).count()));
    if (count < 0 && errno == EINTR) continue;
    check(count < 0 ? errno : 0, "poll");
    return count > 0;
  }
}

void worker_process::read_more() {
  std::array<char, 65536> buffer;
  const auto count = ::read(socket_, buffer.data(), buffer.size());
  if (count == 0 || (count < 0 && errno == ECONNRESET)) throw std::runtime_error{"a worker died"};
  if (count < 0 && errno != EINTR) check(errno, "reading from a worker");
  if (count > 0) unread_.append(buffer.data(), static_cast<std::size_t>(count));
}

}  // namespace bench
