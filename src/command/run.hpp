#pragma once

#include "command/options.hpp"

namespace rowlock::command {

/// Runs the command under the lock, and gives the exit status. It does not return where a signal ended the wait for
/// the lock. To be called by the main thread, before there are others.
int run(const options& given);

}  // namespace rowlock::command
