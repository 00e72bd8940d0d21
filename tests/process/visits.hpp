#pragma once

#include <rowlock/fencing_token.hpp>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace rowlock::test {

/// Each counts as often as a process in the role "visitor" (strategies_test.cpp) is told.
inline constexpr int threads_of_visitor = 2;

/// Counts in a file of the folder, and writes the token down in another, in the order of the visits. Nothing but a lock
/// keeps two from doing so at once.
void visit(const std::filesystem::path& folder, fencing_token token);

/// What was written down in either: folder / "counter", folder / "tokens".
std::vector<std::int64_t> numbers_of(const std::filesystem::path& file);

/// Whether each is greater than the one before.
bool grow(const std::vector<std::int64_t>& numbers);

}  // namespace rowlock::test
