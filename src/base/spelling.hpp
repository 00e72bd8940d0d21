#pragma once

#include <rowlock/export.hpp>

#include <span>
#include <string>
#include <string_view>

namespace rowlock::inline v1::base {

/// The end of a message about an unknown word: `; did you mean WORD?` with the most similar known word, or nothing if
/// none is similar.
ROWLOCK_EXPORT std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace rowlock::inline v1::base
