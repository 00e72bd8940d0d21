#pragma once

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string>

namespace rowlock::test {

/// Lines from one process to another.
class channel {
 public:
  channel() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw std::runtime_error{"no pipe"};
  }
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  ~channel() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }

  void send(const std::string& text) const {
    const auto line = text + "\n";
    if (::write(ends_[1], line.data(), line.size()) != static_cast<ssize_t>(line.size()))
      throw std::runtime_error{"nothing was written"};
  }
  /// Empty if no line arrives in time.
  std::string receive() const {
    std::string line;
    char c = 0;
    pollfd readable{.fd = ends_[0], .events = POLLIN, .revents = 0};
    while (::poll(&readable, 1, 30'000) == 1 && ::read(ends_[0], &c, 1) == 1 && c != '\n') line += c;
    return line;
  }

 private:
  std::array<int, 2> ends_{};
};

}  // namespace rowlock::test
