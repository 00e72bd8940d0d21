#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace rowlock::command {

/// The shells that it completes for.
inline constexpr std::string_view shells[] = {"bash", "zsh", "fish"};

/// For a shell to source: subcommands, options and their values, files behind "sqlite:", and names of locks that are
/// held. nullopt: it is none of the shells.
std::optional<std::string> completion_for(std::string_view shell, const CLI::App& whole);

}  // namespace rowlock::command
