#include <cppconn/connection.h>
#include <cppconn/datatype.h>
#include <cppconn/driver.h>
#include <cppconn/exception.h>
#include <cppconn/prepared_statement.h>
#include <cppconn/resultset.h>
#include <cppconn/resultset_metadata.h>
#include <cppconn/statement.h>
#include <cppconn/version_info.h>
#include <fcntl.h>
#include <mysql_driver.h>
#include <rowlock/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "driver/mysql/connector.hpp"
#include "driver/mysql/values.hpp"
#include "driver/net/new_socket.hpp"
#include "driver/net/without_signals.hpp"

// MySQL Connector/C++, its JDBC-style API. Only this file contains the differences between its versions (Debian's 1.1,
// Oracle's 8 and 9), and the rule that every thread has to announce itself to it.

namespace rowlock::inline v1::driver {

namespace {

/// Announces each thread to the connector at its first call, and its end.
sql::Driver& driver_in_this_thread() {
  static sql::Driver& the = *keeping_sigpipe([] { return sql::mysql::get_driver_instance(); });
  // It has no destructor, so that even later calls, at the end of the program, can read it.
  static thread_local bool is_announced = false;
  struct farewell {
    farewell() = default;
    farewell(const farewell&) = delete;
    farewell& operator=(const farewell&) = delete;
    ~farewell() {
      if (std::exchange(is_announced, false)) the.threadEnd();
    }
  };
  if (!std::exchange(is_announced, true)) {
    static thread_local const farewell later;
    (void)later;
    the.threadInit();
  }
  return the;
}

/// Every function that calls the connector has an object of this type.
struct calling {
  calling() { driver_in_this_thread(); }
  const without_signals guard{};
};

bool is_about_integer(int type) {
  switch (type) {
    case sql::DataType::TINYINT:
    case sql::DataType::SMALLINT:
    case sql::DataType::MEDIUMINT:
    case sql::DataType::INTEGER:
    case sql::DataType::BIGINT:
      return true;
    default:
      return false;
  }
}

std::string text_of(const sql::SQLString& s) { return {s.c_str(), s.length()}; }

bool gives_rows(const std::string& sql) {
  const auto start = std::min(sql.find_first_not_of(" \n"), sql.size());
  const auto begins_with = [&](const char* word) { return sql.compare(start, std::strlen(word), word) == 0; };
  return sql.find("RETURNING") != std::string::npos || begins_with("SELECT") || begins_with("WITH") ||
         begins_with("SHOW");
}

std::string host_of(const mysql_address& to) {
  if (!to.socket.empty()) return "unix://" + to.socket;
  const bool is_v6 = to.host.find(':') != std::string::npos;
  return "tcp://" + (is_v6 ? "[" + to.host + "]" : to.host) + ":" + std::to_string(to.port);
}

#if MYCPPCONN_DM_MAJOR_VERSION < 8
// A new connection would lack the session's settings. Later versions make none by themselves, and warn on stderr about
// the option.
void refuse_reconnection(sql::ConnectOptionsMap& options) { options["OPT_RECONNECT"] = false; }
#else
void refuse_reconnection(sql::ConnectOptionsMap& /*options*/) {}
#endif

// If version 1.1 is linked to MariaDB's client library, the mode has no effect, but these two options have: the first
// encrypts if the server can, the second refuses a server that cannot, or whose certificate is not trusted. If it is
// linked to MySQL's library, the mode counts.
void ask_for_encryption(sql::ConnectOptionsMap& options, const mysql_address& to) {
  constexpr sql::ssl_mode modes[] = {sql::SSL_MODE_DISABLED, sql::SSL_MODE_PREFERRED, sql::SSL_MODE_REQUIRED,
                                     sql::SSL_MODE_VERIFY_CA, sql::SSL_MODE_VERIFY_IDENTITY};
  options["OPT_SSL_MODE"] = static_cast<int>(modes[static_cast<int>(to.tls)]);
#if MYCPPCONN_DM_MAJOR_VERSION < 8
  options["sslEnforce"] = to.tries_encryption();
  options["sslVerify"] = to.tls >= encryption::verify_ca;
#else
  // Without encryption, only the server's key hides the password.
  if (to.tls < encryption::required) options["OPT_GET_SERVER_PUBLIC_KEY"] = true;
#endif
}

sql::ConnectOptionsMap options_of(const mysql_address& to, std::chrono::seconds connecting,
                                  std::chrono::seconds reading) {
  sql::ConnectOptionsMap out;
  const auto set = [&](const char* option, const std::string& value) {
    if (!value.empty()) out[option] = sql::SQLString{value};
  };
  set("hostName", host_of(to));
  set("userName", to.user);
  out["password"] = sql::SQLString{to.password};
  set("schema", to.database);
  set("OPT_CHARSET_NAME", "utf8mb4");
  out["OPT_CONNECT_TIMEOUT"] = static_cast<int>(connecting.count());
  out["OPT_READ_TIMEOUT"] = static_cast<int>(reading.count());
  out["OPT_WRITE_TIMEOUT"] = static_cast<int>(reading.count());
  out["CLIENT_MULTI_STATEMENTS"] = true;
  refuse_reconnection(out);
  ask_for_encryption(out, to);
  if (!to.tries_encryption()) return out;  // MariaDB's library encrypts as soon as one of these is given
  set("sslCA", to.ca);
  set("sslCAPath", to.ca_folder);
  set("sslCert", to.certificate);
  set("sslKey", to.key);
  set("sslCipher", to.ciphers);
  return out;
}

// Whether each column is an integer.
std::vector<bool> integers_of(const sql::ResultSet& found) {
  std::vector<bool> out;
  sql::ResultSetMetaData& about = *found.getMetaData();
  for (unsigned i = 1; i <= about.getColumnCount(); ++i) out.push_back(is_about_integer(about.getColumnType(i)));
  return out;
}

void read_row(const sql::ResultSet& from, const std::vector<bool>& is_integer, row& to) {
  to.reserve(is_integer.size());
  unsigned place = 0;
  for (const bool integer : is_integer) {
    if (from.isNull(++place)) {
      to.emplace_back();
    } else if (integer) {
      to.emplace_back(std::int64_t{from.getInt64(place)});
    } else {
      to.emplace_back(text_of(from.getString(place)));
    }
  }
}

class prepared final : public connector_connection::statement {
 public:
  prepared(sql::Connection& on, const std::string& sql)
      : statement_{on.prepareStatement(sql)}, rows_{gives_rows(sql)} {}
  ~prepared() override {
    const calling about_to;
    statement_.reset();
  }
  prepared(const prepared&) = delete;
  prepared& operator=(const prepared&) = delete;

