#include "support/server_address.hpp"

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <stdexcept>

namespace rowlock::test {

namespace {

std::string encoded(const std::string& text) {
  constexpr const char* digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '_' || c == '-' || c == '.')
      out += c;
    else
      out.append(1, '%').append(1, digits[byte >> 4U]).append(1, digits[byte & 15U]);
  }
  return out;
}

std::string decoded(std::string_view text) {
  std::string out;
  for (; !text.empty(); text.remove_prefix(1)) {
    unsigned byte = 0;
    const bool is_encoded =
        text[0] == '%' && text.size() >= 3 && std::from_chars(&text[1], &text[1] + 2, byte, 16).ptr == &text[1] + 2;
    out += is_encoded ? static_cast<char>(byte) : text[0];
    if (is_encoded) text.remove_prefix(2);
  }
  return out;
}

/// What stands before the mark; all of it where there is none. The text keeps what stands behind it.
std::string_view cut(std::string_view& text, std::string_view mark) {
  const auto at = text.find(mark);
  const auto out = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view{} : text.substr(at + mark.size());
  return out;
}

}  // namespace

std::string server_address::url() const {
  auto out = scheme + "://" + encoded(user);
  if (!password.empty()) out += ":" + encoded(password);
  out += "@" + (host.find(':') == std::string::npos ? encoded(host) : "[" + host + "]");
  if (port) out += ":" + std::to_string(*port);
  out += "/" + encoded(database);
  return options.empty() ? out : out + "?" + options;
}

server_address parse_address(std::string_view url) {
  server_address out;
  auto rest = url;
  out.scheme = cut(rest, "://");
  auto place = cut(rest, "?");
  out.options = rest;
  auto server = cut(place, "/");
  out.database = decoded(place);
  if (out.scheme.size() == url.size() || server.find('@') == std::string_view::npos)
    throw std::runtime_error{"an address of a server is scheme://user:password@host:port/database"};
  auto role = cut(server, "@");
  out.user = decoded(cut(role, ":"));
  out.password = decoded(role);
  const bool is_in_brackets = server.starts_with('[');
  if (is_in_brackets) server.remove_prefix(1);
  out.host = decoded(cut(server, is_in_brackets ? "]" : ":"));
  if (is_in_brackets) static_cast<void>(cut(server, ":"));
  if (!server.empty()) out.port = static_cast<std::uint16_t>(std::stoi(std::string{server}));
  return out;
}

server_address address_in(const char* variable) {
  const char* found = std::getenv(variable);
  if (found == nullptr || *found == '\0')
    throw std::runtime_error{std::string{variable} + " is not set: run the tests by ./test.sh, which starts servers"};
  return parse_address(found);
}

}  // namespace rowlock::test
