#pragma once

#include <rowlock/export.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rowlock::inline v1::base {

/// Well-formed UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text) noexcept;

/// Like is_utf8, and without NUL.
ROWLOCK_EXPORT bool is_plain_text(std::string_view text) noexcept;

/// For people and their terminals, in UTF-8. Characters that a terminal or a reader would obey (control characters,
/// changes of the direction of writing, invisible characters) are written as \n, \t, \x1b, \u202e or \U000e0001, and so
/// is each byte that is not UTF-8. All output for people passes through here: any client may choose names, notes and
/// owners.
ROWLOCK_EXPORT std::string printable(std::string_view text);
/// The same for a JSON document, whose meaning does not change.
ROWLOCK_EXPORT std::string printable_json(std::string_view document);
/// In quotation marks, as in messages.
ROWLOCK_EXPORT std::string quoted(std::string_view text);

/// The least text that sorts (by bytes) after every text that begins with `prefix`; nullopt if there is none.
/// Well-formed UTF-8 if `prefix` is.
std::optional<std::string> prefix_end(std::string_view prefix);

struct code_point {
  char32_t value = 0;
  std::size_t size = 0;  ///< in bytes; 0: not well-formed
};
/// The first character of a text in UTF-8 that is not empty.
ROWLOCK_EXPORT code_point first_of(std::string_view text) noexcept;
/// Appends the character in UTF-8.
ROWLOCK_EXPORT void append(std::string& to, char32_t c);

/// Decodes %XX; nullopt if an escape is broken.
ROWLOCK_EXPORT std::optional<std::string> percent_decoded(std::string_view text);

/// The end of a message about an unknown word: `; did you mean WORD?` with the most similar known word, or nothing if
/// none is similar.
ROWLOCK_EXPORT std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace rowlock::inline v1::base
