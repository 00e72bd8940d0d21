#pragma once

#include <rowlock/client.hpp>
#include <rowlock/events.hpp>

#include <functional>
#include <optional>
#include <string>

#include "command/options.hpp"

namespace rowlock::command {

/// The URL in the options or the environment, as it was written there. Throws usage_error.
std::string database_url(const options& given);

/// Prints warnings, and sweeps that failed, on standard error; nothing of other events.
void say_warning(const event& e);
/// To the database that the options or the environment name. An SQLite file is created for `migrate` alone. Throws
/// usage_error, error.
client connect(const options& given, std::function<void(const event&)> observer = say_warning);

/// A variable of the environment; empty where there is none.
std::string variable(const char* name);

/// How to improve the file that ROWLOCK_DATABASE_FILE names.
std::optional<std::string> advice_about_file(const options& given);

/// Advice to migrate will name the tables of these options. Called once, before there is another thread.
void advise_about(const options& given);

/// A sentence of the library, with the command to type in place of the function to call.
std::string in_words_of_the_shell(std::string sentence);

/// One line on standard error, in one write: another process may print at the same time.
void say(const std::string& sentence);
/// The same if standard output is a terminal, where nothing else is shown.
void say_on_terminal(const std::string& sentence);

}  // namespace rowlock::command
