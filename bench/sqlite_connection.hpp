#pragma once

#include <memory>
#include <string>

#include "server.hpp"

namespace bench {

/// With the settings that rowlock gives its own connections.
std::unique_ptr<connection> connect_sqlite(const std::string& path);

}  // namespace bench
