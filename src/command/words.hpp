#pragma once

#include <rowlock/duration.hpp>
#include <rowlock/lock_info.hpp>

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

/// Of a transaction that has not committed it the token is unknown.
std::optional<fencing_token> known_token(const lock_info& lock);

/// By which what was seen is freed; of a lock that is shared, all who have it.
std::optional<fencing_token> token_to_free(const lock_info& lock);

/// The token as a number, or "-".
std::string token_or_dash(const lock_info& lock);

/// Whether its holder is gone, and lock_options::at_least keeps the name taken.
bool is_released(const lock_info& lock);

/// As format_duration, or "-".
std::string duration_or_dash(const std::optional<duration>& d);

}  // namespace rowlock::command
