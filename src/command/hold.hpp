#pragma once

#include "command/options.hpp"

namespace rowlock::command {

/// Holds the lock until standard input or a signal ends that, or it is lost. Prints its token when it has it. The exit
/// status.
int hold(const options& given);

}  // namespace rowlock::command
