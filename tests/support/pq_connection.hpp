#pragma once

#include <libpq-fe.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rowlock::test {

/// The rows of an answer.
class pq_result {
 public:
  explicit pq_result(PGresult* result) : result_{result, PQclear} {}

  PGresult* raw() const noexcept { return result_.get(); }
  int rows() const { return PQntuples(raw()); }
  int columns() const { return PQnfields(raw()); }
  /// nullopt for NULL.
  std::optional<std::string> text(int row, int column) const;
  std::optional<std::int64_t> number(int row, int column) const;

 private:
  std::unique_ptr<PGresult, void (*)(PGresult*)> result_;
};

/// A connection to PostgreSQL by libpq alone, so that no test sees the database through the library that it tests.
/// Throws std::runtime_error with the server's message.
class pq_connection {
 public:
  explicit pq_connection(const std::string& url);

  PGconn* raw() const noexcept { return connection_.get(); }
  /// Sends a query: unread last words of the server would hide that the connection is closed.
  bool is_alive() const { return PQresultStatus(pq_result{PQexec(raw(), "")}.raw()) == PGRES_EMPTY_QUERY; }

  /// One statement; its arguments are text, each converted by the server.
  pq_result run(const std::string& sql, std::initializer_list<std::string_view> arguments = {}) const;
  /// Any number of statements, in one transaction unless they say otherwise.
  void run_script(const std::string& sql) const;

  /// Makes it as new, if it is alive.
  bool reset() const { return PQresultStatus(pq_result{PQexec(raw(), "DISCARD ALL")}.raw()) == PGRES_COMMAND_OK; }
  /// A connection from before a fork belongs to the parent: the child must not close it with a message to the server.
  void abandon() noexcept { static_cast<void>(connection_.release()); }

 private:
  std::unique_ptr<PGconn, void (*)(PGconn*)> connection_;
};

}  // namespace rowlock::test
