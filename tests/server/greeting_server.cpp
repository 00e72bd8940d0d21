#include "server/greeting_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace rowlock::test {

namespace {

bool is_readable(int descriptor, const std::stop_token& stop) {
  pollfd one{.fd = descriptor, .events = POLLIN, .revents = 0};
  while (!stop.stop_requested())
    if (::poll(&one, 1, 10) > 0) return true;
  return false;
}

}  // namespace

void greeting_server::line::say(std::string_view bytes) const {
  static_cast<void>(::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

std::string greeting_server::line::hear() const {
  std::array<char, 4096> heard{};
  if (!is_readable(descriptor_, stop_)) return {};
  const auto size = ::recv(descriptor_, heard.data(), heard.size(), 0);
  return {heard.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

greeting_server::greeting_server(std::function<void(const line&)> play)
    : play_{std::move(play)}, listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);  // NOLINT: the sockets' interface is that of C
  if (listener_ < 0 || ::bind(listener_, generic, size) != 0 || ::listen(listener_, 1) != 0 ||
      ::getsockname(listener_, generic, &size) != 0)
    throw std::system_error{errno, std::generic_category(), "a listening socket"};
  port_ = ::ntohs(address.sin_port);
  thread_ = std::jthread{[this](const std::stop_token& stop) { serve(stop); }};
}

greeting_server::~greeting_server() {
  thread_.request_stop();
  thread_.join();
  ::close(listener_);
}

void greeting_server::serve(const std::stop_token& stop) const {
  if (!is_readable(listener_, stop)) return;
  const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  play_({client, stop});
  ::close(client);
}

}  // namespace rowlock::test
