#pragma once

#include "command/options.hpp"

namespace rowlock::command {

/// rowlock check: the exit status.
int check(const options& given);

}  // namespace rowlock::command
