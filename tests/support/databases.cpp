#include "support/databases.hpp"

#include "support/where.hpp"
#ifdef ROWLOCK_WITH_MYSQL
#include "support/mysql_database.hpp"
#endif
#ifdef ROWLOCK_WITH_POSTGRESQL
#include "support/postgresql_database.hpp"
#endif
#ifdef ROWLOCK_WITH_SQLITE
#include "support/sqlite_database.hpp"
#endif

namespace rowlock::test {

namespace {

template <class Database>
std::unique_ptr<database> open() {
  return std::make_unique<Database>();
}

}  // namespace

const std::vector<database_kind>& databases() {
  static const std::vector<database_kind> all{
#ifdef ROWLOCK_WITH_MYSQL
      {.name = "mysql", .open = open<mysql_database>},
#endif
#ifdef ROWLOCK_WITH_POSTGRESQL
      {.name = "postgresql", .open = open<postgresql_database>},
#endif
#ifdef ROWLOCK_WITH_SQLITE
      {.name = "sqlite", .open = open<sqlite_database>},
#endif
  };
  return all;
}

std::vector<database_kind> server_databases() {
  return where(databases(), [](const auto& each) { return each.name != "sqlite"; });
}

std::vector<database_kind> databases_named(std::string_view name) {
  return where(databases(), [&](const auto& each) { return each.name == name; });
}

std::ostream& operator<<(std::ostream& out, const database_kind& kind) { return out << kind.name; }

std::string database_name(const testing::TestParamInfo<database_kind>& info) { return std::string{info.param.name}; }

}  // namespace rowlock::test
