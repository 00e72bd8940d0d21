#pragma once

#include <rowlock/client.hpp>
#include <rowlock/events.hpp>

#include <functional>
#include <optional>
#include <string>

#include "command/options.hpp"

namespace rowlock::command {

/// Of the options or the environment, as it was written there. Throws usage_error.
std::string database_url(const options& given);

/// To the database that the options or the environment name. An SQLite file is created for `migrate` alone. Throws
/// usage_error, error.
client connect(const options& given);
/// The same, with an observer other than say_warning.
client connect(const options& given, std::function<void(const event&)> observer);

/// Says warnings, and sweeps that failed, on standard error; nothing of other events.
void say_warning(const event& e);

/// The variable of the environment; empty where there is none.
std::string variable(const char* name);

/// What would be better about the file that ROWLOCK_DATABASE_FILE names.
std::optional<std::string> advice_about_file(const options& given);

/// Advice to migrate will name the tables of these options. Called once, before there is another thread.
void advise_about(const options& given);

/// A sentence of the library, where it names what programs call: with the command to type instead.
std::string in_words_of_the_shell(std::string sentence);

/// One line on standard error, in one write: another process may speak at the same time.
void say(const std::string& sentence);
/// The same if a person watches standard output, who would see nothing else.
void say_on_terminal(const std::string& sentence);

}  // namespace rowlock::command
