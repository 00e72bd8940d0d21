#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>

#include "testkit/file_descriptor.hpp"

// TCP on this host alone.

namespace rowlock::test {

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return out;
}

/// Returns whether that succeeded; errno has the reason.
inline bool connect(const file_descriptor& socket, const sockaddr_in& to) {
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
}

inline file_descriptor tcp_socket(int flags = 0) {
  return file_descriptor{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0)};
}

/// Listens on a free port.
inline file_descriptor listening_socket(int backlog = SOMAXCONN, int flags = 0) {
  auto out = tcp_socket(flags);
  const auto any = loopback(0);
  if (::bind(out.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 || ::listen(out.get(), backlog) != 0)
    throw std::system_error{errno, std::generic_category(), "listen"};
  return out;
}

inline std::uint16_t port_of(const file_descriptor& socket) {
  sockaddr_in at{};
  socklen_t size = sizeof at;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&at), &size);
  return ntohs(at.sin_port);
}

inline bool is_readable_within(const file_descriptor& socket, std::chrono::milliseconds time) {
  pollfd one{.fd = socket.get(), .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, static_cast<int>(time.count())) == 1;
}

}  // namespace rowlock::test
