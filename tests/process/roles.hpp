#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::test {

/// What a child process does: its arguments in, its exit status out. It talks to its parent in lines.
using role = std::function<int(const std::vector<std::string>&)>;

/// Makes a role known under a name: one static object in the file of the tests that start it.
struct role_registration {
  role_registration(std::string_view name, role body);
};

/// Plays it. A child does not outlive its parent, nor its welcome.
int play(std::string_view name, const std::vector<std::string>& arguments);
/// The same for a parent that is not the test, and whose end it may outlive.
int play_for_stranger(std::string_view name, const std::vector<std::string>& arguments);

/// One line to the parent.
void say(std::string_view line);
/// The parent's next line; empty where it has gone.
std::string hear();

/// Reads a number from a file, adds one, writes it back. Nothing but a lock keeps two from doing so at once.
void increment(const std::filesystem::path& file);

/// Of this process alone: the system gives its numbers again.
std::uint32_t lasting_number();

/// A clock that all processes share, in microseconds.
std::int64_t shared_clock();

}  // namespace rowlock::test
