#pragma once

#include "command/options.hpp"

namespace rowlock::command {

/// rowlock migrate: the exit status.
int migrate(const options& given);

}  // namespace rowlock::command
