#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace rowlock::test {

/// Takes one client, and plays a server for it, whose words are a test's.
class greeting_server {
 public:
  class line {
   public:
    line(int descriptor, std::stop_token stop) : descriptor_{descriptor}, stop_{std::move(stop)} {}

    void say(std::string_view bytes) const;
    /// What the client says next; empty where it has gone.
    std::string hear() const;

   private:
    int descriptor_;
    std::stop_token stop_;
  };

  explicit greeting_server(std::function<void(const line&)> play);
  greeting_server(const greeting_server&) = delete;
  greeting_server& operator=(const greeting_server&) = delete;
  ~greeting_server();

  std::uint16_t port() const noexcept { return port_; }

 private:
  void serve(const std::stop_token& stop) const;

  std::function<void(const line&)> play_;
  int listener_;
  std::uint16_t port_ = 0;
  std::jthread thread_;
};

}  // namespace rowlock::test
