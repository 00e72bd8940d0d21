#pragma once

#include <rowlock/export.hpp>

#include <cstdint>
#include <optional>

#include "driver/session.hpp"

// What the sessions of servers have in common.

namespace rowlock::inline v1::driver {

/// For names that no other session uses.
ROWLOCK_EXPORT std::uint64_t random_number();

/// How much time is left, at least 2 ms; nullopt: there is no deadline.
ROWLOCK_EXPORT std::optional<duration> time_left(const limits& until);

/// How long the server itself may wait if so much time is left: it gives up before the call is cut.
constexpr duration servers_wait(duration left) { return left - left / 10; }

/// The limits of a script: those of the exclusively() that it is part of, else those of one call.
ROWLOCK_EXPORT limits limits_of_script(const std::optional<limits>& around, duration call_timeout);

}  // namespace rowlock::inline v1::driver
