#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "driver/backend.hpp"
#include "driver/mysql/address.hpp"
#include "driver/session.hpp"

struct st_mysql;
namespace sql {
class Connection;
}

namespace rowlock::inline v1::driver {

/// Counts the connections over TLS, from before they are opened until they are closed. OpenSSL takes locks of the whole
/// process when a thread first uses it, and when such a thread ends. The child of a fork inherits these locks as they
/// are, and no thread that could release them: a connection over TLS may never be opened there.
class tls_use {
 public:
  explicit tls_use(bool is_used) noexcept;
  tls_use(const tls_use&) = delete;
  tls_use& operator=(const tls_use&) = delete;
  ~tls_use();

  /// Whether this process was forked, and not started, while its parent had such connections.
  static bool was_inherited() noexcept;

 private:
  const int count_;
};

/// Connector/C++ keeps its driver in a static object, and both connectors use OpenSSL, which cleans up when the program
/// ends.
inline constexpr bool connector_needs_static_objects = true;

/// A connection by the connector that the library was configured with: MySQL Connector/C++ (connector_cpp.cpp) or
/// MariaDB Connector/C (mariadb_c.cpp). Calls block without a limit, and throw an exception that sql_failure_of()
/// explains.
class connector_connection {
 public:
  /// Connects and authenticates. Once begun, this cannot be ended before these limits, which are whole seconds; if
  /// `given_up` is requested before, it does not begin.
  connector_connection(const mysql_address& to, std::chrono::seconds connecting, std::chrono::seconds reading,
                       const std::stop_token& given_up);
  connector_connection(const connector_connection&) = delete;
  connector_connection& operator=(const connector_connection&) = delete;
  ~connector_connection();

  /// Makes the static objects that connections need, and that are destroyed when the program ends.
  static void make_static_objects();

  /// Its descriptor, close-on-exec.
  int socket() const noexcept { return socket_; }

  /// Rows are text, or NULL.
  void execute(const std::string& sql, std::vector<row>& to);
  /// Rows are as those of a prepared statement. Answers the number of changed rows if the statement returns no rows.
  std::uint64_t execute_with_types(const std::string& sql, std::vector<row>& to);
  /// Sends statements together, with ";\n" between them: the server carries out one after the other, up to the first
  /// that fails. The numbers of changed rows are not reported.
  void execute_together(const std::string& all, std::vector<row>& to, std::size_t& carried_out);

  /// A statement with a ? for each value.
  class statement;
  std::unique_ptr<statement> prepare(const std::string& sql);

 private:
  class implementation;
  const tls_use tls_;
  std::unique_ptr<implementation> implementation_;
  int socket_ = -1;
};

class connector_connection::statement {
 public:
  virtual ~statement() = default;
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;

  /// Integers become numbers, all other values text. Answers the number of changed rows if the statement returns no
  /// rows. If the server fails, no row is added, although it may have sent some.
  virtual std::uint64_t execute(std::span<const argument* const> values, std::vector<row>& to) = 0;

 protected:
  statement() = default;
};

/// The error of the connector or the server; nullopt: some other exception.
struct sql_failure {
  int code = 0;
  std::string sqlstate{};
  std::string message{};
};
std::optional<sql_failure> sql_failure_of(const std::exception& e);

/// Connects within limits that the connector does not have. `call_timeout`: how long the connector waits for one answer
/// of the server. A thread that is left behind ends by the connector's own limits, at most a second after its deadline,
/// or when the resolver of host names answers. `warning` is called if the server offers TLS, and the connection is made
/// without it because TLS failed and the URL permits that.
std::unique_ptr<connector_connection> connect(const mysql_address& to, duration call_timeout, const limits& until,
                                              const warn& warning);

/// Whether connections are not encrypted in this process although they could be: it is the child of a fork in which TLS
/// may hang. A URL that requires encryption gets it, or an error when the time is over.
bool must_avoid_tls(const mysql_address& to) noexcept;

/// Runs one statement on the caller's own connection. Rows are text, or NULL. Throws an exception that
/// sql_failure_of() explains. There is one overload, for the connector that the library was configured with.
void execute_text(sql::Connection& on, const std::string& sql, std::vector<row>& to);
void execute_text(st_mysql* on, const std::string& sql, std::vector<row>& to);

/// The server's code for the failure of the last call on the connection; 0: it did not fail.
int last_failure(st_mysql* on) noexcept;

}  // namespace rowlock::inline v1::driver
