#pragma once

#include <rowlock/client.hpp>
#include <rowlock/events.hpp>

#include <functional>
#include <optional>
#include <string>

#include "command/options.hpp"

namespace rowlock::command {

/// The URL in the options or the environment, unchanged. Throws usage_error.
std::string database_url(const options& given);

/// Prints warnings, quarantines and failed sweeps on standard error; ignores other events.
void say_warning(const event& e);
/// Connects to the database that the options or the environment name. Only `migrate` creates an SQLite file. Throws
/// usage_error, error.
client connect(const options& given, std::function<void(const event&)> observer = say_warning);

/// A variable of the environment; empty if it is not set.
std::string variable(const char* name);

/// Advice about the file that ROWLOCK_DATABASE_FILE names; nullopt: none is needed.
std::optional<std::string> advice_about_file(const options& given);

/// Makes later advice to migrate name the tables of these options. Call it once, before other threads start.
void advise_about(const options& given);

/// A sentence of the library, with `rowlock migrate` in place of client::migrate().
std::string in_words_of_the_shell(std::string sentence);

/// Prints one line on standard error, in one write: another process may print at the same time.
void say(const std::string& sentence);

}  // namespace rowlock::command
