#include "command/printable.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace rowlock::command {

namespace {

// U+0080 to U+009F are control characters too; in UTF-8 they are C2 80 to C2 9F.
bool is_control(std::string_view text, std::size_t at) {
  const auto c = static_cast<unsigned char>(text[at]);
  if (c < 0x20 || c == 0x7F) return true;
  return c == 0xC2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xA0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (!is_control(text, at)) {
      out += c;
    } else if (c == '\xC2') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(text[++at]));
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace rowlock::command
