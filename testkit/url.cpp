#include "testkit/url.hpp"

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <stdexcept>

namespace rowlock::test {

namespace {

[[noreturn]] void refuse(std::string_view scheme) {
  throw std::invalid_argument{"this URL cannot be read: write " + std::string{scheme} +
                              "://user:password@host:port/database, with %XX for characters that mean something in a "
                              "URL"};
}

/// The whole text must be one number.
template <class Number>
std::optional<Number> number_in(std::string_view text, int base) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string decoded(std::string_view text, std::string_view scheme) {
  auto plain = percent_decoded(text);
  if (!plain) refuse(scheme);
  return *std::move(plain);
}

void read_place(server_address& to, std::string_view text) {
  const bool is_in_brackets = text.starts_with('[');
  const auto [host, rest] = cut(is_in_brackets ? text.substr(1) : text, is_in_brackets ? "]" : ":");
  const auto port = is_in_brackets ? cut(rest, ":").second : rest;
  to.host = decoded(host, to.scheme);
  if (port.empty()) return;
  to.port = number_in<std::uint16_t>(port, 10);
  if (to.port.value_or(0) == 0) refuse(to.scheme);
}

}  // namespace

std::string percent_encoded(std::string_view text, std::string_view kept) {
  constexpr const char* digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || kept.find(c) != std::string_view::npos)
      out += c;
    else
      out.append(1, '%').append(1, digits[byte >> 4U]).append(1, digits[byte & 15U]);
  }
  return out;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at];
      continue;
    }
    const auto digits = text.substr(at + 1, 2);
    const auto byte = number_in<unsigned char>(digits, 16);
    if (digits.size() != 2 || !byte || *byte == 0) return std::nullopt;
    out += static_cast<char>(*byte);
    at += 2;
  }
  return out;
}

std::pair<std::string_view, std::string_view> cut(std::string_view text, std::string_view mark) {
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + mark.size())};
}

std::string sqlite_url(std::string_view path) {
  std::string url{"sqlite:"};
  for (const char each : path) {
    if (each == '?' || each == '#' || each == '%')
      url += percent_encoded({&each, 1});
    else
      url += each;
  }
  return url;
}

std::string server_address::url() const {
  auto out = scheme + "://" + percent_encoded(user);
  if (!password.empty()) out += ":" + percent_encoded(password);
  out += "@" + (host.find(':') == std::string::npos ? percent_encoded(host) : "[" + host + "]");
  if (port) out += ":" + std::to_string(*port);
  out += "/" + percent_encoded(database);
  return options.empty() ? out : out + "?" + options;
}

server_address parse_address(std::string_view url) {
  server_address out;
  const auto [scheme, rest] = cut(url, "://");
  out.scheme = scheme;
  if (scheme.size() == url.size()) refuse("scheme");
  const auto [address, options] = cut(rest, "?");
  out.options = options;
  const auto [authority, database] = cut(address, "/");
  out.database = decoded(database, scheme);
  const auto at = authority.rfind('@');
  if (at == std::string_view::npos) {
    read_place(out, authority);
    return out;
  }
  const auto [user, password] = cut(authority.substr(0, at), ":");
  out.user = decoded(user, scheme);
  out.password = decoded(password, scheme);
  read_place(out, authority.substr(at + 1));
  return out;
}

server_address address_in(const char* variable) {
  const char* found = std::getenv(variable);
  if (found == nullptr || *found == '\0')
    throw std::runtime_error{std::string{variable} + " is not set: run the tests by ./test.sh, which starts servers"};
  return parse_address(found);
}

}  // namespace rowlock::test