  std::uint64_t execute(std::span<const argument* const> values, std::vector<row>& to) override {
    const calling about_to;
    unsigned place = 0;
    for (const argument* value : values) bind(++place, *value);
    if (!rows_) return static_cast<std::uint64_t>(statement_->executeUpdate());
    const std::unique_ptr<sql::ResultSet> found{statement_->executeQuery()};
    if (is_integer_.empty()) is_integer_ = integers_of(*found);
    while (found->next()) read_row(*found, is_integer_, to.emplace_back());
    return 0;
  }

 private:
  void bind(unsigned place, const argument& value) {
    if (const auto* words = std::get_if<std::string_view>(&value)) {
      statement_->setString(place, sql::SQLString{words->data(), words->size()});
    } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
      statement_->setInt64(place, *number);
    } else {
      statement_->setNull(place, sql::DataType::VARCHAR);
    }
  }

  std::unique_ptr<sql::PreparedStatement> statement_;
  const bool rows_;
  std::vector<bool> is_integer_;
};

}  // namespace

void execute_text(sql::Connection& on, const std::string& sql, std::vector<row>& to) {
  const calling about_to;
  const std::unique_ptr<sql::Statement> statement{on.createStatement()};
  if (!statement->execute(sql)) return;
  const std::unique_ptr<sql::ResultSet> found{statement->getResultSet()};
  const std::vector<bool> as_text(found->getMetaData()->getColumnCount());
  while (found->next()) read_row(*found, as_text, to.emplace_back());
}

