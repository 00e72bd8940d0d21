#include "driver/net/new_socket.hpp"

#include <rowlock/error.hpp>

#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <system_error>
#include <vector>

namespace rowlock::inline v1::driver {

namespace {

struct open_socket {
  int number;
  ino_t inode;  // no two sockets have the same inode at one time
};

std::vector<open_socket> sockets() {
  std::vector<open_socket> out;
  std::error_code failure;
  for (std::filesystem::directory_iterator at{"/proc/self/fd", failure}, end; !failure && at != end;
       at.increment(failure)) {
    const std::string name = at->path().filename();
    int number = -1;
    std::from_chars(name.data(), name.data() + name.size(), number);
    struct stat about {};
    if (number >= 0 && fstat(number, &about) == 0 && S_ISSOCK(about.st_mode))
      out.push_back({.number = number, .inode = about.st_ino});
  }
  if (failure)
    throw error{errc::connection_failed,
                "rowlock looks for its sockets in /proc/self/fd, which cannot be read: " + failure.message()};
  return out;
}

union address {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
  sockaddr_storage storage;
};

using name_of_end = int(int, sockaddr*, socklen_t*);

std::optional<address> end_of(int number, name_of_end* which) {
  address out{};
  socklen_t size = sizeof out;
  if (which(number, &out.any, &size) != 0) return std::nullopt;
  return out;
}

std::uint16_t port_of(const address& a) {
  if (a.any.sa_family == AF_INET) return ntohs(a.v4.sin_port);
  if (a.any.sa_family == AF_INET6) return ntohs(a.v6.sin6_port);
  return 0;
}

bool leads_there(int number, const other_end& to) {
  const auto peer = end_of(number, getpeername);
  if (!peer) return false;
  return to.is_local ? peer->any.sa_family == AF_UNIX : port_of(*peer) == to.port;
}

/// Threads that open a connection to the same target do so one after the other. If one takes long, perhaps because the
/// target is silent, the next no longer waits for it: a socket that is there already is not taken for a new one.
/// (clang's thread sanitizer takes the unlocking of a std::timed_mutex for a fault.)
class turn {
 public:
  class use {
   public:
    explicit use(turn& of) : of_{of}, is_mine_{of.take()} {}
    use(const use&) = delete;
    use& operator=(const use&) = delete;
    ~use() {
      if (is_mine_) of_.end();
    }

   private:
    turn& of_;
    const bool is_mine_;
  };

 private:
  bool take() {
    constexpr std::chrono::milliseconds longest{500};
    std::unique_lock lock{mutex_};
    if (!ended_.wait_for(lock, longest, [&] { return !is_taken_; })) return false;
    return is_taken_ = true;
  }
  void end() noexcept {
    {
      const std::lock_guard lock{mutex_};
      is_taken_ = false;
    }
    ended_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_taken_ = false;
};

/// One for each target, kept for ever: targets are few.
struct turns {
  std::mutex guard;
  std::map<std::string, std::unique_ptr<turn>> of;
};

// Never destroyed: threads may be connecting when the program ends.
turns* const all = new turns;

// If a thread has its turn while another thread forks, it does not exist in the child, and nothing would end that turn.
// So all turns are constructed anew, in the same place, because nothing may be allocated here.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { ::new (all) turns; });

turn& turn_for(const std::string& target) {
  const std::lock_guard lock{all->guard};
  auto& found = all->of[target];
  if (!found) found = std::make_unique<turn>();
  return *found;
}

}  // namespace

int open_and_find_socket(const other_end& leads_to, const std::string& target,
                         const std::function<ask_local_port()>& open) {
  constexpr int attempts = 5;
  const turn::use mine{turn_for(target)};
  for (int i = 0; i < attempts; ++i) {
    std::set<ino_t> before;
    for (const auto& s : sockets()) before.insert(s.inode);
    const auto local_port = open();
    auto found = sockets();
    std::erase_if(found, [&](const auto& s) { return before.contains(s.inode) || !leads_there(s.number, leads_to); });
    if (found.size() > 1 && !leads_to.is_local) {
      const auto port = local_port();
      std::erase_if(found, [&](const auto& s) {
        const auto own = end_of(s.number, getsockname);
        return !own || port_of(*own) != port;
      });
    }
    if (found.size() == 1) return found.front().number;
  }
  throw error{
      errc::connection_failed,
      "other threads keep opening connections to the same server, so rowlock cannot tell which socket is its own; try "
      "again later"};
}

}  // namespace rowlock::inline v1::driver
