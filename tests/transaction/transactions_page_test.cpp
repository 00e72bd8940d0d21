// The purchases of docs/transactions.md, included from there: they sell what is there, and no more.

#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <future>
#include <latch>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
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

/// A connection of the shop's, by the driver that its code uses.
class shop {
 public:
  shop() = default;
  shop(const shop&) = delete;
  shop& operator=(const shop&) = delete;
  virtual ~shop() = default;

  virtual void run(const std::string& sql) = 0;
  virtual int number(const std::string& sql) = 0;
  virtual bool buy(client& locks, int user) = 0;
};

#ifdef ROWLOCK_BY_CONNECTOR_CPP
class mysql_shop final : public shop {
 public:
  explicit mysql_shop(database& at) : connection_{connect(dynamic_cast<mysql_database&>(at).address())} {}

  void run(const std::string& sql) override { statement()->execute(sql); }
  int number(const std::string& sql) override {
    const std::unique_ptr<sql::ResultSet> rows{statement()->executeQuery(sql)};
    return rows->next() ? rows->getInt(1) : -1;
  }
  bool buy(client& locks, int user) override {
    const in_thread here;
    try {
      return ::buy(*connection_, locks, user);
    } catch (...) {
      connection_->rollback();  // as the page says
      throw;
    }
  }

 private:
  /// Every thread that uses Connector/C++ must say so, and must say when it ends.
  struct in_thread {
    in_thread() { sql::mysql::get_driver_instance()->threadInit(); }
    in_thread(const in_thread&) = delete;
    in_thread& operator=(const in_thread&) = delete;
    ~in_thread() { sql::mysql::get_driver_instance()->threadEnd(); }
  };

  static std::unique_ptr<sql::Connection> connect(const server_address& to) {
    sql::ConnectOptionsMap options;
    options["hostName"] = sql::SQLString{"tcp://" + to.host};
    options["port"] = int{to.port.value_or(3306)};
    options["userName"] = sql::SQLString{to.user};
    options["password"] = sql::SQLString{to.password};
    options["schema"] = sql::SQLString{to.database};
    return std::unique_ptr<sql::Connection>{sql::mysql::get_driver_instance()->connect(options)};
  }
  std::unique_ptr<sql::Statement> statement() {
    return std::unique_ptr<sql::Statement>{connection_->createStatement()};
  }

  std::unique_ptr<sql::Connection> connection_;
};
#endif

#ifdef ROWLOCK_BY_MARIADB_C
class mysql_shop final : public shop {
 public:
  explicit mysql_shop(database& at) : connection_{mysql_init(nullptr), mysql_close} {
    const auto to = dynamic_cast<mysql_database&>(at).address();
    const auto protocol = MYSQL_PROTOCOL_TCP;
    mysql_options(connection_.get(), MYSQL_OPT_PROTOCOL, &protocol);
    if (mysql_real_connect(connection_.get(), to.host.c_str(), to.user.c_str(), to.password.c_str(),
                           to.database.c_str(), to.port.value_or(3306), nullptr, 0) == nullptr)
      throw std::runtime_error{mysql_error(connection_.get())};
  }

  void run(const std::string& sql) override { static_cast<void>(query(connection_.get(), sql)); }
  int number(const std::string& sql) override {
    const auto found = query(connection_.get(), sql);
    auto* const row = mysql_fetch_row(found.get());
    return row != nullptr ? std::stoi(row[0]) : -1;
  }
  bool buy(client& locks, int user) override {
    try {
      return ::buy(connection_.get(), locks, user);
    } catch (...) {
      mysql_rollback(connection_.get());  // as the page says
      throw;
    }
  }

 private:
  std::unique_ptr<MYSQL, void (*)(MYSQL*)> connection_;
};
#endif

#ifdef ROWLOCK_WITH_POSTGRESQL
template <bool (*Buy)(pqxx::connection&, client&, int)>
class postgresql_shop final : public shop {
 public:
  explicit postgresql_shop(database& at) : connection_{at.url()} {}

  void run(const std::string& sql) override { pqxx::nontransaction{connection_}.exec(sql); }
  int number(const std::string& sql) override {
    return pqxx::nontransaction{connection_}.exec(sql)[0][0].template as<int>();
  }
  bool buy(client& locks, int user) override { return Buy(connection_, locks, user); }

