#include "server/greeting_server.hpp"

#include <array>
#include <chrono>

namespace rowlock::test {

namespace {

bool is_readable(const file_descriptor& socket, const std::stop_token& stop) {
  while (!stop.stop_requested())
    if (is_readable_within(socket, std::chrono::milliseconds{10})) return true;
  return false;
}

}  // namespace

void greeting_server::line::say(std::string_view bytes) const {
  static_cast<void>(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

std::string greeting_server::line::hear() const {
  std::array<char, 4096> heard{};
  if (!is_readable(socket_, stop_)) return {};
  const auto size = ::recv(socket_.get(), heard.data(), heard.size(), 0);
  return {heard.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

void greeting_server::serve(const std::stop_token& stop) const {
  if (!is_readable(listener_, stop)) return;
  play_({file_descriptor{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)}, stop});
}

}  // namespace rowlock::test
