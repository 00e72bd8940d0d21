#pragma once

#include <string>

#include "server.hpp"

namespace bench {

/// Connects, to learn whether it is MySQL or MariaDB.
server mysql_server(const std::string& url);

}  // namespace bench
