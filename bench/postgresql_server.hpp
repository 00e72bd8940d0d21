#pragma once

#include <string>

#include "server.hpp"

namespace bench {

server postgresql_server(const std::string& url);

}  // namespace bench
