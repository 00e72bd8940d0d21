#pragma once

#include "command/options.hpp"

namespace rowlock::command {

/// rowlock top: the exit status.
int top(const options& given);

}  // namespace rowlock::command
