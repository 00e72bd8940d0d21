#pragma once

#include <filesystem>

#include "server.hpp"

namespace bench {

/// A file of its own in the folder, with what the cases of a caller's transactions need.
server sqlite_server(const std::filesystem::path& folder);

}  // namespace bench
