#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rowlock::command {

/// Converts UTF-8 without control characters (base::printable) for a screen of columns. A character that the locale's
/// terminal cannot show becomes a question mark.
std::wstring to_cells(std::string_view text);

std::string to_utf8(std::wstring_view text);

/// The number of columns that the text takes, by the locale's widths.
std::size_t columns_of(std::wstring_view text);

/// Exactly `columns` columns: padded with spaces, or cut and marked with a '+'.
std::wstring fitted(std::wstring_view text, std::size_t columns);
/// The same, right-aligned.
std::wstring fitted_right(std::wstring_view text, std::size_t columns);

}  // namespace rowlock::command
