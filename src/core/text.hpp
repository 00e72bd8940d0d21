#pragma once

#include <rowlock/export.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace rowlock::inline v1::core {

/// Well-formed UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text) noexcept;

/// Like is_utf8, and without NUL.
ROWLOCK_EXPORT bool is_plain_text(std::string_view text) noexcept;

/// The least text that sorts (by bytes) after every text that begins with `prefix`; nullopt where there is none.
/// Itself well-formed UTF-8 where `prefix` is.
std::optional<std::string> prefix_end(std::string_view prefix);

/// The bytes behind %XX; nullopt where an escape is broken.
ROWLOCK_EXPORT std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace rowlock::inline v1::core
