#include "command/cells.hpp"

#include <wchar.h>

#include <algorithm>

#include "base/text.hpp"

namespace rowlock::command {

namespace {

constexpr wchar_t unknown = L'?';

/// 0, 1 or 2 for a character from to_cells().
std::size_t width_of(wchar_t c) {
  const int width = ::wcwidth(c);
  return width > 0 ? static_cast<std::size_t>(width) : 0;
}

/// The longest prefix that fits.
std::wstring_view head_of(std::wstring_view text, std::size_t columns) {
  std::size_t used = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    used += width_of(text[i]);
    if (used > columns) return text.substr(0, i);
  }
  return text;
}

std::wstring cut(std::wstring_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::wstring{text};
  if (columns == 0) return {};
  return std::wstring{head_of(text, columns - 1)} + L'+';
}

}  // namespace

std::wstring to_cells(std::string_view text) {
  std::wstring out;
  while (!text.empty()) {
    const auto [value, size] = base::first_of(text);
    const auto c = size == 0 ? unknown : static_cast<wchar_t>(value);
    out += ::wcwidth(c) < 0 ? unknown : c;
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return out;
}

std::string to_utf8(std::wstring_view text) {
  std::string out;
  for (const wchar_t c : text) base::append(out, static_cast<char32_t>(c));
  return out;
}

std::size_t columns_of(std::wstring_view text) {
  std::size_t out = 0;
  for (const wchar_t c : text) out += width_of(c);
  return out;
}

std::wstring fitted(std::wstring_view text, std::size_t columns) {
  auto out = cut(text, columns);
  return out.append(columns - columns_of(out), L' ');
}

std::wstring fitted_right(std::wstring_view text, std::size_t columns) {
  const auto out = cut(text, columns);
  return std::wstring(columns - columns_of(out), L' ') + out;
}

}  // namespace rowlock::command
