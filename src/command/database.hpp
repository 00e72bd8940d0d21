#pragma once

#include <rowlock/client.hpp>

#include "command/options.hpp"

namespace rowlock::command {

/// To the database that the options or the environment name. Throws usage_error, error.
client connect(const options& given);

/// One line on standard error, in one write: another process may speak at the same time.
void say(const std::string& sentence);

}  // namespace rowlock::command
