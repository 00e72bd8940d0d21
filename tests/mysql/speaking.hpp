#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// What a MySQL server says, byte by byte, for a greeting_server.
namespace rowlock::test {

using namespace std::string_literals;

inline std::string packet(std::size_t number, const std::string& body) {
  std::string out;
  for (const auto byte : {body.size() & 255U, body.size() >> 8U & 255U, std::size_t{0}, number})
    out += static_cast<char>(byte);
  return out + body;
}

/// A text with its length.
inline std::string sized(const std::string& of) { return static_cast<char>(of.size()) + of; }

enum class offers : std::uint8_t { plain, tls };

/// Protocol 10, with what every client knows.
inline std::string greeting(const std::string& version, offers what = offers::plain) {
  const auto salt = "12345678"s;
  const auto more_salt = "123456789012\0"s;
  return packet(0, "\x0A"s + version + "\0\1\0\0\0"s + salt + "\0"s +
                       (what == offers::tls ? "\xFF\xFF"s : "\xFF\xF7"s) + "\x21\2\0"s + "\x0F\0"s + "\x15"s +
                       std::string(10, '\0') + more_salt + "mysql_native_password\0"s);
}

/// Instead of a greeting.
inline std::string refusal(std::uint16_t code, const std::string& message) {
  return packet(0, "\xFF"s + static_cast<char>(code & 255U) + static_cast<char>(code >> 8U) + message);
}

inline std::string done(std::size_t number) { return packet(number, "\0\0\0\2\0\0\0"s); }

/// The answer to a query.
inline std::string table(const std::vector<std::vector<std::string>>& rows) {
  const auto mark = "\xFE\0\0\2\0"s;
  std::size_t number = 0;
  std::string out = packet(++number, std::string(1, static_cast<char>(rows.at(0).size())));
  for (std::size_t i = 0; i < rows[0].size(); ++i)
    out += packet(++number, sized("def") + sized("") + sized("") + sized("") + sized("some") + sized("") +
                                "\x0C\x21\0\xFF\0\0\0\xFD\0\0\0\0\0"s);
  out += packet(++number, mark);
  for (const auto& row : rows) {
    std::string values;
    for (const auto& value : row) values += sized(value);
    out += packet(++number, values);
  }
  return out + packet(++number, mark);
}

}  // namespace rowlock::test
