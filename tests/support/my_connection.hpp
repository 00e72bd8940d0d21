#pragma once

#include <mysql.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "testkit/url.hpp"

namespace rowlock::test {

/// The rows of an answer.
class my_result {
 public:
  explicit my_result(MYSQL_RES* result) : result_{result, mysql_free_result} {}

  std::uint64_t rows() const { return result_ ? mysql_num_rows(result_.get()) : 0; }
  unsigned columns() const { return result_ ? mysql_num_fields(result_.get()) : 0; }
  /// nullopt for NULL.
  std::optional<std::string> text(std::uint64_t row, unsigned column) const;
  std::optional<std::int64_t> number(std::uint64_t row, unsigned column) const;

 private:
  std::unique_ptr<MYSQL_RES, void (*)(MYSQL_RES*)> result_;
};

/// A connection to MySQL or MariaDB by the client library alone, so that no test sees the database through the library
/// that it tests. Throws std::runtime_error with the server's message, or with its sessions if it has not answered for
/// a minute.
class my_connection {
 public:
  explicit my_connection(const server_address& to);

  bool is_alive() const { return mysql_ping(raw()) == 0; }

  /// One statement.
  my_result run(const std::string& sql) const;
  /// Any number of statements.
  void run_script(const std::string& sql) const;
  /// The text as an SQL literal.
  std::string quoted(std::string_view text) const;

  /// A connection from before a fork belongs to the parent: the child must not close it with a message to the server.
  void abandon() noexcept { static_cast<void>(connection_.release()); }

 private:
  MYSQL* raw() const noexcept { return connection_.get(); }

  server_address to_;
  std::unique_ptr<MYSQL, void (*)(MYSQL*)> connection_;
};

}  // namespace rowlock::test
