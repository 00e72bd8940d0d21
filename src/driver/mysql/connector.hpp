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

#include "driver/mysql/address.hpp"
#include "driver/mysql/tls_use.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

/// Connector/C++ keeps its driver in a static object, and both connectors use OpenSSL, which cleans up when the program
/// ends.
inline constexpr bool connector_needs_static_objects = true;

/// A connection by the connector that the library was configured with: MySQL Connector/C++ (connector_cpp.cpp) or
/// MariaDB Connector/C (mariadb_c.cpp). Calls block without a limit, and throw what sql_failure_of() explains.
class connector_connection {
 public:
  /// Connects and authenticates. Once begun, this cannot be ended before these limits, which are whole seconds; if it
  /// is given up before, it does not begin.
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
  /// Rows are as those of a prepared statement. Answers how many rows were changed if the statement gives no rows.
  std::uint64_t execute_with_types(const std::string& sql, std::vector<row>& to);
  /// Sends statements together, with ";\n" between them: the server carries out one after the other, up to the first
  /// that fails. How many rows one has changed is not told.
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

  /// Integers become numbers, all else is text. Answers how many rows were changed if the statement gives no rows. If
  /// the server fails, no row is added, although it may have sent some.
  virtual std::uint64_t execute(std::span<const argument* const> values, std::vector<row>& to) = 0;

 protected:
  statement() = default;
};

/// What the connector or the server says; nullopt: some other exception.
struct sql_failure {
  int code = 0;
  std::string sqlstate{};
  std::string message{};
};
std::optional<sql_failure> sql_failure_of(const std::exception& e);

}  // namespace rowlock::inline v1::driver
