#pragma once

#include <cstddef>

#include "base/time.hpp"

namespace rowlock::inline v1::core {

/// A ticket is deleted when its waiter has been dead for so long: one that was only stopped keeps its place until then.
inline constexpr duration ticket_retention = std::chrono::minutes{1};

/// Another sweeper takes over after so long from one that has died.
inline constexpr duration sweeper_lease = std::chrono::seconds{30};

/// How many rows the first step of a sweep looks at: how fast the database is, is not known yet.
std::size_t first_rows(std::size_t most) noexcept;

/// How many the next step looks at, after one that cost so much time: as many as keep it short.
std::size_t next_rows(std::size_t rows, duration cost, std::size_t most) noexcept;

/// How long to leave the database to others after a step that cost so much time.
duration sweep_pause(duration cost) noexcept;

/// From one sweep to the next. `jitter` in [0, 1).
duration sweep_interval(duration every, double jitter) noexcept;

/// To the first. `jitter` in [0, 1).
duration first_sweep(duration every, double jitter) noexcept;

}  // namespace rowlock::inline v1::core
