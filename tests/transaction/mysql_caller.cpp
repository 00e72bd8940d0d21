#include <cppconn/connection.h>
#include <cppconn/resultset.h>
#include <cppconn/resultset_metadata.h>
#include <cppconn/statement.h>
#include <mysql_driver.h>
#include <rowlock/interop/mysql.hpp>

#include <mutex>
#include <utility>

#include "testkit/url.hpp"
#include "transaction/caller.hpp"

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

class mysql_caller : public caller {
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

  transaction_lock lock_in(client& locks, const lock_name& name, const lock_in_options& options,
                           std::stop_token stop) override {
    return rowlock::lock_in(*connection_, locks, name, options, std::move(stop));
  }
  std::optional<transaction_lock> try_lock_in(client& locks, const lock_name& name,
                                              const lock_in_options& options) override {
    return rowlock::try_lock_in(*connection_, locks, name, options);
  }
  std::optional<transaction_lock> try_lock_in_for(client& locks, const lock_name& name, std::chrono::milliseconds wait,
                                                  const lock_in_options& options, std::stop_token stop) override {
    return rowlock::try_lock_in_for(*connection_, locks, name, wait, options, std::move(stop));
  }
  void confirm(const held_lock& held) override { rowlock::confirm(*connection_, held); }
  void confirm(const mutex& m) override { rowlock::confirm(*connection_, m); }

  std::int64_t optimistically(client& locks, const lock_name& name, const counting_body& body,
                              const retry_options& options) override {
    return rowlock::optimistically(
        *connection_, locks, name, [&](sql::Connection& /*tx*/, attempt which) { return body(which); }, options);
  }
  void optimistically_without_result(client& locks, const lock_name& name, const silent_body& body,
                                     const retry_options& options) override {
    rowlock::optimistically(
        *connection_, locks, name, [&](sql::Connection& /*tx*/) { body(); }, options);
  }

 private:
  std::unique_ptr<sql::Connection> connection_;
};

}  // namespace

std::unique_ptr<caller> open_mysql_caller(const std::string& url, std::string_view isolation) {
  return std::make_unique<mysql_caller>(parse_address(url), isolation);
}

}  // namespace rowlock::test
