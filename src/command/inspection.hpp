#pragma once

#include "command/options.hpp"

namespace rowlock::command {

/// Each prints to standard output, and gives the exit status.
int list(const options& given);
int show(const options& given);
int waiters(const options& given);

}  // namespace rowlock::command
