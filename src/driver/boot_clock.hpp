#pragma once

#include <rowlock/export.hpp>

#include "core/time.hpp"

namespace rowlock::inline v1::driver {

/// The time line of deadlines, which goes on while the machine is suspended (CLOCK_BOOTTIME).
ROWLOCK_EXPORT core::instant now() noexcept;

}  // namespace rowlock::inline v1::driver
