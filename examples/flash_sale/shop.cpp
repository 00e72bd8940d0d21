#include "shop.hpp"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>

#ifdef ROWLOCK_WITH_POSTGRESQL
#include "postgresql_shop.hpp"
#endif
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

#ifdef ROWLOCK_WITH_POSTGRESQL
constexpr const char* databases = "SQLite and PostgreSQL only: write --database sqlite:PATH or postgresql://...";
#else
constexpr const char* databases = "SQLite only: write --database sqlite:PATH";
#endif

/// Only the scheme is repeated: the rest may hold a password.
[[noreturn]] void refuse_scheme(const std::string& url) {
  const auto colon = url.find(':');
  const auto instead =
      colon == std::string::npos ? std::string{} : fmt::format(" instead of {}:", url.substr(0, colon));
  throw std::invalid_argument{fmt::format("this build sells from {}{}", databases, instead)};
}

#ifdef ROWLOCK_WITH_POSTGRESQL
bool is_postgresql(const std::string& url) { return url.starts_with("postgresql:") || url.starts_with("postgres:"); }
#endif

std::string sqlite_path(const std::string& url) {
  if (!url.starts_with(sqlite_scheme)) refuse_scheme(url);
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
#ifdef ROWLOCK_WITH_POSTGRESQL
  if (is_postgresql(url)) {
    check_postgresql_url(url);
    return {url, url};
  }
#endif
  (void)sqlite_path(url);
  // A write transaction of the application would hold up every renewal in the same file.
  return {url, url + "-locks"};
}

std::unique_ptr<shop> open_shop(const std::string& url) {
#ifdef ROWLOCK_WITH_POSTGRESQL
  if (is_postgresql(url)) return std::make_unique<postgresql_shop>(url);
#endif
  return std::make_unique<sqlite_shop>(sqlite_path(url));
}

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
