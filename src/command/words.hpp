#pragma once

#include <rowlock/duration.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rowlock::command {

/// Parses 5s, 100ms, 1.5h, 1w, or several parts, the largest first: 1h30m; a bare number is seconds. nullopt: the text
/// is no duration.
std::optional<duration> parse_duration(std::string_view text);

/// Parses 03:00; nullopt: the text is no time of day.
std::optional<std::chrono::minutes> parse_time_of_day(std::string_view text);

/// For people: the two largest units, as in 3m05s or 1d02h. parse_duration() reads it back.
std::string format_duration(duration d);

/// Prints a time as 2026-11-27T04:00:00Z.
std::string format_time(std::chrono::sys_time<duration> at);

/// A round duration in its largest unit: 30d, 100ms.
std::string bound_in_words(duration d);

/// "1 row", "2 rows".
std::string counted(std::uint64_t number, std::string_view what);

/// "-" if the text is empty.
std::string or_dash(const std::string& text);
/// As format_duration, or "-".
std::string duration_or_dash(const std::optional<duration>& d);

}  // namespace rowlock::command
