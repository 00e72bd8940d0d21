#pragma once

#include <memory>
#include <string>

#include "server_connection.hpp"

namespace flash_sale {

/// To MySQL or MariaDB, by Connector/C++.
std::unique_ptr<server_connection> connect_mysql(const std::string& url);

}  // namespace flash_sale
