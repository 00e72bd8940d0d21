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

/// 6.4 looks at every answer with the help of a table that it makes at the first and destroys when the program ends.
inline constexpr bool libpqxx_needs_static_objects = PQXX_VERSION_MAJOR < 7;

/// As a statement takes them.
using detail::postgresql_values;

/// What one libpqxx does differently from another (6.4, 7.10 and 8.0) is known here and nowhere else. Each call is one
/// round trip and no transaction but its own; none reconnects. (6.4 never frees what libpq answered, 2 kB, when a
/// connection breaks during a call.)
class libpqxx_connection {
 public:
  /// `notice` is told of the server's warnings, while a call lasts.
  libpqxx_connection(postgresql_handle connected, std::function<void(const char*)> notice);
  libpqxx_connection(const libpqxx_connection&) = delete;
  libpqxx_connection& operator=(const libpqxx_connection&) = delete;
  ~libpqxx_connection();

  /// What libpq knows of it.
  PGconn* raw() const noexcept { return raw_; }

  /// 6.4 asks the server only when it is executed first.
  void prepare(const std::string& name, const std::string& sql);
  pqxx::result execute_prepared(const std::string& name, postgresql_values values);
  pqxx::result execute(const std::string& sql, postgresql_values values);
  /// Several statements, by the simple protocol; the last one's answer.
  pqxx::result execute_script(const std::string& sql);

 private:
  class implementation;
  PGconn* raw_;
  std::unique_ptr<implementation> implementation_;
};

/// Whether libpqxx says that the way to the server is lost.
bool is_about_connection(const std::exception& e);
/// Whether libpqxx itself cannot tell what became of a transaction.
bool is_in_doubt(const std::exception& e);

}  // namespace rowlock::inline v1::driver
