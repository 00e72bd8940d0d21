#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace rowlock::command {

/// The file of a sqlite: URL, as an absolute path: `~/` is the home folder, and a relative path begins in the current
/// folder. nullopt for other databases, for one in memory, and for URLs that the library refuses.
std::optional<std::filesystem::path> sqlite_file(const std::string& url);

/// The URL of that file.
std::string url_of(const std::filesystem::path& sqlite_file);

/// What to say about a relative path, which cron would look for in the home folder; empty where both are the same.
std::string warning_about(const std::string& url);

}  // namespace rowlock::command
