#pragma once

#include <rowlock/duration.hpp>
#include <rowlock/lock_info.hpp>

#include <chrono>
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

/// nullopt: a transaction holds the lock, and has not committed its token.
std::optional<fencing_token> known_token(const lock_info& lock);

/// The token to free the lock by; nullopt: free any holder, or all holders of a shared lock.
std::optional<fencing_token> token_to_free(const lock_info& lock);

/// The token as a number, or "-".
std::string token_or_dash(const lock_info& lock);

/// Whether the lock was released, but lock_options::at_least keeps the name taken.
bool is_released(const lock_info& lock);

/// As format_duration, or "-".
std::string duration_or_dash(const std::optional<duration>& d);

}  // namespace rowlock::command
