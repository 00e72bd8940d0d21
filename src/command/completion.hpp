#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::command {

/// As "--help" and "-h".
std::vector<std::string> flags_of(const CLI::Option& o);

/// The kinds of values that can be listed.
inline constexpr std::string_view listed_kinds[] = {"STRATEGY", "SHELL", "KEY"};
/// The values that there are for one kind of value ("STRATEGY"); empty: they cannot be listed.
std::vector<std::string> values_of_kind(std::string_view kind);

/// As one word of any of these shells, which is taken to the letter.
std::string shell_quoted(std::string_view text);

/// The parts of a completion, one for each shell.
std::string bash_completion(const CLI::App& whole);
std::string zsh_completion(const CLI::App& whole);
std::string fish_completion(const CLI::App& whole);

/// The shells that it completes for.
inline constexpr std::string_view shells[] = {"bash", "zsh", "fish"};

/// For a shell to source: subcommands, options and their values, files behind "sqlite:", and names of locks that are
/// held. nullopt: it is none of the shells.
std::optional<std::string> completion_for(std::string_view shell, const CLI::App& whole);

}  // namespace rowlock::command
