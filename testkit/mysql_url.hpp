#pragma once

#include <cstdint>
#include <string>

#include "testkit/url.hpp"

namespace rowlock::test {

/// As MySQL's own programs name and number them; those that need no files.
enum class ssl_mode : std::uint8_t { disabled = 1, preferred, required };

struct mysql_address {
  server_address server;
  ssl_mode encryption = ssl_mode::preferred;
};

/// Throws std::invalid_argument.
mysql_address read_mysql_url(const std::string& url);

}  // namespace rowlock::test
