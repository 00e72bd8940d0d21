#pragma once

#include <memory>
#include <string>

#include "server_connection.hpp"

namespace flash_sale {

/// Throws std::invalid_argument, without the URL's password, where libpq cannot read it.
void check_postgresql_url(const std::string& url);

/// By libpqxx.
std::unique_ptr<server_connection> connect_postgresql(const std::string& url);

}  // namespace flash_sale
