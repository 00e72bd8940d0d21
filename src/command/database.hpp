#pragma once

#include <rowlock/client.hpp>
#include <rowlock/events.hpp>

#include <functional>
#include <string>

#include "command/options.hpp"

namespace rowlock::command {

/// To the database that the options or the environment name. Throws usage_error, error.
client connect(const options& given);
/// The same, with an observer other than the one that says warnings, and what of a sweep failed, on standard error.
client connect(const options& given, std::function<void(const event&)> observer);

/// One line on standard error, in one write: another process may speak at the same time.
void say(const std::string& sentence);

}  // namespace rowlock::command
