#include <cppconn/connection.h>
#include <cppconn/datatype.h>
#include <cppconn/exception.h>
#include <cppconn/prepared_statement.h>
#include <cppconn/resultset.h>
#include <cppconn/resultset_metadata.h>
#include <cppconn/statement.h>
#include <cppconn/version_info.h>
#include <mysql_driver.h>
#include <rowlock/interop/mysql.hpp>

#include <stdexcept>

#include "testkit/connection.hpp"
#include "testkit/mysql_url.hpp"

namespace rowlock::test {

namespace {

using rows = std::unique_ptr<sql::ResultSet>;

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

sql::ConnectOptionsMap options_for(const mysql_address& to, bool counts_matches) {
  const auto& server = to.server;
  const bool is_v6 = server.host.find(':') != std::string::npos;
  sql::ConnectOptionsMap options;
  options["hostName"] = sql::SQLString{"tcp://" + (is_v6 ? "[" + server.host + "]" : server.host)};
  options["port"] = int{server.port.value_or(3306)};
  options["userName"] = sql::SQLString{server.user};
  options["password"] = sql::SQLString{server.password};
  options["schema"] = sql::SQLString{server.database};
#if defined(MYCPPCONN_DM_MAJOR_VERSION) && MYCPPCONN_DM_MAJOR_VERSION < 8
  options["sslEnforce"] = to.encryption == ssl_mode::required;
#else
  options["OPT_SSL_MODE"] = static_cast<int>(to.encryption);
#endif
  if (counts_matches) options["CLIENT_FOUND_ROWS"] = true;
  return options;
}

/// What a failure is remains: rowlock::optimistically begins anew after some.
template <class Call>
auto run(const std::string& what, const Call& call) try {
  enter_thread();
  return call();
} catch (const sql::SQLException& e) {
  throw sql::SQLException{what + ": " + e.what(), e.getSQLState(), e.getErrorCode()};
}

class mysql_statement final : public statement {
 public:
  mysql_statement(sql::Connection& on, const std::string& sql)
      : statement_{on.prepareStatement(sql)}, gives_rows_{sql.starts_with("SELECT")} {}

  std::size_t run(std::span<const char* const> values) override {
    bind(values);
    if (!gives_rows_) return static_cast<std::size_t>(statement_->executeUpdate());
    const rows found{statement_->executeQuery()};
    std::size_t count = 0;
    while (found->next()) ++count;
    return count;
  }

  std::optional<std::string> read(std::span<const char* const> values) override {
    bind(values);
    const rows found{statement_->executeQuery()};
    return found->next() ? std::optional{found->getString(1).asStdString()} : std::nullopt;
  }

 private:
  void bind(std::span<const char* const> values) {
    enter_thread();
    unsigned place = 0;
    for (const char* each : values) bind(++place, each);
  }

  void bind(unsigned place, const char* value) {
    if (value == nullptr) {
      statement_->setNull(place, sql::DataType::VARCHAR);
    } else {
      statement_->setString(place, value);
    }
  }

  std::unique_ptr<sql::PreparedStatement> statement_;
  bool gives_rows_;
};

class mysql_connection final : public connection {
 public:
  mysql_connection(const mysql_address& to, bool counts_matches) {
    run("MySQL", [&] {
      auto options = options_for(to, counts_matches);
      connection_.reset(driver().connect(options));
      direct_.reset(connection_->createStatement());
      // Connector/C++ says nothing about an option that it does not know.
      if (to.encryption == ssl_mode::required && !is_encrypted())
        throw std::runtime_error{"MySQL: the connection is not encrypted, which ssl-mode asks for"};
    });
    send("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
    send("SET autocommit = 1, time_zone = '+00:00'");
  }

  long long execute(const std::string& sql) override {
    leave_transaction();
    return send(sql);
  }

  std::size_t change(const std::string& sql) override {
    leave_transaction();
    return run(sql, [&] { return static_cast<std::size_t>(direct_->executeUpdate(sql)); });
  }

  std::unique_ptr<statement> prepare(const std::string& sql) override {
    enter_thread();
    return std::make_unique<mysql_statement>(*connection_, sql);
  }

  void in_transaction(const body& what) override {
    run("transaction", [&] {
      const inside here{*this};
      set_autocommit(false);
      transaction_on<sql::Connection&> open{*connection_};
      try {
        what(open);
        direct_->execute("COMMIT");  // Connector/C++ 1.1 does not throw where its own commit() fails
      } catch (...) {
        roll_back();
        throw;
      }
    });
  }

  void optimistically(client& locks, const lock_name& name, const std::function<void()>& what,
                      const retry_options& options) override {
    leave_transaction();
    run("transaction", [&] {
      const inside here{*this};
      rowlock::optimistically(
          *connection_, locks, name, [&](sql::Connection& /*same*/) { what(); }, options);
    });
  }

  long long statements() override { return send("SHOW SESSION STATUS LIKE 'Questions'"); }

 private:
  /// While it lives, statements belong to a transaction.
  struct inside {
    explicit inside(mysql_connection& of) : connection{of} { connection.is_inside_ = true; }
    inside(const inside&) = delete;
    inside& operator=(const inside&) = delete;
    ~inside() { connection.is_inside_ = false; }
    mysql_connection& connection;
  };

  bool is_encrypted() {
    const rows found{direct_->executeQuery("SHOW STATUS LIKE 'Ssl_cipher'")};
    return found->next() && found->getString(2).length() > 0;
  }

  long long send(const std::string& sql) {
    return run(sql, [&]() -> long long {
      if (!direct_->execute(sql)) return 0;
      const rows found{direct_->getResultSet()};
      return found->next() ? found->getInt64(found->getMetaData()->getColumnCount()) : 0;
    });
  }

  /// Where transactions follow each other, nothing is sent between them.
  void leave_transaction() {
    if (!is_inside_) run("autocommit", [&] { set_autocommit(true); });
  }

  void set_autocommit(bool to) {
    if (is_autocommit_ != to) connection_->setAutoCommit(to);
    is_autocommit_ = to;
  }

  void roll_back() noexcept {
    try {
      connection_->rollback();
    } catch (const sql::SQLException&) {
      // The connection is lost, and the transaction with it.
    }
  }

  std::unique_ptr<sql::Connection> connection_;
  std::unique_ptr<sql::Statement> direct_;
  bool is_autocommit_ = true;
  bool is_inside_ = false;
};

}  // namespace

std::unique_ptr<connection> connect_mysql(const std::string& url, const connection_options& options) {
  return std::make_unique<mysql_connection>(read_mysql_url(url), options.counts_matches);
}

}  // namespace rowlock::test
