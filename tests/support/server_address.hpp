#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rowlock::test {

/// `scheme://user:password@host:port/database?options`, taken apart and decoded; the options as they stand there.
struct server_address {
  std::string scheme{};
  std::string user{};
  std::string password{};
  std::string host{};
  std::optional<std::uint16_t> port{};
  std::string database{};
  std::string options{};

  std::string url() const;
};

/// Throws std::runtime_error, without repeating what may have a password in it.
server_address parse_address(std::string_view url);

/// The one in that variable of the environment, which must be set.
server_address address_in(const char* variable);

}  // namespace rowlock::test
