#include "server_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#ifdef ROWLOCK_WITH_MYSQL
#include "mysql_server.hpp"
#endif
#ifdef ROWLOCK_WITH_POSTGRESQL
#include "postgresql_server.hpp"
#endif

namespace bench {
namespace {

const std::vector<server_kind> kinds{
#ifdef ROWLOCK_WITH_POSTGRESQL
    {"PostgreSQL", "postgresql:", "postgres:", "ROWLOCK_TEST_POSTGRESQL_URL", postgresql_server},
#endif
#ifdef ROWLOCK_WITH_MYSQL
    {"MySQL or MariaDB", "mysql:", "mariadb:", "ROWLOCK_TEST_MYSQL_URL", mysql_server},
#endif
};

std::vector<std::string> urls_of_environment() {
  std::vector<std::string> urls;
  for (const auto& each : kinds)
    if (const char* url = std::getenv(each.variable); url != nullptr && *url != '\0') urls.emplace_back(url);
  return urls;
}

const server_kind& kind_of(const std::string& url) {
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const auto& each) { return each.is_for(url); });
  // The rest of it may hold a password.
  if (found == kinds.end())
    throw std::invalid_argument{fmt::format("{}: is no server that this build measures", url.substr(0, url.find(':')))};
  return *found;
}

}  // namespace

bool server_kind::is_for(std::string_view url) const {
  return url.starts_with(scheme) || url.starts_with(other_scheme);
}

std::span<const server_kind> server_kinds() { return kinds; }

server open_server(const std::string& url) { return kind_of(url).open(url); }

std::vector<std::shared_ptr<const server>> open_servers(std::vector<std::string> urls) {
  if (urls.empty()) urls = urls_of_environment();
  std::vector<std::shared_ptr<const server>> servers;
  for (const auto& url : urls) servers.push_back(std::make_shared<const server>(open_server(url)));
  for (const auto& kind : kinds)
    if (std::none_of(urls.begin(), urls.end(), [&](const auto& url) { return kind.is_for(url); }))
      fmt::print(stderr, "{} is left out: no --database tells where a server is\n", kind.name);
  return servers;
}

}  // namespace bench
