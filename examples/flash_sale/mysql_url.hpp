#pragma once

#include <cstdint>
#include <string>

namespace flash_sale {

/// As MySQL's own programs name and number them; those that need no files.
enum class ssl_mode : std::uint8_t { disabled = 1, preferred, required };

/// What mysql://user:password@host:port/database?ssl-mode=REQUIRED says.
struct mysql_address {
  std::string user{};
  std::string password{};
  std::string host{};  ///< an IPv6 address in brackets
  int port = 3306;
  std::string database{};
  flash_sale::ssl_mode ssl_mode = ssl_mode::preferred;
};

/// Throws std::invalid_argument, without the URL's password, where it cannot be read.
mysql_address parse_mysql_url(const std::string& url);

}  // namespace flash_sale
