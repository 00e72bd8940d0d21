#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rowlock::test {

/// Encodes everything but letters, digits, and what else `kept` says.
std::string percent_encoded(std::string_view text, std::string_view kept = "_-.");
/// nullopt where a '%' is not followed by two hex digits, or by 00.
std::optional<std::string> percent_decoded(std::string_view text);

/// What is before the first `mark` and what is after it; all and nothing where there is none.
std::pair<std::string_view, std::string_view> cut(std::string_view text, std::string_view mark);

/// The URL of an SQLite file, as client::connect reads it.
std::string sqlite_url(std::string_view path);

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

/// Throws std::invalid_argument, which repeats nothing but the scheme: an unescaped '/', '@' or ':' in the password
/// would pass for another part of the URL.
server_address parse_address(std::string_view url);

/// The one in that variable of the environment, which must be set.
server_address address_in(const char* variable);

}  // namespace rowlock::test
