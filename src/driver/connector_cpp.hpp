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

#include "driver/mysql_address.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

/// MySQL Connector/C++ keeps its driver in a static object, and connections need it.
inline constexpr bool connector_needs_static_objects = true;

/// What MySQL Connector/C++ (its JDBC-style API) does differently in one version and another (Debian's 1.1, Oracle's 8
/// and 9) is known here and nowhere else, and so is that every thread has to announce itself to it. Calls block for as
/// long as they like, and throw what sql_failure_of() explains.
class connector_connection {
 public:
  /// Connects and authenticates. Once begun, nobody can end that earlier than these limits, which are whole seconds;
  /// given up before, it is not begun.
  connector_connection(const mysql_address& to, std::chrono::seconds connecting, std::chrono::seconds reading,
                       const std::stop_token& given_up);
  connector_connection(const connector_connection&) = delete;
  connector_connection& operator=(const connector_connection&) = delete;
  ~connector_connection();

  /// What is destroyed when the program ends, and connections need, is there afterwards.
  static void make_static_objects();

  /// Its descriptor, close-on-exec. The connector tells nobody, so it is looked for.
  int socket() const noexcept { return socket_; }

  /// Rows are text, or NULL.
  void execute(const std::string& sql, std::vector<row>& to);

  /// A statement with a ? for each value.
  class statement;
  std::unique_ptr<statement> prepare(const std::string& sql);

 private:
  class implementation;
  std::unique_ptr<implementation> implementation_;
  int socket_ = -1;
};

class connector_connection::statement {
 public:
  virtual ~statement() = default;
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;

  /// Integers become numbers, all else is text. How many rows were changed, where there are no rows to give.
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
