#include <cppconn/connection.h>
#include <cppconn/resultset.h>
#include <cppconn/resultset_metadata.h>
#include <cppconn/statement.h>
#include <mysql_driver.h>
#include <rowlock/interop/mysql.hpp>

#include <mutex>
#include <utility>

#include "testkit/url.hpp"
#include "transaction/caller_by.hpp"

namespace rowlock::test {

namespace {

std::unique_ptr<sql::Connection> connect(const server_address& to) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock{one_at_a_time};
  const auto url = "tcp://" + to.host + ":" + std::to_string(to.port.value_or(3306));
  std::unique_ptr<sql::Connection> out{sql::mysql::get_driver_instance()->connect(url, to.user, to.password)};
  out->setSchema(to.database);
  return out;
}

class mysql_caller : public caller_by<mysql_caller> {
 public:
  mysql_caller(const server_address& to, std::string_view isolation) : connection_{connect(to)} {
    statement("SET SESSION TRANSACTION ISOLATION LEVEL " + std::string{isolation});
  }

  void begin() override { connection_->setAutoCommit(false); }
  void commit() override {
    connection_->commit();
    connection_->setAutoCommit(true);
  }
  void rollback() override {
    connection_->rollback();
    connection_->setAutoCommit(true);
  }
  std::string text(const std::string& sql) override {
    const std::unique_ptr<sql::Statement> statement{connection_->createStatement()};
    std::string out;
    if (!statement->execute(sql)) return out;
    const std::unique_ptr<sql::ResultSet> rows{statement->getResultSet()};
    const auto columns = rows->getMetaData()->getColumnCount();
    while (rows->next())
      for (unsigned i = 1; i <= columns; ++i)
        out.append(out.empty() ? "" : " ").append(rows->getString(i).asStdString());
    return out;
  }

  sql::Connection& handle() { return *connection_; }

 private:
  std::unique_ptr<sql::Connection> connection_;
};

}  // namespace

std::unique_ptr<caller> open_mysql_caller(const std::string& url, std::string_view isolation) {
  return std::make_unique<mysql_caller>(parse_address(url), isolation);
}

}  // namespace rowlock::test
