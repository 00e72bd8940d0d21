#pragma once

#include <wchar.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/text.hpp"

// Text on a screen of columns.
namespace rowlock::command {

/// Converts UTF-8 without control characters (base::printable). A character that the locale's terminal cannot show
/// becomes a question mark.
inline std::wstring to_cells(std::string_view text) {
  constexpr wchar_t unknown = L'?';
  std::wstring out;
  while (!text.empty()) {
    const auto [value, size] = base::first_of(text);
    const auto c = size == 0 ? unknown : static_cast<wchar_t>(value);
    out += ::wcwidth(c) < 0 ? unknown : c;
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return out;
}

inline std::string to_utf8(std::wstring_view text) {
  std::string out;
  for (const wchar_t c : text) base::append(out, static_cast<char32_t>(c));
  return out;
}

/// The number of columns that the text takes, by the locale's widths: 0, 1 or 2 for a character.
inline std::size_t columns_of(std::wstring_view text) {
  std::size_t out = 0;
  for (const wchar_t c : text) out += static_cast<std::size_t>(std::max(::wcwidth(c), 0));
  return out;
}

/// The longest prefix that fits, marked with a '+' unless it is the whole text.
inline std::wstring cut(std::wstring_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::wstring{text};
  if (columns == 0) return {};
  std::size_t end = 0;
  for (std::size_t used = 0; (used += columns_of(text.substr(end, 1))) < columns;) ++end;
  return std::wstring{text.substr(0, end)} + L'+';
}

/// Exactly `columns` columns: padded with spaces, or cut.
inline std::wstring fitted(std::wstring_view text, std::size_t columns) {
  auto out = cut(text, columns);
  return out.append(columns - columns_of(out), L' ');
}

/// The same, right-aligned.
inline std::wstring fitted_right(std::wstring_view text, std::size_t columns) {
  const auto out = cut(text, columns);
  return std::wstring(columns - columns_of(out), L' ') + out;
}

}  // namespace rowlock::command
