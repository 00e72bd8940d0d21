#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "support/loopback.hpp"

namespace rowlock::test {

/// Takes one client, and plays a server for it, whose words are a test's.
class greeting_server {
 public:
  class line {
   public:
    line(file_descriptor socket, std::stop_token stop) : socket_{std::move(socket)}, stop_{std::move(stop)} {}

    void say(std::string_view bytes) const;
    /// What the client says next; empty where it has gone.
    std::string hear() const;

   private:
    file_descriptor socket_;
    std::stop_token stop_;
  };

  explicit greeting_server(std::function<void(const line&)> play) : play_{std::move(play)} {}
  greeting_server(const greeting_server&) = delete;
  greeting_server& operator=(const greeting_server&) = delete;

  std::uint16_t port() const { return port_of(listener_); }

 private:
  void serve(const std::stop_token& stop) const;

  std::function<void(const line&)> play_;
  file_descriptor listener_ = listening_socket(1);
  std::jthread thread_{[this](const std::stop_token& stop) { serve(stop); }};
};

}  // namespace rowlock::test
