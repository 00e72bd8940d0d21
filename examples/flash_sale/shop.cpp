#include "shop.hpp"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>

#include "sqlite_shop.hpp"

namespace flash_sale {
namespace {

constexpr std::string_view sqlite_scheme = "sqlite:";

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

std::optional<char> decode_byte(std::string_view escape) {
  if (escape.size() < 3) return std::nullopt;
  const int high = hex_value(escape[1]);
  const int low = hex_value(escape[2]);
  if (high < 0 || low < 0 || high + low == 0) return std::nullopt;
  return static_cast<char>(high * 16 + low);
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    const auto byte = decode_byte(text.substr(at));
    if (!byte) throw std::invalid_argument{fmt::format("\"{}\": '%' must be followed by two hex digits, not 00", text)};
    decoded += *byte;
    at += 2;
  }
  return decoded;
}

std::string sqlite_path(const std::string& url) {
  if (!url.starts_with(sqlite_scheme))
    throw std::invalid_argument{
        fmt::format("this build sells from SQLite only: write --database sqlite:PATH instead of \"{}\"",
                    url.substr(0, url.find(':')))};
  auto path = std::string_view{url}.substr(sqlite_scheme.size());
  if (path.starts_with("///")) path.remove_prefix(2);
  if (path.starts_with("//")) throw std::invalid_argument{"an sqlite: URL names no host: write --database sqlite:PATH"};
  if (path.empty()) throw std::invalid_argument{"the path is missing: write --database sqlite:PATH"};
  if (path.starts_with(':'))
    throw std::invalid_argument{"several processes cannot share a database in memory: write --database sqlite:PATH"};
  if (path.find_first_of("?#") != std::string_view::npos)
    throw std::invalid_argument{fmt::format("\"{}\": percent-encode '?' and '#' in a path", path)};
  return percent_decoded(path);
}

}  // namespace

database parse_database(const std::string& url) {
  (void)sqlite_path(url);
  // A write transaction of the application would hold up every renewal in the same file.
  return {url, url + "-locks"};
}

std::unique_ptr<shop> open_shop(const std::string& url) { return std::make_unique<sqlite_shop>(sqlite_path(url)); }

std::string sqlite_url(std::string_view path) {
  std::string url{sqlite_scheme};
  for (const char each : path) {
    if (each == '?' || each == '#' || each == '%')
      url += fmt::format("%{:02X}", static_cast<unsigned char>(each));
    else
      url += each;
  }
  return url;
}

}  // namespace flash_sale
