#pragma once

#include <memory>
#include <string>

#include "server.hpp"

namespace bench {

/// By libpqxx.
std::unique_ptr<connection> connect_postgresql(const std::string& url);

}  // namespace bench
