#pragma once

#include <rowlock/duration.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace rowlock::command {

/// 5s, 100ms, 1.5h, 1w, or several parts, the largest first: 1h30m; a bare number is seconds. nullopt: it is none of
/// these.
std::optional<duration> parse_duration(std::string_view text);

/// For people, and understood by parse_duration: the two largest units that matter, as in 3m05s or 1d02h.
std::string format_duration(duration d);

/// As people write a round one: 30d, 100ms.
std::string bound_in_words(duration d);

}  // namespace rowlock::command
