#pragma once

#include <libpq-fe.h>

#include <rowlock/interop/detail/libpqxx.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include <pqxx/connection>
#include <pqxx/nontransaction>
#include <pqxx/result>

namespace rowlock::inline v1::driver {

struct finish_postgresql {
  void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
};
using postgresql_handle = std::unique_ptr<PGconn, finish_postgresql>;

/// The arguments in the form that a statement takes.
using detail::postgresql_values;

/// A connection by libpqxx, with the API of each of its versions. Each call is one round trip and no transaction but
/// its own; none reconnects. (6.4 never frees libpq's answer, 2 kB, if a connection breaks during a call.)
class libpqxx_connection {
 public:
  /// `notice` is called with the server's warnings, during a call.
  libpqxx_connection(postgresql_handle connected, std::function<void(const char*)> notice);
  libpqxx_connection(const libpqxx_connection&) = delete;
  libpqxx_connection& operator=(const libpqxx_connection&) = delete;
  ~libpqxx_connection();

  /// libpq's connection.
  PGconn* raw() const noexcept { return raw_; }

  /// Version 6.4 asks the server only when the statement is first executed.
  void prepare(const std::string& name, const std::string& sql);
  pqxx::result execute_prepared(const std::string& name, postgresql_values values);
  pqxx::result execute(const std::string& sql, postgresql_values values);
  /// Several statements, by the simple protocol; answers the result of the last one.
  pqxx::result execute_script(const std::string& sql);

 private:
  class implementation;
  PGconn* raw_;
  std::unique_ptr<implementation> implementation_;
};

/// Whether libpqxx reports by this that the connection is lost.
bool is_about_connection(const std::exception& e);
/// Whether libpqxx itself does not know whether a transaction was committed.
bool is_in_doubt(const std::exception& e);

}  // namespace rowlock::inline v1::driver
