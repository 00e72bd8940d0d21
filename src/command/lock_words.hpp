#pragma once

#include <rowlock/lock_info.hpp>

#include <optional>
#include <string>

namespace rowlock::command {

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
