#pragma once

#include <rowlock/error.hpp>
#include <rowlock/export.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
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

/// For how long a request to change a table waits for the transactions that use it. All who come later wait behind it:
/// so this is less than the shortest lease can spare, and than a statement waits for a lock.
inline constexpr duration change_wait = std::chrono::milliseconds{50};

/// Calls `change` until nothing `is_in_its_way`, with pauses in which other clients go on. At the deadline the error
/// that told of the obstacle is thrown.
ROWLOCK_EXPORT void insist_on_change(const limits& until, const std::function<void()>& change,
                                     const std::function<bool(const error&)>& is_in_its_way);

}  // namespace rowlock::inline v1::driver
