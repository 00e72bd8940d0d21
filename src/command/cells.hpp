#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rowlock::command {

/// Text for a screen of columns: what the locale's terminal cannot show is a question mark. `text` is UTF-8 without
/// anything that a terminal obeys (base::printable). How wide a character is, is the locale's.
std::wstring to_cells(std::string_view text);

/// As it was typed.
std::string to_utf8(std::wstring_view text);

/// How many columns it takes.
std::size_t columns_of(std::wstring_view text);

/// Exactly so many columns: filled with spaces, or cut and marked with a '+'.
std::wstring fitted(std::wstring_view text, std::size_t columns);
/// The same, with the spaces first.
std::wstring fitted_right(std::wstring_view text, std::size_t columns);

}  // namespace rowlock::command
