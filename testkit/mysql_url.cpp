#include "testkit/mysql_url.hpp"

#include <stdexcept>
#include <string_view>

#include "testkit/connection.hpp"

namespace rowlock::test {

namespace {

ssl_mode ssl_mode_of(std::string text) {
  for (char& each : text)
    if (each >= 'a' && each <= 'z') each = static_cast<char>(each - 'a' + 'A');
  if (text == "DISABLED") return ssl_mode::disabled;
  if (text == "PREFERRED") return ssl_mode::preferred;
  if (text == "REQUIRED") return ssl_mode::required;
  throw std::invalid_argument{"ssl-mode is DISABLED, PREFERRED or REQUIRED here"};
}

}  // namespace

mysql_address read_mysql_url(const std::string& url) {
  mysql_address found{.server = parse_address(url)};
  if (found.server.host.empty() || found.server.database.empty())
    throw std::invalid_argument{"this URL has no host or no database: write mysql://user:password@host:port/database"};
  for (std::string_view left = found.server.options; !left.empty();) {
    const auto [option, rest] = cut(left, "&");
    const auto [name, value] = cut(option, "=");
    if (name != "ssl-mode") throw std::invalid_argument{"the only option of a mysql: URL here is ssl-mode"};
    found.encryption = ssl_mode_of(percent_decoded(value).value_or(""));
    left = rest;
  }
  return found;
}

void check_mysql_url(const std::string& url) { (void)read_mysql_url(url); }

}  // namespace rowlock::test
