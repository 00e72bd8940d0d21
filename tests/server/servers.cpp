#include "server/servers.hpp"

#ifdef ROWLOCK_WITH_MYSQL
#include "mysql/mariadb_server.hpp"
#include "support/mysql_database.hpp"
#endif
#ifdef ROWLOCK_WITH_POSTGRESQL
#include "postgresql/postgresql_server.hpp"
#include "support/postgresql_database.hpp"
#endif

namespace rowlock::test {

namespace {

template <class Database>
std::unique_ptr<server_database> open() {
  return std::make_unique<Database>();
}

template <class Server>
std::unique_ptr<private_server> start_one() {
  return std::make_unique<Server>();
}

}  // namespace

const std::vector<server_kind>& servers() {
  static const std::vector<server_kind> all{
#ifdef ROWLOCK_WITH_MYSQL
      {.name = "mysql", .open = open<mysql_database>, .start_one = start_one<mariadb_server>},
#endif
#ifdef ROWLOCK_WITH_POSTGRESQL
      {.name = "postgresql", .open = open<postgresql_database>, .start_one = start_one<postgresql_server>},
#endif
  };
  return all;
}

std::ostream& operator<<(std::ostream& out, const server_kind& kind) { return out << kind.name; }

std::string server_name(const testing::TestParamInfo<server_kind>& info) { return std::string{info.param.name}; }

}  // namespace rowlock::test
