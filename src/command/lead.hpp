#pragma once

#include "command/options.hpp"

namespace rowlock::command {

/// Runs the command whenever the lock is had, until it ends by itself, or a signal ends it; the exit status. As run()
/// otherwise.
int lead(const options& given);

}  // namespace rowlock::command
