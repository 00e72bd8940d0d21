#include "server/servers.hpp"

#include <utility>

#include "support/where.hpp"

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

#ifdef ROWLOCK_WITH_MYSQL
// There some defaults are everybody's.
std::unique_ptr<server_database> open_mysql_for_defaults() {
  return std::make_unique<mysql_database>(address_in("ROWLOCK_TEST_MYSQL_DEFAULTS_URL"));
}
#endif

template <class Server>
std::unique_ptr<private_server> start(const fake_machine* machine) {
  return std::make_unique<Server>(machine);
}

}  // namespace

const std::vector<server_kind>& servers() {
  static const std::vector<server_kind> all{
#ifdef ROWLOCK_WITH_MYSQL
      {.name = "mysql", .open = open<mysql_database>, .start = start<mariadb_server>},
#endif
#ifdef ROWLOCK_WITH_POSTGRESQL
      {.name = "postgresql", .open = open<postgresql_database>, .start = start<postgresql_server>},
#endif
  };
  return all;
}

std::vector<server_kind> servers_for_defaults() {
  auto out = servers();
#ifdef ROWLOCK_WITH_MYSQL
  for (auto& each : out)
    if (each.name == "mysql") each.open = open_mysql_for_defaults;
#endif
  return out;
}

std::vector<server_kind> on(std::string_view kind, std::vector<server_kind> of) {
  return where(std::move(of), [&](const server_kind& each) { return each.name == kind; });
}

std::vector<server_kind> not_on(std::string_view kind, std::vector<server_kind> of) {
  return where(std::move(of), [&](const server_kind& each) { return each.name != kind; });
}

std::ostream& operator<<(std::ostream& out, const server_kind& kind) { return out << kind.name; }

std::string server_name(const testing::TestParamInfo<server_kind>& info) { return std::string{info.param.name}; }

}  // namespace rowlock::test
