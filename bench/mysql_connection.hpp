#pragma once

#include <memory>
#include <string>

#include "server.hpp"

namespace bench {

/// To MySQL or MariaDB, by Connector/C++.
std::unique_ptr<connection> connect_mysql(const std::string& url);

}  // namespace bench
