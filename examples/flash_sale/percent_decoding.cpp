#include "percent_decoding.hpp"

namespace flash_sale {
namespace {

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

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    const auto byte = decode_byte(text.substr(at));
    if (!byte) return std::nullopt;
    decoded += *byte;
    at += 2;
  }
  return decoded;
}

}  // namespace flash_sale