 private:
  pqxx::connection connection_;
};
#endif

#ifdef ROWLOCK_WITH_SQLITE
class sqlite_shop final : public shop {
 public:
  explicit sqlite_shop(database& at) {
    sqlite3* opened = nullptr;
    const auto& file = dynamic_cast<sqlite_database&>(at).file();
    const int code = sqlite3_open(file.c_str(), &opened);
    connection_.reset(opened);
    if (code != SQLITE_OK) throw std::runtime_error{"the shop's file cannot be opened"};
    sqlite3_busy_timeout(opened, 30'000);
  }

  void run(const std::string& sql) override { execute(connection_.get(), sql); }
  int number(const std::string& sql) override {
    int first = -1;
    const auto keep = [](void* to, int, char** values, char**) {
      *static_cast<int*>(to) = std::stoi(values[0]);
      return 0;
    };
    if (sqlite3_exec(connection_.get(), sql.c_str(), keep, &first, nullptr) != SQLITE_OK) return -1;
    return first;
  }
  bool buy(client& locks, int user) override { return ::buy(connection_.get(), locks, user); }

 private:
  struct close {
    void operator()(sqlite3* database) const noexcept { sqlite3_close(database); }
  };
  std::unique_ptr<sqlite3, close> connection_;
};
#endif

template <class Shop>
std::unique_ptr<shop> open_shop(database& at) {
  return std::make_unique<Shop>(at);
}

struct purchase {
  std::string name;  ///< begins with that of the database
  std::unique_ptr<shop> (*open)(database& at);

  std::unique_ptr<database> place() const {
    for (const auto& kind : databases())
      if (name.starts_with(kind.name)) return kind.open();
    throw std::runtime_error{"there is no database for " + name};
  }
  friend std::ostream& operator<<(std::ostream& out, const purchase& one) { return out << one.name; }
};

const std::vector<purchase> purchases{
#ifdef ROWLOCK_WITH_MYSQL
    {"mysql_lock_in", open_shop<mysql_shop>},
#endif
#ifdef ROWLOCK_WITH_POSTGRESQL
    {"postgresql_lock_in", open_shop<postgresql_shop<&::buy>>},
    {"postgresql_confirm", open_shop<postgresql_shop<&::buy_after_payment>>},
    {"postgresql_optimistically", open_shop<postgresql_shop<&::buy_optimistically>>},
#endif
#ifdef ROWLOCK_WITH_SQLITE
    {"sqlite_lock_in", open_shop<sqlite_shop>},
#endif
};

class transactions_page : public testing::TestWithParam<purchase> {
 protected:
  std::unique_ptr<shop> open_shop() const { return GetParam().open(*place_); }
  client connect() const {
    auto locks = client::connect(place_->url(), {.observer = silent()});
    locks.migrate();
    return locks;
  }

 private:
  std::unique_ptr<database> place_ = GetParam().place();
};

TEST_P(transactions_page, sells_what_is_there_and_no_more) {
  auto locks = connect();
  const auto owner = open_shop();
  owner->run("CREATE TABLE stock (item INTEGER PRIMARY KEY, units_left INTEGER NOT NULL)");
  owner->run("CREATE TABLE orders (user_id INTEGER NOT NULL)");
  owner->run("INSERT INTO stock (item, units_left) VALUES (1, " + std::to_string(units) + ")");

  std::vector<std::unique_ptr<shop>> shops;
  for (int user = 0; user < buyers; ++user) shops.push_back(open_shop());
  std::latch all{buyers};
  std::vector<std::future<bool>> results;
  for (int user = 0; user < buyers; ++user)
    results.push_back(std::async(std::launch::async, [&, user] {
      all.arrive_and_wait();
      return shops[static_cast<std::size_t>(user)]->buy(locks, user);
    }));
  int sold = 0;
  for (auto& each : results) sold += each.get() ? 1 : 0;

  EXPECT_EQ(sold, units);
  EXPECT_EQ(owner->number("SELECT units_left FROM stock"), 0);
  EXPECT_EQ(owner->number("SELECT count(*) FROM orders"), units);
}

std::string purchase_name(const testing::TestParamInfo<purchase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(on, transactions_page, testing::ValuesIn(purchases), purchase_name);

}  // namespace
}  // namespace rowlock::test
