// The purchases of docs/transactions.md, included from there: they sell what is there, and no more.

#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/databases.hpp"
#include "support/recorder.hpp"

#ifdef ROWLOCK_BY_CONNECTOR_CPP
#include <mysql_driver.h>

#include "docs_transactions_mysql.inc"
#include "support/mysql_database.hpp"
#endif
#ifdef ROWLOCK_BY_MARIADB_C
#include "docs_transactions_mariadb_c.inc"
#include "support/mysql_database.hpp"
#endif
#ifdef ROWLOCK_WITH_POSTGRESQL
#include <pqxx/pqxx>

#include "docs_transactions_postgresql.inc"
#endif
#ifdef ROWLOCK_WITH_SQLITE
#include "docs_transactions_sqlite.inc"
#include "support/sqlite_database.hpp"
#endif

namespace rowlock::test {
namespace {

constexpr int units = 5;
constexpr int buyers = 16;

/// The shop's code, with a connection of its own: whether it has sold a unit to the user.
using shop = std::function<bool(client& locks, int user)>;

#ifdef ROWLOCK_BY_CONNECTOR_CPP
/// Every thread that uses Connector/C++ must say so, and must say when it ends.
struct in_thread {
  in_thread() { sql::mysql::get_driver_instance()->threadInit(); }
  in_thread(const in_thread&) = delete;
  in_thread& operator=(const in_thread&) = delete;
  ~in_thread() { sql::mysql::get_driver_instance()->threadEnd(); }
};

shop open_mysql_shop(database& at) {
  const auto to = dynamic_cast<mysql_database&>(at).address();
  sql::ConnectOptionsMap options;
  options["hostName"] = sql::SQLString{"tcp://" + to.host};
  options["port"] = int{to.port.value_or(3306)};
  options["userName"] = sql::SQLString{to.user};
  options["password"] = sql::SQLString{to.password};
  options["schema"] = sql::SQLString{to.database};
  const std::shared_ptr<sql::Connection> by{sql::mysql::get_driver_instance()->connect(options)};
  return [by](client& locks, int user) {
    const in_thread here;
    try {
      return ::buy(*by, locks, user);
    } catch (...) {
      by->rollback();  // as the page says
      throw;
    }
  };
}
#endif

#ifdef ROWLOCK_BY_MARIADB_C
shop open_mysql_shop(database& at) {
  const auto to = dynamic_cast<mysql_database&>(at).address();
  const std::shared_ptr<MYSQL> by{mysql_init(nullptr), mysql_close};
  const auto protocol = MYSQL_PROTOCOL_TCP;
  mysql_options(by.get(), MYSQL_OPT_PROTOCOL, &protocol);
  if (mysql_real_connect(by.get(), to.host.c_str(), to.user.c_str(), to.password.c_str(), to.database.c_str(),
                         to.port.value_or(3306), nullptr, 0) == nullptr)
    throw std::runtime_error{mysql_error(by.get())};
  return [by](client& locks, int user) {
    try {
      return ::buy(by.get(), locks, user);
    } catch (...) {
      mysql_rollback(by.get());  // as the page says
      throw;
    }
  };
}
#endif

#ifdef ROWLOCK_WITH_POSTGRESQL
template <bool (*Buy)(pqxx::connection&, client&, int)>
shop open_postgresql_shop(database& at) {
  const auto by = std::make_shared<pqxx::connection>(at.url());
  return [by](client& locks, int user) { return Buy(*by, locks, user); };
}
#endif

#ifdef ROWLOCK_WITH_SQLITE
shop open_sqlite_shop(database& at) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open(dynamic_cast<sqlite_database&>(at).file().c_str(), &opened);
  const std::shared_ptr<sqlite3> by{opened, sqlite3_close};
  if (code != SQLITE_OK) throw std::runtime_error{"the shop's file cannot be opened"};
  sqlite3_busy_timeout(opened, 30'000);
  return [by](client& locks, int user) { return ::buy(by.get(), locks, user); };
}
#endif

struct purchase {
  std::string name;  ///< begins with that of the database
  shop (*open)(database& at);

  std::unique_ptr<database> place() const {
    for (const auto& kind : databases())
      if (name.starts_with(kind.name)) return kind.open();
    throw std::runtime_error{"there is no database for " + name};
  }
  friend std::ostream& operator<<(std::ostream& out, const purchase& one) { return out << one.name; }
};

const std::vector<purchase> purchases{
#ifdef ROWLOCK_WITH_MYSQL
    {"mysql_lock_in", open_mysql_shop},
#endif
#ifdef ROWLOCK_WITH_POSTGRESQL
    {"postgresql_lock_in", open_postgresql_shop<&::buy>},
    {"postgresql_confirm", open_postgresql_shop<&::buy_after_payment>},
    {"postgresql_optimistically", open_postgresql_shop<&::buy_optimistically>},
#endif
#ifdef ROWLOCK_WITH_SQLITE
    {"sqlite_lock_in", open_sqlite_shop},
#endif
};

class transactions_page : public testing::TestWithParam<purchase> {};

TEST_P(transactions_page, sells_what_is_there_and_no_more) {
  const auto place = GetParam().place();
  auto locks = client::connect(place->url(), {.observer = silent()});
  locks.migrate();
  place->execute(
      "CREATE TABLE stock (item INTEGER PRIMARY KEY, units_left INTEGER NOT NULL); "
      "CREATE TABLE orders (user_id INTEGER NOT NULL); INSERT INTO stock (item, units_left) VALUES (1, " +
      std::to_string(units) + ")");
  if (GetParam().name.starts_with("postgresql")) place->execute("GRANT ALL ON stock, orders TO PUBLIC");

  std::vector<shop> shops;
  for (int user = 0; user < buyers; ++user) shops.push_back(GetParam().open(*place));
  std::latch all{buyers};
  std::vector<std::future<bool>> results;
  for (int user = 0; user < buyers; ++user)
    results.push_back(std::async(std::launch::async, [&, user] {
      all.arrive_and_wait();
      return shops[static_cast<std::size_t>(user)](locks, user);
    }));
  int sold = 0;
  for (auto& each : results) sold += each.get() ? 1 : 0;

  EXPECT_EQ(sold, units);
  EXPECT_EQ(place->number("SELECT units_left FROM stock"), 0);
  EXPECT_EQ(place->number("SELECT count(*) FROM orders"), units);
}

std::string purchase_name(const testing::TestParamInfo<purchase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(on, transactions_page, testing::ValuesIn(purchases), purchase_name);

}  // namespace
}  // namespace rowlock::test
