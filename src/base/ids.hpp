#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace rowlock::inline v1::base {

/// 16 hexadecimal digits from the operating system's randomness, so that parent and child of a fork differ.
std::string random_id();

/// Of this host, as the operating system has it: bytes of any kind.
std::string host_name();

/// application:host:pid:id, at most 255 bytes. What is not UTF-8 in `host` becomes "?".
std::string owner_id(std::string_view application, std::string_view host, std::string_view id);

/// Ids of attempts: 32 hexadecimal digits, the client's random id and a count. Unique, and cheap enough to make one for
/// every attempt.
class attempt_ids {
 public:
  using digits = std::array<char, 32>;

  /// `client` as random_id() makes it.
  explicit attempt_ids(std::string client) : client_{std::move(client)} {}
  digits next() noexcept;
  bool made(std::string_view id) const noexcept { return id.starts_with(client_); }

 private:
  std::string client_;
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace rowlock::inline v1::base
