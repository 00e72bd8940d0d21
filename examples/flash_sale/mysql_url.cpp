#include "mysql_url.hpp"

#include <charconv>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "percent_decoding.hpp"

namespace flash_sale {
namespace {

/// Nothing of the URL is repeated: an unescaped '/', '@' or ':' in the password would pass for another part of it.
[[noreturn]] void refuse() {
  throw std::invalid_argument{
      "this URL cannot be read: write mysql://user:password@host:port/database, with %XX for characters that mean "
      "something in a URL"};
}

std::string decoded(std::string_view text) {
  auto plain = percent_decoded(text);
  if (!plain) refuse();
  return *std::move(plain);
}

/// What stands before the first `mark` and what behind it: nothing where there is none.
std::pair<std::string_view, std::string_view> cut(std::string_view text, std::string_view mark) {
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + mark.size())};
}

int parse_port(std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port < 1 || port > 65535) refuse();
  return port;
}

void parse_place(mysql_address& to, std::string_view text) {
  const auto last_of_address = text.starts_with('[') ? text.find(']') : 0;
  if (last_of_address == std::string_view::npos) refuse();
  const auto colon = text.find(':', last_of_address);
  to.host = text.substr(0, colon);
  if (to.host.empty()) refuse();
  if (colon != std::string_view::npos) to.port = parse_port(text.substr(colon + 1));
}

ssl_mode parse_ssl_mode(std::string text) {
  for (char& each : text)
    if (each >= 'a' && each <= 'z') each = static_cast<char>(each - 'a' + 'A');
  if (text == "DISABLED") return ssl_mode::disabled;
  if (text == "PREFERRED") return ssl_mode::preferred;
  if (text == "REQUIRED") return ssl_mode::required;
  throw std::invalid_argument{"ssl-mode is DISABLED, PREFERRED or REQUIRED here"};
}

void parse_options(mysql_address& to, std::string_view text) {
  while (!text.empty()) {
    const auto [option, rest] = cut(text, "&");
    const auto [name, value] = cut(option, "=");
    if (name != "ssl-mode") throw std::invalid_argument{"the only option of a mysql: URL here is ssl-mode"};
    to.ssl_mode = parse_ssl_mode(decoded(value));
    text = rest;
  }
}

}  // namespace

mysql_address parse_mysql_url(const std::string& url) {
  mysql_address parsed;
  const auto [address, options] = cut(cut(url, "://").second, "?");
  const auto [authority, database] = cut(address, "/");
  const auto at = authority.rfind('@');
  if (at != std::string_view::npos) {
    const auto [user, password] = cut(authority.substr(0, at), ":");
    parsed.user = decoded(user);
    parsed.password = decoded(password);
  }
  parse_place(parsed, at == std::string_view::npos ? authority : authority.substr(at + 1));
  parsed.database = decoded(database);
  if (parsed.database.empty()) refuse();
  parse_options(parsed, options);
  return parsed;
}

}  // namespace flash_sale
