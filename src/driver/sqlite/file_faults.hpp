#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace rowlock::inline v1::driver {

/// Why SQLite cannot open or write this file, and what to do about it, as the file system tells; nullopt if it tells
/// nothing.
std::optional<std::string> fault_of(const std::filesystem::path& file);

}  // namespace rowlock::inline v1::driver
