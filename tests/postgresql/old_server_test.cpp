#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "postgresql/server_test.hpp"

namespace rowlock::test {
namespace {

/// Greets one client as a PostgreSQL server of some version does, and then listens to it until it goes.
class greeting_server {
 public:
  explicit greeting_server(std::string version) : version_{std::move(version)} {
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
  greeting_server(const greeting_server&) = delete;
  greeting_server& operator=(const greeting_server&) = delete;
  ~greeting_server() {
    thread_.request_stop();
    thread_.join();
    ::close(listener_);
  }

  std::string url() const {
    return "postgresql://somebody@127.0.0.1:" + std::to_string(port_) + "/some?sslmode=disable&gssencmode=disable";
  }

 private:
  static bool is_readable(int descriptor, const std::stop_token& stop) {
    pollfd one{.fd = descriptor, .events = POLLIN, .revents = 0};
    while (!stop.stop_requested())
      if (::poll(&one, 1, 10) > 0) return true;
    return false;
  }

  static void say(int to, char type, std::string_view body) {
    const std::uint32_t size = ::htonl(static_cast<std::uint32_t>(body.size() + sizeof size));
    std::string message(1, type);
    message.append(reinterpret_cast<const char*>(&size), sizeof size);  // NOLINT: bytes for the network
    message.append(body);
    EXPECT_EQ(::send(to, message.data(), message.size(), MSG_NOSIGNAL), static_cast<ssize_t>(message.size()));
  }

  void serve(const std::stop_token& stop) const {
    using namespace std::string_literals;
    if (!is_readable(listener_, stop)) return;
    const int client = ::accept(listener_, nullptr, nullptr);
    std::array<char, 4096> heard{};
    if (is_readable(client, stop) && ::recv(client, heard.data(), heard.size(), 0) > 0) {
      say(client, 'R', "\0\0\0\0"s);  // no password is asked for
      say(client, 'S', "server_version\0"s + version_ + "\0"s);
      say(client, 'S', "client_encoding\0UTF8\0"s);
      say(client, 'Z', "I");
      while (is_readable(client, stop) && ::recv(client, heard.data(), heard.size(), 0) > 0) {
      }
    }
    ::close(client);
  }

  std::string version_;
  int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::uint16_t port_ = 0;
  std::jthread thread_;
};

TEST(old_server, is_refused_with_a_sentence) {
  const greeting_server old{"12.22"};
  const auto e = error_of([&] {
    client::connect(old.url(), {.observer = silent()}).close();
    return true;
  });
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::unsupported);
  EXPECT_TRUE(mentions(e, "version 12")) << e->what();
  EXPECT_TRUE(mentions(e, "13 or newer")) << e->what();
}

class plain_server : public server_test {};

TEST_F(plain_server, is_refused_where_encryption_is_asked_for) {
  if (db().text("SHOW ssl") == "on") GTEST_SKIP() << "this server encrypts";
  for (const auto* mode : {"require", "verify-ca", "verify-full"}) {
    const auto e = error_of([&] {
      connect_to(db().url() + "?sslmode=" + mode).close();
      return true;
    });
    ASSERT_TRUE(e.has_value()) << mode;
    EXPECT_EQ(e->code(), errc::connection_failed) << e->what();
  }
}

}  // namespace
}  // namespace rowlock::test
