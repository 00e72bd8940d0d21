#include "mysql_connection.hpp"

#include <cppconn/connection.h>
#include <cppconn/datatype.h>
#include <cppconn/prepared_statement.h>
#include <cppconn/resultset.h>
#include <cppconn/resultset_metadata.h>
#include <cppconn/statement.h>
#include <mysql_driver.h>
#include <rowlock/interop/mysql.hpp>

#include <stdexcept>

#include "core/url.hpp"
#include "driver/mysql_address.hpp"

namespace bench {
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

std::unique_ptr<sql::Connection> connect(const std::string& url) {
  namespace of_rowlock = rowlock::driver;
  const auto to = of_rowlock::read_mysql_url(rowlock::core::cut_url(url));
  if (to.tls != of_rowlock::encryption::preferred || !to.socket.empty())
    throw std::invalid_argument{"raw statements are measured by TCP and with no ssl-mode"};
  const bool is_v6 = to.host.find(':') != std::string::npos;
  sql::ConnectOptionsMap options;
  options["hostName"] = sql::SQLString{"tcp://" + (is_v6 ? "[" + to.host + "]" : to.host)};
  options["port"] = int{to.port};
  options["userName"] = sql::SQLString{to.user};
  options["password"] = sql::SQLString{to.password};
  options["schema"] = sql::SQLString{to.database};
  enter_thread();
  return std::unique_ptr<sql::Connection>{driver().connect(options)};
}

class prepared final : public statement {
 public:
  prepared(sql::Connection& on, const std::string& sql)
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
  explicit mysql_connection(const std::string& url) : connection_{connect(url)} {
    execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
    execute("SET autocommit = 1, time_zone = '+00:00'");
  }

  long long execute(const std::string& sql) override {
    enter_thread();
    const std::unique_ptr<sql::Statement> direct{connection_->createStatement()};
    if (!direct->execute(sql)) return 0;
    const rows found{direct->getResultSet()};
    return found->next() ? found->getInt64(found->getMetaData()->getColumnCount()) : 0;
  }

  std::unique_ptr<statement> prepare(const std::string& sql) override {
    enter_thread();
    return std::make_unique<prepared>(*connection_, sql);
  }

  void in_transaction(const std::function<void(open_transaction&)>& body) override {
    enter_thread();
    connection_->setAutoCommit(false);  // sends nothing where it is so already
    transaction_on<sql::Connection&> open{*connection_};
    body(open);
    connection_->commit();
  }

  long long statements() override { return execute("SHOW SESSION STATUS LIKE 'Questions'"); }

 private:
  std::unique_ptr<sql::Connection> connection_;
};

}  // namespace

std::unique_ptr<connection> connect_mysql(const std::string& url) { return std::make_unique<mysql_connection>(url); }

}  // namespace bench