class connector_connection::implementation {
 public:
  explicit implementation(sql::ConnectOptionsMap options) : connection_{driver_in_this_thread().connect(options)} {}
  sql::Connection& get() const noexcept { return *connection_; }

  /// The local port as the server sees it; 0: unknown. MySQL's old process list fails as soon as the statement of any
  /// session has characters of four bytes.
  std::uint16_t local_port() {
    std::vector<row> rows;
    execute(
        "SELECT SUBSTRING_INDEX(host, ':', -1) FROM information_schema.processlist /*!80022 p WHERE FALSE UNION ALL "
        "SELECT SUBSTRING_INDEX(host, ':', -1) FROM performance_schema.processlist */ WHERE id = CONNECTION_ID()",
        rows);
    const auto number = rows.empty() ? 0L : std::strtol(text(rows[0].at(0)).c_str(), nullptr, 10);
    return static_cast<std::uint16_t>(number);
  }

  void execute(const std::string& sql, std::vector<row>& to) { execute_text(*connection_, sql, to); }

 private:
  std::unique_ptr<sql::Connection> connection_;
};

connector_connection::connector_connection(const mysql_address& to, std::chrono::seconds connecting,
                                           std::chrono::seconds reading, const std::stop_token& given_up)
    : tls_{to.tries_encryption()} {
  const calling about_to;
  const auto options = options_of(to, connecting, reading);
  // The connector does not show its socket.
  socket_ = open_and_find_socket({.is_local = !to.socket.empty(), .port = to.port}, host_of(to), [&] {
    implementation_.reset();
    if (given_up.stop_requested()) throw error{errc::cancelled, "stopped while connecting"};
    implementation_ = std::make_unique<implementation>(options);
    return [this] { return implementation_->local_port(); };
  });
  fcntl(socket_, F_SETFD, FD_CLOEXEC);
}

void connector_connection::make_static_objects() { driver_in_this_thread(); }

connector_connection::~connector_connection() {
  const calling about_to;
  implementation_.reset();
}

void connector_connection::execute(const std::string& sql, std::vector<row>& to) { implementation_->execute(sql, to); }

std::uint64_t connector_connection::execute_with_types(const std::string& sql, std::vector<row>& to) {
  const calling about_to;
  const std::unique_ptr<sql::Statement> sent{implementation_->get().createStatement()};
  if (!sent->execute(sql)) return sent->getUpdateCount();
  const std::unique_ptr<sql::ResultSet> found{sent->getResultSet()};
  const auto is_integer = integers_of(*found);
  while (found->next()) read_row(*found, is_integer, to.emplace_back());
  return 0;
}

// Counts them, because to the connector a statement without rows looks like the end.
void connector_connection::execute_together(const std::string& all, std::vector<row>& to, std::size_t& carried_out) {
  const calling about_to;
  const std::unique_ptr<sql::Statement> sent{implementation_->get().createStatement()};
  const auto number = count_of_statements(all);
  for (bool has_rows = sent->execute(all);; has_rows = sent->getMoreResults()) {
    if (has_rows) {
      const std::unique_ptr<sql::ResultSet> found{sent->getResultSet()};
      const auto is_integer = integers_of(*found);
      while (found->next()) read_row(*found, is_integer, to.emplace_back());
    }
    if (++carried_out == number) return;
  }
}

std::unique_ptr<connector_connection::statement> connector_connection::prepare(const std::string& sql) {
  const calling about_to;
  return std::make_unique<prepared>(implementation_->get(), sql);
}

std::optional<sql_failure> sql_failure_of(const std::exception& e) {
  const auto* found = dynamic_cast<const sql::SQLException*>(&e);
  if (found == nullptr) return std::nullopt;
  return sql_failure{.code = found->getErrorCode(), .sqlstate = found->getSQLState(), .message = found->what()};
}

}  // namespace rowlock::inline v1::driver
