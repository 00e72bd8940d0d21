#include "base/text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace rowlock::inline v1::base {

namespace {

std::uint8_t byte(std::string_view text, std::size_t at) noexcept { return static_cast<std::uint8_t>(text[at]); }

bool is_continuation(std::uint8_t b) noexcept { return (b & 0xC0U) == 0x80U; }

std::size_t length_by_lead(std::uint8_t lead) noexcept {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

bool is_scalar(char32_t c, std::size_t size) noexcept {
  if (size == 3) return c >= 0x800 && (c < 0xD800 || c > 0xDFFF);
  if (size == 4) return c >= 0x10000 && c <= 0x10FFFF;
  return true;
}

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_between(char32_t c, char32_t first, char32_t last) noexcept { return first <= c && c <= last; }

// Control characters, the ends of lines and paragraphs, and the invisible characters of the category Cf.
bool is_obeyed(char32_t c) noexcept {
  if (c < 0x20 || is_between(c, 0x7F, 0x9F)) return true;
  if (c < 0x2000) return c == 0xAD || c == 0x34F || is_between(c, 0x600, 0x605) || c == 0x61C || c == 0x180E;
  if (c < 0x10000)
    return is_between(c, 0x200B, 0x200F) || is_between(c, 0x2028, 0x202E) || is_between(c, 0x2060, 0x206F) ||
           c == 0xFEFF || is_between(c, 0xFFF9, 0xFFFB);
  return is_between(c, 0xE0000, 0xE007F);
}

void append_hex(std::string& to, std::string_view prefix, int digits, char32_t number) {
  to.append(prefix);
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
    to.push_back("0123456789abcdef"[(number >> static_cast<unsigned>(shift)) & 0xFU]);
}

void append_escaped(std::string& to, char32_t c) {
  if (c == '\n') {
    to.append("\\n");
  } else if (c == '\t') {
    to.append("\\t");
  } else if (c < 0x80) {
    append_hex(to, "\\x", 2, c);
  } else if (c < 0x10000) {
    append_hex(to, "\\u", 4, c);
  } else {
    append_hex(to, "\\U", 8, c);
  }
}

void append_escaped_in_json(std::string& to, char32_t c) {
  if (c < 0x10000) return append_hex(to, "\\u", 4, c);
  append_hex(to, "\\u", 4, 0xD800 + ((c - 0x10000) >> 10U));
  append_hex(to, "\\u", 4, 0xDC00 + ((c - 0x10000) & 0x3FFU));
}

}  // namespace

code_point first_of(std::string_view text) noexcept {
  const std::uint8_t lead = byte(text, 0);
  const std::size_t size = length_by_lead(lead);
  if (size == 0 || size > text.size()) return {};
  if (size == 1) return {lead, 1};
  char32_t value = lead & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if (!is_continuation(byte(text, i))) return {};
    value = (value << 6U) | (byte(text, i) & 0x3FU);
  }
  return is_scalar(value, size) ? code_point{value, size} : code_point{};
}

void append(std::string& to, char32_t c) {
  const auto put = [&to](char32_t bits) { to.push_back(static_cast<char>(static_cast<std::uint8_t>(bits))); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xC0U | (c >> 6U));
  } else if (c < 0x10000) {
    put(0xE0U | (c >> 12U));
    put(0x80U | ((c >> 6U) & 0x3FU));
  } else {
    put(0xF0U | (c >> 18U));
    put(0x80U | ((c >> 12U) & 0x3FU));
    put(0x80U | ((c >> 6U) & 0x3FU));
  }
  put(0x80U | (c & 0x3FU));
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto [value, size] = first_of(text);
    if (size == 0) {
      append_hex(out, "\\x", 2, byte(text, 0));
    } else if (is_obeyed(value)) {
      append_escaped(out, value);
    } else {
      out.append(text.substr(0, size));
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

// In a JSON document the only characters below U+0020 are those between its parts.
std::string printable_json(std::string_view document) {
  std::string out;
  out.reserve(document.size());
  while (!document.empty()) {
    const auto [value, size] = first_of(document);
    const auto length = size == 0 ? 1 : size;
    if (size == 0) {
      append_escaped_in_json(out, 0xFFFD);
    } else if (value >= 0x20 && is_obeyed(value)) {
      append_escaped_in_json(out, value);
    } else {
      out.append(document.substr(0, length));
    }
    document.remove_prefix(length);
  }
  return out;
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t size = first_of(text).size;
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

bool is_plain_text(std::string_view text) noexcept {
  return text.find('\0') == std::string_view::npos && is_utf8(text);
}

std::string quoted(std::string_view text) { return '"' + std::string{text} + '"'; }

std::optional<std::string> prefix_end(std::string_view prefix) {
  while (!prefix.empty()) {
    std::size_t last = prefix.size() - 1;
    while (last > 0 && is_continuation(byte(prefix, last))) --last;
    const char32_t c = first_of(prefix.substr(last)).value;
    prefix = prefix.substr(0, last);
    if (c == 0x10FFFF) continue;
    std::string end{prefix};
    append(end, c + 1 == 0xD800 ? 0xE000 : c + 1);
    return end;
  }
  return std::nullopt;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return out;
}

// --- words that are known -----------------------------------------------------------------------------------------

namespace {

constexpr std::size_t longest_word = 40;

// The number of bytes to insert, delete or replace, or to exchange with their neighbour.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before(to.size() + 1);
  std::vector<std::size_t> above(to.size() + 1);
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(above.begin(), above.end(), 0U);
  for (std::size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (from[i - 1] == to[j - 1] ? 0U : 1U)});
      const bool is_exchange = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (is_exchange) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[to.size()];
}

// One in three bytes may be wrong, but not all bytes of a short word.
std::size_t most_wrong(std::string_view word) { return std::min<std::size_t>(word.size() / 3, 3); }

std::string lower_case(std::string_view text) {
  std::string out{text};
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c == '_' ? '-' : c;
  });
  return out;
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  if (word.size() > longest_word) return {};
  std::string_view nearest;
  std::size_t least = longest_word;
  for (const auto each : known) {
    const auto apart = distance(lower_case(word), lower_case(each));
    if (apart > most_wrong(each) || apart >= least) continue;
    nearest = each;
    least = apart;
  }
  return nearest.empty() ? std::string{} : "; did you mean " + std::string{nearest} + "?";
}

}  // namespace rowlock::inline v1::base
