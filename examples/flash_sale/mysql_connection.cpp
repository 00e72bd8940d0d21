#include "mysql_connection.hpp"

#include <cppconn/connection.h>
#include <cppconn/exception.h>
#include <cppconn/resultset.h>
#include <cppconn/statement.h>
#include <cppconn/version_info.h>
#include <fmt/format.h>
#include <mysql_driver.h>
#include <rowlock/interop/mysql.hpp>

#include <memory>
#include <stdexcept>
#include <string_view>

#include "mysql_url.hpp"

namespace flash_sale {
namespace {

[[noreturn]] void fail(std::string_view what, std::string_view said) {
  throw std::runtime_error{fmt::format("{}: {}", what, said)};
}

sql::Driver& driver() {
  static sql::Driver* const only = sql::mysql::get_driver_instance();
  return *only;
}

/// Every thread that uses Connector/C++ must say so, and must say when it ends.
void enter_thread() {
  struct presence {
    presence() { driver().threadInit(); }
    presence(const presence&) = delete;
    presence& operator=(const presence&) = delete;
    ~presence() { driver().threadEnd(); }
  };
  static thread_local const presence here;
}

sql::ConnectOptionsMap options_for(const mysql_address& where) {
  sql::ConnectOptionsMap options;
  options["hostName"] = sql::SQLString{"tcp://" + where.host};
  options["port"] = where.port;
  options["userName"] = sql::SQLString{where.user};
  options["password"] = sql::SQLString{where.password};
  options["schema"] = sql::SQLString{where.database};
#if defined(MYCPPCONN_DM_MAJOR_VERSION) && MYCPPCONN_DM_MAJOR_VERSION < 8
  options["sslEnforce"] = where.ssl_mode == ssl_mode::required;
#else
  options["OPT_SSL_MODE"] = static_cast<int>(where.ssl_mode);
#endif
  // Otherwise an update that writes what is there already counts no row.
  options["CLIENT_FOUND_ROWS"] = true;
  return options;
}

/// `what` is what it does, for people.
template <class Body>
auto run(const std::string& what, const Body& body) try {
  enter_thread();
  return body();
} catch (const sql::SQLException& e) {
  // What it is remains: rowlock::optimistically begins anew after some.
  throw sql::SQLException{fmt::format("{}: {}", what, e.what()), e.getSQLState(), e.getErrorCode()};
}

/// Undone at the end of this object, unless it was committed.
class mysql_transaction {
 public:
  explicit mysql_transaction(sql::Connection& on) : on_{on} { on_.setAutoCommit(false); }
  mysql_transaction(const mysql_transaction&) = delete;
  mysql_transaction& operator=(const mysql_transaction&) = delete;
  ~mysql_transaction() {
    try {
      if (!is_committed_) on_.rollback();
      on_.setAutoCommit(true);
    } catch (const sql::SQLException&) {
      // The connection is lost, and the transaction with it.
    }
  }

  /// By a statement: Connector/C++ 1.1 does not throw where its own commit() fails.
  void commit() {
    std::unique_ptr<sql::Statement> { on_.createStatement() } -> execute("COMMIT");
    is_committed_ = true;
  }

 private:
  sql::Connection& on_;
  bool is_committed_ = false;
};

class mysql_connection final : public server_connection {
 public:
  explicit mysql_connection(const mysql_address& where) {
    run("MySQL", [&] {
      auto options = options_for(where);
      connection_.reset(driver().connect(options));
      statement_.reset(connection_->createStatement());
      // Connector/C++ says nothing about an option that it does not know.
      if (where.ssl_mode == ssl_mode::required && !is_encrypted())
        fail("MySQL", "the connection is not encrypted, which ssl-mode asks for");
    });
  }

  void execute(const std::string& sql) override {
    run(sql, [&] { return statement_->execute(sql); });
  }

  std::int64_t number(const std::string& sql) override {
    return run(sql, [&] {
      const rows found{statement_->executeQuery(sql)};
      if (!found->next()) fail(sql, "no row");
      return found->getInt64(1);
    });
  }

  std::size_t change(const std::string& sql) override {
    return run(sql, [&] { return static_cast<std::size_t>(statement_->executeUpdate(sql)); });
  }

  void in_transaction(const in_transaction_body& body) override {
    run("transaction", [&] {
      mysql_transaction tx{*connection_};
      transaction_on<sql::Connection&> open{*connection_};
      body(open);
      tx.commit();
    });
  }

  void optimistically(rowlock::client& locks, const rowlock::lock_name& name,
                      const std::function<void()>& body) override {
    run("transaction", [&] {
      rowlock::optimistically(
          *connection_, locks, name, [&](sql::Connection& /*same*/) { body(); }, patient);
    });
  }

 private:
  using rows = std::unique_ptr<sql::ResultSet>;

  bool is_encrypted() {
    const rows found{statement_->executeQuery("SHOW STATUS LIKE 'Ssl_cipher'")};
    return found->next() && found->getString(2).length() > 0;
  }

  std::unique_ptr<sql::Connection> connection_;
  std::unique_ptr<sql::Statement> statement_;
};

}  // namespace

std::unique_ptr<server_connection> connect_mysql(const std::string& url) {
  return std::make_unique<mysql_connection>(parse_mysql_url(url));
}

}  // namespace flash_sale
