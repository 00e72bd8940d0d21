#pragma once

#include "command/options.hpp"

namespace rowlock::command {

/// rowlock metrics: the exit status.
int metrics(const options& given);

}  // namespace rowlock::command
