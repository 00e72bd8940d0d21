#pragma once

#include <rowlock/export.hpp>

#include "base/time.hpp"

namespace rowlock::inline v1::base {

/// Now, by the clock of local deadlines, which goes on while the machine is suspended (CLOCK_BOOTTIME).
ROWLOCK_EXPORT base::instant now() noexcept;

}  // namespace rowlock::inline v1::base
