#include "transaction/caller.hpp"

#include <stdexcept>

namespace rowlock::test {

std::unique_ptr<caller> open_caller(const std::string& url, std::string_view isolation) {
#ifdef ROWLOCK_WITH_SQLITE
  if (url.starts_with("sqlite:")) return open_sqlite_caller(url, isolation);
#endif
#ifdef ROWLOCK_WITH_POSTGRESQL
  if (url.starts_with("postgres")) return open_postgresql_caller(url, isolation);
#endif
#ifdef ROWLOCK_WITH_MYSQL
  if (url.starts_with("mysql:") || url.starts_with("mariadb:")) return open_mysql_caller(url, isolation);
#endif
  throw std::runtime_error{"there is no driver for " + url.substr(0, url.find(':'))};
}

}  // namespace rowlock::test
