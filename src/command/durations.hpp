#pragma once

#include <rowlock/duration.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace rowlock::command {

/// 5s, 100ms, 2m, 1.5h; a bare number is seconds. nullopt: it is none of these.
std::optional<duration> parse_duration(std::string_view text);

/// For people: the two largest units that matter, as in 3m05s or 1d02h.
std::string format_duration(duration d);

}  // namespace rowlock::command
