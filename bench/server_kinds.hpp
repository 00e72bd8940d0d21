#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server.hpp"

namespace bench {

/// A kind of server that this build can measure.
struct server_kind {
  std::string_view name;  ///< for people
  std::string_view scheme;
  std::string_view other_scheme;
  const char* variable;  ///< of the environment, with the URL where nobody gives one
  server (*open)(const std::string& url);

  bool is_for(std::string_view url) const;
};

std::span<const server_kind> server_kinds();

/// Throws std::invalid_argument where the URL is of no kind.
server open_server(const std::string& url);

/// Of those URLs, or where there are none of the environment's. Tells on stderr of a kind that is left out. Throws
/// std::invalid_argument where a URL is of no kind.
std::vector<std::shared_ptr<const server>> open_servers(std::vector<std::string> urls);

}  // namespace bench
