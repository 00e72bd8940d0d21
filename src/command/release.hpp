#pragma once

#include "command/options.hpp"

namespace rowlock::command {

/// rowlock release --force: the exit status.
int release(const options& given);

}  // namespace rowlock::command
