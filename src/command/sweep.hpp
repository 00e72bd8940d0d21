#pragma once

#include "command/options.hpp"

namespace rowlock::command {

/// rowlock sweep: the exit status.
int sweep(const options& given);

}  // namespace rowlock::command
